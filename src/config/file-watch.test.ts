import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/manual-clock.ts';
import { watchConfigFiles } from './file-watch.ts';

function setUp(links: Readonly<Record<string, string>> = {}) {
  const clock = createManualClock();
  const watched = new Map<string, () => void>();
  const directories = new Map<string, readonly string[]>([
    ['/etc/k.d', ['sub']],
    ['/etc/k.d/sub', []],
  ]);
  const end = new AbortController();
  let changes = 0;
  const listDir = (path: string) => {
    const names = directories.get(path);
    if (names === undefined) throw new Error('no such directory');
    return names.map((name) => ({ name, isDirectory: true }));
  };
  const resolveLinks = (path: string) => links[path] ?? path;
  watchConfigFiles(
    {
      clock,
      reader: { workingDirectory: '/run', listDir, resolveLinks },
      watch: (directory, listener) => {
        watched.set(directory, listener);
        return { close: () => void watched.delete(directory) };
      },
      onChange: () => {
        changes += 1;
      },
    },
    { configFile: '/etc/kubelet/k.yaml', configDir: '/etc/k.d' },
    end.signal,
  );
  return { clock, watched, directories, end, changes: () => changes };
}

test('the directories of the file, of the file behind its link, and of all drop-ins are watched', () => {
  const { watched, end } = setUp({ '/etc/kubelet/k.yaml': '/data/v1/k.yaml' });
  assert.deepEqual([...watched.keys()].sort(), ['/data/v1', '/etc/k.d', '/etc/k.d/sub', '/etc/kubelet']);
  end.abort();
  assert.equal(watched.size, 0);
});

test('several changes at once are reported once, within two seconds', async () => {
  const { clock, watched, changes } = setUp();
  watched.get('/etc/kubelet')?.();
  watched.get('/etc/k.d/sub')?.();
  await clock.advance(2000);
  assert.equal(changes(), 1);
  watched.get('/etc/k.d')?.();
  await clock.advance(2000);
  assert.equal(changes(), 2);
});

test('directories of drop-ins that come and go are followed', async () => {
  const { clock, watched, directories } = setUp();
  directories.set('/etc/k.d', ['new']);
  directories.set('/etc/k.d/new', []);
  watched.get('/etc/k.d')?.();
  await clock.advance(2000);
  assert.deepEqual([...watched.keys()].sort(), ['/etc/k.d', '/etc/k.d/new', '/etc/kubelet']);
  directories.clear();
  watched.get('/etc/k.d')?.();
  await clock.advance(2000);
  assert.deepEqual([...watched.keys()].sort(), ['/etc', '/etc/kubelet']);
});
