import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createSystemClock } from '../../base/clock.ts';
import { createSilentLogger } from '../../base/logger.ts';
import { createReadiness } from '../../host/event-loop.ts';
import { createFileCalls } from '../../host/file-calls.ts';
import { createGuardedFiles } from '../../host/guarded-files.ts';
import { createInotify } from '../../host/inotify.ts';
import { createSyscalls } from '../../host/syscalls.ts';
import type { CutRequest } from './line-cutter.ts';
import type { Followed } from './log-follow.ts';
import { streamLog } from './log-stream.ts';
import { createLogWatches } from './log-watch.ts';
import { createReadBuffers } from './read-buffers.ts';

const clock = createSystemClock();
const inotify = createInotify(createSyscalls(), createReadiness());
// Watches do not keep a process alive.
const alive = setInterval(() => undefined, 1000);
after(() => {
  clearInterval(alive);
  inotify.close();
});
const deps = {
  clock,
  log: createSilentLogger(),
  buffers: createReadBuffers(),
  watches: createLogWatches({ inotify, clock }),
  place: { files: createGuardedFiles(createFileCalls()), podLogs: tmpdir() },
};
const ALL: CutRequest = {
  timestamps: false,
  since: undefined,
  stdout: true,
  stderr: true,
  limitBytes: Number.POSITIVE_INFINITY,
};
const never = new AbortController().signal;

interface Entry {
  readonly second: number;
  readonly stream: 'stdout' | 'stderr';
  readonly tag: 'P' | 'F';
  readonly text: string;
}

/** Numbers that look random and are the same each time. */
function createDice(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const stampOf = ({ second }: Entry): string => new Date(second * 1000).toISOString().replace('.000Z', '.5Z');
const recordOf = (entry: Entry): string => `${stampOf(entry)} ${entry.stream} ${entry.tag} ${entry.text}\n`;

/** A log as the runtime and the rotation make it, and what was written to it. */
function createLog(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'log-stream-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, '0.log');
  writeFileSync(path, '');
  const entries: Entry[] = [];
  let rotations = 0;
  return {
    path,
    directory,
    entries,
    append: (more: readonly Entry[]) => {
      entries.push(...more);
      appendFileSync(path, more.map(recordOf).join(''));
    },
    rotate: () => {
      rotations += 1;
      renameSync(path, `${path}.20260101-${String(rotations).padStart(6, '0')}`);
      writeFileSync(path, '');
    },
    compressOldest: () => {
      const plain = readdirSync(directory).find((name) => name !== '0.log' && !name.endsWith('.gz'));
      if (plain === undefined) return;
      const file = join(directory, plain);
      writeFileSync(`${file}.tmp`, gzipSync(readFileSync(file)));
      renameSync(`${file}.tmp`, `${file}.gz`);
      rmSync(file);
    },
  };
}

function randomEntries(dice: (below: number) => number, second: number): Entry[] {
  const pieces = dice(5) === 0 ? 1 + dice(4) : 1;
  const stream = dice(3) === 0 ? 'stderr' : 'stdout';
  // Now and then one that is larger than what is read at once.
  const size = dice(1000) === 0 ? 300_000 : dice(60);
  return Array.from({ length: pieces }, (_, index) => ({
    second,
    stream,
    tag: index === pieces - 1 ? 'F' : 'P',
    text: `${second}:${index} ${'x'.repeat(size)}`,
  }));
}

/** What a reader must get: simple, and slow. */
function model(entries: readonly Entry[], request: CutRequest, tailLines: number | undefined): string {
  let first = 0;
  if (tailLines !== undefined) {
    const ends = entries.flatMap(({ tag }, index) => (tag === 'F' ? [index] : []));
    const before = ends.at(-1 - tailLines);
    first = tailLines === 0 ? entries.length : before === undefined ? 0 : before + 1;
  }
  const parts: string[] = [];
  for (const entry of entries.slice(first)) {
    if (!request[entry.stream]) continue;
    if (request.since !== undefined && entry.second + 0.5 < request.since.seconds + request.since.nanos / 1e9) continue;
    const isStart = parts.at(-1)?.endsWith('\n') ?? true;
    if (request.timestamps && isStart) parts.push(`${stampOf(entry).replace('.5Z', '.500000000Z')} `);
    parts.push(entry.text + (entry.tag === 'F' ? '\n' : ''));
  }
  const text = parts.join('');
  return text.slice(0, request.limitBytes);
}

/** Files that were rotated just now are old to this clock: nothing to wait for. */
const later = { ...deps, clock: { ...clock, now: () => clock.now() + 10_000 } };

async function read(path: string, cut: CutRequest, tailLines?: number): Promise<string> {
  const parts: Buffer[] = [];
  await streamLog(later, { path, cut, tailLines, follow: undefined }, (bytes) => void parts.push(bytes), never);
  return Buffer.concat(parts).toString();
}

function assertSame(actual: string, expected: string, what: string): void {
  if (actual === expected) return;
  let at = 0;
  while (actual[at] === expected[at]) at += 1;
  const show = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 60), at + 60));
  assert.fail(
    `${what}: ${actual.length} instead of ${expected.length}, from ${at} on ${show(actual)} not ${show(expected)}`,
  );
}

for (const seed of [1, 2, 3, 4]) {
  test(`random rotations, compressions and partial lines, seed ${seed}`, async (t) => {
    const dice = createDice(seed);
    const log = createLog(t);
    for (let round = 0; round < 12; round += 1) {
      const written: Entry[] = [];
      for (let count = dice(400); count > 0; count -= 1)
        written.push(...randomEntries(dice, 1_000_000 + log.entries.length));
      // A rotation may fall between the parts of a line.
      const half = dice(written.length + 1);
      log.append(written.slice(0, half));
      if (dice(3) > 0) log.rotate();
      log.append(written.slice(half));
      if (dice(3) === 0) log.rotate();
      if (dice(2) === 0) log.compressOldest();
      const lines = log.entries.filter(({ tag }) => tag === 'F').length;
      for (const tail of [undefined, 0, 1, 10, dice(lines + 1), lines, lines + 1]) {
        assertSame(await read(log.path, ALL, tail), model(log.entries, ALL, tail), `round ${round} tail ${tail}`);
      }
      const requests: CutRequest[] = [
        { ...ALL, timestamps: true },
        { ...ALL, limitBytes: 1 + dice(5000) },
        { ...ALL, since: { seconds: 1_000_000 + dice(log.entries.length + 1), nanos: dice(2) * 6e8 } },
        { ...ALL, stderr: false, timestamps: true },
        { ...ALL, stdout: false },
      ];
      for (const request of requests) {
        assertSame(
          await read(log.path, request),
          model(log.entries, request, undefined),
          `round ${round} ${JSON.stringify(request)}`,
        );
      }
    }
  });
}

/** A container that runs until told. */
function createLife() {
  let running = true;
  const listeners = new Set<() => void>();
  const followed: Followed = {
    isRunning: () => running,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    followed,
    listeners,
    end: () => {
      running = false;
      for (const listener of listeners) listener();
    },
  };
}

for (const pace of ['fast', 'slow'] as const) {
  test(`a ${pace} follower gets every line once across rotations and compressions`, async (t) => {
    const dice = createDice(7);
    const log = createLog(t);
    const life = createLife();
    log.append(
      Array.from({ length: 100 }, (_, second) => ({ second, stream: 'stdout', tag: 'F', text: `old ${second}` })),
    );
    log.rotate();
    let got = '';
    const sink = async (bytes: Buffer) => {
      got += bytes.toString();
      if (pace === 'slow') await clock.sleep(5, never);
    };
    const done = streamLog(
      deps,
      { path: log.path, cut: ALL, tailLines: undefined, follow: life.followed },
      sink,
      never,
    );
    for (let round = 0; round < 150; round += 1) {
      const count = dice(300);
      log.append(
        Array.from({ length: count }, (_, n) => ({
          second: round,
          stream: 'stdout',
          tag: 'F',
          text: `line ${round} ${n}`,
        })),
      );
      if (dice(3) === 0) log.rotate();
      if (dice(4) === 0) log.compressOldest();
      await clock.sleep(dice(8), never);
    }
    life.end();
    await done;
    assertSame(got, model(log.entries, ALL, undefined), pace);
    assert.equal(life.listeners.size, 0);
  });
}

test('a follower that starts at the end gets only new lines, and none twice when a rotation is reverted', async (t) => {
  const log = createLog(t);
  const life = createLife();
  const entry = (text: string): Entry => ({ second: 1, stream: 'stdout', tag: 'F', text });
  log.append([entry('before')]);
  let got = '';
  let wake = () => undefined as unknown;
  const until = async (text: string) => {
    while (got !== text)
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, 2000).unref();
      });
  };
  const sink = (bytes: Buffer) => {
    got += bytes.toString();
    wake();
  };
  // Asked for the first time when what was there before has been read, or left out.
  const following = Promise.withResolvers<void>();
  const isRunning = () => {
    following.resolve();
    return life.followed.isRunning();
  };
  const follow = { ...life.followed, isRunning };
  const done = streamLog(deps, { path: log.path, cut: ALL, tailLines: 0, follow }, sink, never);
  await following.promise;
  log.append([entry('one')]);
  await until('one\n');
  renameSync(log.path, `${log.path}.20260101-000001`);
  await clock.sleep(SETTLE, never);
  renameSync(`${log.path}.20260101-000001`, log.path);
  log.append([entry('two')]);
  await until('one\ntwo\n');
  log.rotate();
  log.append([entry('three')]);
  await until('one\ntwo\nthree\n');
  life.end();
  await done;
  assert.equal(got, 'one\ntwo\nthree\n');
});
const SETTLE = 600;

test('a follower continues with the existing files when others are removed, and ends when the pod is removed', async (t) => {
  const log = createLog(t);
  const life = createLife();
  const entry = (text: string): Entry => ({ second: 1, stream: 'stdout', tag: 'F', text });
  let got = '';
  const done = streamLog(
    deps,
    { path: log.path, cut: ALL, tailLines: undefined, follow: life.followed },
    (bytes) => {
      got += bytes.toString();
    },
    never,
  );
  log.append([entry('one')]);
  await clock.sleep(100, never);
  rmSync(log.path);
  await clock.sleep(50, never);
  log.append([entry('two')]);
  while (!got.includes('two')) await clock.sleep(20, never);
  for (const name of readdirSync(log.directory)) rmSync(join(log.directory, name));
  life.end();
  await done;
  assert.equal(got, 'one\ntwo\n');
});

test('the beginning of a line whose rest was removed is not joined with another line', async (t) => {
  const log = createLog(t);
  const life = createLife();
  const entry = (text: string, tag: 'P' | 'F' = 'F'): Entry => ({ second: 1, stream: 'stdout', tag, text });
  log.append([entry('one'), entry('half', 'P')]);
  let got = '';
  let isHeld = true;
  const hold = Promise.withResolvers<void>();
  const done = streamLog(
    deps,
    { path: log.path, cut: ALL, tailLines: undefined, follow: life.followed },
    async (bytes) => {
      got += bytes.toString();
      if (isHeld) await hold.promise;
    },
    never,
  );
  while (got === '') await clock.sleep(5, never);
  // While the client takes nothing, the file that it reads and the next one are thrown away.
  log.rotate();
  log.append([entry(' of it')]);
  log.rotate();
  for (const name of readdirSync(log.directory).filter((one) => one !== '0.log')) rmSync(join(log.directory, name));
  log.append([entry('two')]);
  isHeld = false;
  hold.resolve();
  while (!got.includes('two')) await clock.sleep(5, never);
  life.end();
  await done;
  assert.equal(got, 'one\nhalf\ntwo\n');
});

test('a limit or a disconnect of the client ends a follower too', async (t) => {
  const log = createLog(t);
  const life = createLife();
  log.append([{ second: 1, stream: 'stdout', tag: 'F', text: 'abcdef' }]);
  let got = '';
  const take = (bytes: Buffer) => {
    got += bytes.toString();
  };
  const request = { path: log.path, tailLines: undefined, follow: life.followed };
  await streamLog(deps, { ...request, cut: { ...ALL, limitBytes: 3 } }, take, never);
  assert.equal(got, 'abc');
  const leaving = new AbortController();
  const done = streamLog(deps, { ...request, cut: ALL }, take, leaving.signal);
  await clock.sleep(50, never);
  leaving.abort(new Error('gone'));
  await assert.rejects(done, /gone/);
  assert.equal(life.listeners.size, 0);
});

test('logs in the JSON format of Docker are read', async (t) => {
  const log = createLog(t);
  const json = (text: string, stream = 'stdout') =>
    `${JSON.stringify({ log: text, stream, time: '2026-01-02T03:04:05.6Z' })}\n`;
  writeFileSync(log.path, `${json('a\n')}${json('b')}${json('c\n')}not json\n${json('d\n', 'stderr')}`);
  assert.equal(await read(log.path, ALL), 'a\nbc\nd\n');
  assert.equal(await read(log.path, ALL, 2), 'bc\nd\n');
  assert.equal(await read(log.path, { ...ALL, timestamps: true, stderr: false }, 1), '');
  assert.equal(
    await read(log.path, { ...ALL, timestamps: true }),
    ['a', 'bc', 'd'].map((text) => `2026-01-02T03:04:05.600000000Z ${text}\n`).join(''),
  );
});

test('damaged records and files are skipped, and only these', async (t) => {
  const log = createLog(t);
  const good = (text: string) => `2026-01-02T03:04:05Z stdout F ${text}\n`;
  const bad = [
    '',
    'x',
    '2026-01-02T03:04:05Z',
    '2026-01-02T03:04:05Z stdin F x',
    '2026-01-02 03:04:05Z stdout F x',
    '2026-01-02T03:04:05Z stdout ',
    ' '.repeat(500),
  ];
  writeFileSync(`${log.path}.20260101-000000.gz`, gzipSync(good('zero')).subarray(0, 15));
  writeFileSync(
    log.path,
    `${bad.map((text, n) => `${text}\n${good(String(n))}`).join('')}2026-01-02T03:04:05Z stderr F half`,
  );
  assert.equal(await read(log.path, ALL), `${bad.map((_, n) => `${n}\n`).join('')}half`);
  assert.equal(await read(log.path, ALL, 2), '5\n6\nhalf');
});

test('timestamps keep their time zone and get nine digits', async (t) => {
  const log = createLog(t);
  writeFileSync(log.path, '2026-01-02T03:04:05+02:00 stdout F a\n2026-01-02T03:04:05.123456789-07:30 stderr F:x b\n');
  assert.equal(
    await read(log.path, { ...ALL, timestamps: true }),
    '2026-01-02T03:04:05.000000000+02:00 a\n2026-01-02T03:04:05.123456789-07:30 b\n',
  );
  const since = { seconds: Date.parse('2026-01-02T01:04:06Z') / 1000, nanos: 0 };
  assert.equal(await read(log.path, { ...ALL, since }), 'b\n');
});

test('records that are too long take no memory, and the lines after them are found', async (t) => {
  const log = createLog(t);
  const line = (text: string) => recordOf({ second: 1, stream: 'stdout', tag: 'F', text });
  const json = (text: string) => `${JSON.stringify({ log: text, stream: 'stdout', time: '2026-01-02T03:04:05.6Z' })}\n`;
  const endless = 'z'.repeat(5 * 1024 * 1024);
  writeFileSync(log.path, `${line('before')}${endless}\n${line('after')}${line('last')}`);
  assert.equal(await read(log.path, ALL, 2), 'after\nlast\n');
  assert.equal(await read(log.path, ALL, 3), 'before\nafter\nlast\n');
  writeFileSync(log.path, `${json('before\n')}{${endless}\n${json('after\n')}`);
  assert.equal(await read(log.path, ALL), 'before\nafter\n');
  assert.equal(await read(log.path, ALL, 2), 'before\nafter\n');
  renameSync(log.path, `${log.path}.20260101-000000`);
  writeFileSync(`${log.path}.20260101-000000.gz`, gzipSync(readFileSync(`${log.path}.20260101-000000`)));
  rmSync(`${log.path}.20260101-000000`);
  writeFileSync(log.path, '');
  assert.equal(await read(log.path, ALL, 1), 'after\n');
  const hole = createLog(t);
  writeFileSync(hole.path, line('before'));
  truncateSync(hole.path, 512 * 1024 ** 2);
  const before = process.memoryUsage().rss;
  assert.equal(await read(hole.path, ALL, 1), 'before\n');
  assert.ok(process.memoryUsage().rss - before < 200 * 1024 ** 2);
});

test('a log that is not a regular file is not read, and neither is the target of a link', {
  timeout: 120_000,
}, async (t) => {
  const log = createLog(t);
  rmSync(log.path);
  execFileSync('mkfifo', [log.path]);
  await assert.rejects(read(log.path, ALL), /is not a regular file/);
  await assert.rejects(read(log.path, ALL, 5), /is not a regular file/);
  rmSync(log.path);
  const other = createLog(t);
  other.append([{ second: 1, stream: 'stdout', tag: 'F', text: 'of another' }]);
  symlinkSync(other.path, log.path);
  await assert.rejects(read(log.path, ALL), /is not a regular file/);
  rmSync(log.directory, { recursive: true });
  symlinkSync(other.directory, log.directory);
  await assert.rejects(read(log.path, ALL), /ELOOP|ENOTDIR/);
  rmSync(log.directory);
});
