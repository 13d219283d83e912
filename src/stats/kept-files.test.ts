import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeptFiles } from './kept-files.ts';

function setUp(most?: number) {
  const files = new Map([
    ['/a/x', '1'],
    ['/a/y', '2'],
    ['/b/x', '3'],
  ]);
  const [opened, open]: [string[], Set<string>] = [[], new Set()];
  const kept = createKeptFiles(
    {
      open: (path) => {
        const content = files.get(path);
        if (content === undefined) return undefined;
        opened.push(path);
        open.add(path);
        // As a descriptor does: it stays with the file that was opened, not with its name.
        return { read: () => (files.get(path) === content ? content : undefined), close: () => void open.delete(path) };
      },
      read: (path) => files.get(path),
    },
    most,
  );
  const read = (cgroup: string, path: string) => kept.again(cgroup, path) ?? kept.first(cgroup, path, path);
  return { files, opened, open, kept, read };
}

test('a file is opened once, and closed with its cgroup', () => {
  const { kept, read, opened, open, files } = setUp();
  for (let times = 0; times < 3; times += 1) assert.equal(read('/a', '/a/x'), '1');
  assert.equal(read('/b', '/b/x'), '3');
  assert.equal(read('/b', '/b/none'), undefined);
  assert.deepEqual(opened, ['/a/x', '/b/x']);
  files.delete('/a/x');
  assert.equal(read('/a', '/a/x'), undefined);
  assert.deepEqual([...open], ['/b/x']);
  kept.retain((cgroup) => cgroup !== '/b');
  assert.equal(open.size, 0);
});

test('a cgroup that was made again is read again', () => {
  const { read, files, open } = setUp();
  read('/a', '/a/x');
  files.set('/a/x', '5');
  assert.equal(read('/a', '/a/x'), '5');
  assert.deepEqual([...open], ['/a/x']);
});

test('beyond the bound files are opened for each reading', () => {
  const { kept, read, open, opened } = setUp(1);
  read('/a', '/a/x');
  assert.equal(read('/a', '/a/y'), '2');
  assert.equal(read('/b', '/b/x'), '3');
  assert.deepEqual([opened, [...open]], [['/a/x'], ['/a/x']]);
  kept.forget('/a');
  assert.equal(read('/b', '/b/x'), '3');
  assert.deepEqual([...open], ['/b/x']);
});
