import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';
import { test } from 'node:test';
import { createKernelFiles } from './kernel-files.ts';

const last = <T>(steps: Generator<void, T>): T => {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
};

test('files of the kernel, short and long; what is gone is undefined and no failure', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'kernel-files-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const failures: string[] = [];
  const files = createKernelFiles((path) => void failures.push(path));
  assert.equal(files.read('/proc/self/cgroup'), readFileSync('/proc/self/cgroup', 'utf8'));
  const long = '123456789\n'.repeat(20_000);
  writeFileSync(join(directory, 'long'), long);
  assert.equal(files.read(join(directory, 'long')), long);
  // The kernel writes such a file a page at a time.
  const maps = files.read('/proc/self/maps') ?? '';
  assert.ok(
    maps.length > 8192 && maps.split('\n').at(-2) === readFileSync('/proc/self/maps', 'utf8').split('\n').at(-2),
  );
  for (const path of [join(directory, 'none'), join(directory, 'long/below'), '/proc/999999999/limits']) {
    assert.equal(files.read(path), undefined);
  }
  assert.equal(files.modifiedAt(join(directory, 'none')), undefined);
  assert.equal(last(files.openFiles(999999999)), undefined);
  assert.deepEqual(failures, []);
  assert.equal(files.read(directory), undefined);
  assert.deepEqual(failures, [directory], 'a file that cannot be read is reported');
});

test('a file that stays open is read from its beginning each time', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'kernel-files-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const files = createKernelFiles(() => assert.fail('no failure'));
  assert.equal(files.open(join(directory, 'none')), undefined);
  writeFileSync(join(directory, 'x'), '1\n');
  const file = files.open(join(directory, 'x')) ?? assert.fail('it is there');
  assert.equal(file.read(), '1\n');
  writeFileSync(join(directory, 'x'), '22\n');
  assert.deepEqual([file.read(), file.read()], ['22\n', '22\n']);
  file.close();
  const status = files.open('/proc/self/status') ?? assert.fail('it is there');
  assert.match(status.read() ?? '', /^Name:/);
  assert.match(status.read() ?? '', /^Name:/);
  status.close();
});

test('open files and sockets of a process', async (t) => {
  const files = createKernelFiles(() => assert.fail('no failure'));
  const before = last(files.openFiles(pid)) ?? assert.fail('it is running');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const after = last(files.openFiles(pid)) ?? assert.fail('it is running');
  assert.ok(after.files > before.files && after.sockets === before.sockets + 1, JSON.stringify([before, after]));
});
