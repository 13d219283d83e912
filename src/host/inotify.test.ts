import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { linkSync, mkdtempSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { codeOf } from '../base/errors.ts';
import { createReadiness } from './event-loop.ts';
import { createInotify, IN, type Inotify, type InotifyEvent, parseInotifyEvents } from './inotify.ts';
import { createSyscalls } from './syscalls.ts';

const directory = mkdtempSync(join(tmpdir(), 'inotify-'));
const syscalls = createSyscalls();
const readiness = createReadiness();
after(() => rmSync(directory, { recursive: true }));

/** Events as they come, and a wait for the next `count` of them. */
function collector() {
  const events: InotifyEvent[] = [];
  let wake = () => undefined as unknown;
  return {
    events,
    listener: (event: InotifyEvent) => {
      events.push(event);
      wake();
    },
    until: (count: number) =>
      new Promise<void>((resolve) => {
        wake = () => events.length >= count && resolve();
        wake();
      }),
  };
}

describe('inotify', { timeout: 120_000 }, () => {
  let inotify: Inotify;
  // Watches do not keep a process alive, so something else must while a test waits.
  let alive: NodeJS.Timeout;
  beforeEach(() => {
    inotify = createInotify(syscalls, readiness);
    alive = setInterval(() => undefined, 1000);
  });
  afterEach(() => {
    inotify.close();
    clearInterval(alive);
  });

  it('reports entries that appear, move and go in a directory', async () => {
    const { listener, until, events } = collector();
    inotify.watch(directory, IN.create | IN.movedTo | IN.delete, listener);
    writeFileSync(join(directory, 'ä.yaml'), 'x');
    renameSync(join(directory, 'ä.yaml'), join(directory, 'b.yaml'));
    unlinkSync(join(directory, 'b.yaml'));
    await until(3);
    assert.deepEqual(events, [
      { mask: IN.create, name: 'ä.yaml' },
      { mask: IN.movedTo, name: 'b.yaml' },
      { mask: IN.delete, name: 'b.yaml' },
    ]);
  });

  it('reports opens of a file, and when it is gone', async () => {
    const file = join(directory, 'lock');
    writeFileSync(file, '');
    const { listener, until, events } = collector();
    inotify.watch(file, IN.open | IN.deleteSelf, listener);
    readFileSync(file);
    unlinkSync(file);
    await until(3);
    assert.deepEqual(
      events.map(({ mask }) => mask),
      [IN.open, IN.deleteSelf, IN.ignored],
    );
  });

  it('keeps two watches of the same file apart', async () => {
    const file = join(directory, 'shared');
    writeFileSync(file, '');
    linkSync(file, `${file}.link`);
    const opens = collector();
    const closes = collector();
    const first = inotify.watch(file, IN.open, opens.listener);
    inotify.watch(`${file}.link`, IN.closeNoWrite, closes.listener);
    readFileSync(file);
    await Promise.all([opens.until(1), closes.until(1)]);
    assert.deepEqual(
      [opens.events, closes.events],
      [[{ mask: IN.open, name: '' }], [{ mask: IN.closeNoWrite, name: '' }]],
    );
    first.close();
    readFileSync(file);
    await closes.until(2);
    assert.equal(opens.events.length, 1);
  });

  it('is silent after a watch was closed, and can watch again', async () => {
    const { listener, until, events } = collector();
    inotify.watch(directory, IN.create, listener).close();
    writeFileSync(join(directory, 'unseen'), '');
    inotify.watch(directory, IN.create, listener);
    writeFileSync(join(directory, 'seen'), '');
    await until(1);
    assert.deepEqual(events, [{ mask: IN.create, name: 'seen' }]);
  });

  it('delivers a burst that fills the buffer several times', async () => {
    const { listener, until, events } = collector();
    inotify.watch(directory, IN.create, listener);
    for (let i = 0; i < 1000; i++) writeFileSync(join(directory, `burst-${i}`), '');
    await until(1000);
    assert.equal(new Set(events.map(({ name }) => name)).size, 1000);
  });

  it('runs promises right after a listener, as any event of Node', async () => {
    const order: string[] = [];
    const woken = new Promise<void>((resolve) => {
      inotify.watch(directory, IN.create, () => {
        Promise.resolve().then(() => order.push('promise'));
        setImmediate(() => {
          order.push('next turn');
          resolve();
        });
      });
    });
    writeFileSync(join(directory, 'once'), '');
    await woken;
    assert.deepEqual(order, ['promise', 'next turn']);
  });

  it('refuses a path that is not there with a coded error naming it', () => {
    assert.throws(
      () => inotify.watch('/nowhere/at/all', IN.create, () => undefined),
      (error: unknown) => codeOf(error) === 'notFound' && /\/nowhere\/at\/all.*ENOENT/.test(String(error)),
    );
  });
});

describe('a process with watches', () => {
  const watching = `
    import { createHost } from ${JSON.stringify(join(import.meta.dirname, 'host.ts'))};
    import { writeFileSync } from 'node:fs';
    const { inotify } = createHost().files;
    const watches = [0x100, 0x2].map((mask) => inotify.watch(${JSON.stringify(directory)}, mask, () => undefined));`;
  const touch = `writeFileSync(${JSON.stringify(join(directory, 'late'))}, 'x');`;
  for (const [what, code] of [
    ['with nothing else to do', ''],
    ['with events that no one has read', `process.on('exit', () => { ${touch} });`],
    ['with events, by process.exit', `${touch} process.exit(0);`],
    ['right after it closed them', `${touch} watches.forEach((watch) => watch.close()); inotify.close();`],
    ['in the turn in which it closed them', `setImmediate(() => { inotify.close(); process.exit(0); });`],
  ] as const) {
    it(`ends by itself ${what}`, () => {
      const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', `${watching}${code}`];
      const { status, signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 120_000 });
      assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: '' });
    });
  }
});

describe('bytes of inotify', () => {
  it('are split into events; a cut one at the end is left out', () => {
    const bytes = Buffer.alloc(16 + 16 + 16 + 8);
    bytes.writeInt32LE(1, 0);
    bytes.writeUInt32LE(IN.create, 4);
    bytes.writeUInt32LE(16, 12);
    bytes.write('pod.yaml', 16);
    bytes.writeInt32LE(-1, 32);
    bytes.writeUInt32LE(IN.overflow, 36);
    assert.deepEqual(
      [...parseInotifyEvents(bytes)],
      [
        { watch: 1, event: { mask: IN.create, name: 'pod.yaml' } },
        { watch: -1, event: { mask: IN.overflow, name: '' } },
      ],
    );
  });
});
