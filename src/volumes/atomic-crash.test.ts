/** A volume under the eyes of readers, and of kubelets that are killed on the way. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import { createSystemClock } from '../base/clock.ts';
import { readAtomicState, readDataLink } from './atomic-state.ts';
import { applySteps } from './atomic-steps.ts';
import { payloadOf, testDirectory, treeOf, visibleFiles } from './atomic-testing.ts';
import { createAtomicWriter } from './atomic-writer.ts';
import { planAtomicWrite } from './rules/atomic-plan.ts';

const signal = new AbortController().signal;
const fsGroup = undefined;
const medium = 'disk';
let randomly = 0;
const system = createSystemClock();
const atOnce = { ...system, sleep: () => Promise.resolve() };
const newWriter = (clock = system) => createAtomicWriter({ clock, random: () => ++randomly });

type Files = Readonly<Record<string, string>>;
const CHANGES: readonly (readonly [string, Files | undefined, Files])[] = [
  ['a new volume', undefined, { a: '1', 'b/c': '1' }],
  ['from nothing', {}, { a: '1', 'b/c': '1' }],
  ['other contents', { a: '1', 'b/c': '1' }, { a: '2', 'b/c': '2' }],
  ['names come and go', { a: '1', b: '1', 'd/e': '1' }, { b: '2', c: '2', 'f/g': '2' }],
  ['to nothing', { a: '1', 'b/c': '1' }, {}],
];

async function shownSet(directory: string): Promise<Files | undefined> {
  return (await readDataLink(directory)) === undefined ? undefined : await visibleFiles(join(directory, '..data'));
}

describe('killed after any step', () => {
  for (const [name, before, after] of CHANGES) {
    test(name, async () => {
      await using dir = await testDirectory();
      const prepare = async (label: string) => {
        const directory = join(dir.path, label);
        await mkdir(directory);
        if (before !== undefined) {
          await newWriter(atOnce).write({ directory, payload: payloadOf(before), fsGroup, medium }, signal);
        }
        const payload = payloadOf(after);
        const state = await readAtomicState(directory, { payload, fsGroup, medium });
        const plan = planAtomicWrite(state, { payload, fsGroup, directory: '..2026_01_01_00_00_00.5' });
        return { directory, steps: [...plan.publish.flat(), ...plan.tidy] };
      };
      const { steps } = await prepare('count');
      assert.ok(steps.length >= 5, 'there is something to be killed in');
      for (let done = 0; done <= steps.length; done += 1) {
        for (const desired of [before ?? {}, after]) {
          const { directory, steps: own } = await prepare(`${done}-${desired === after ? 'on' : 'back'}`);
          for (const step of own.slice(0, done)) await applySteps(directory, [step]);
          const shown = await shownSet(directory);
          assert.ok(
            [before, after].some((files) => isDeepStrictEqual(files, shown)),
            `torn after ${done} steps`,
          );
          await newWriter(atOnce).write({ directory, payload: payloadOf(desired), fsGroup, medium }, signal);
          assert.deepEqual(await visibleFiles(directory), desired);
          const tree = await treeOf(directory);
          assert.equal(tree.filter((line) => /^\.\.\S* /.test(line) && !line.includes('/')).length, 2, tree.join('\n'));
        }
      }
    });
  }
});

const NAMES = ['a', 'b', 'c.conf', 'd/e'];
/** Every file of one set says the same, and is long enough to be read in pieces. */
const version = (number: number): Files =>
  Object.fromEntries(NAMES.map((name) => [name, `${number};`.padEnd(12_000, '.')]));

test('kill -9 in the middle, again and again', async () => {
  await using dir = await testDirectory();
  const directory = dir.path;
  const code = `
    import { createAtomicWriter } from ${JSON.stringify(join(import.meta.dirname, 'atomic-writer.ts'))};
    import { payloadOf } from ${JSON.stringify(join(import.meta.dirname, 'atomic-testing.ts'))};
    const clock = { now: () => Date.now(), mono: () => performance.now(), sleep: () => Promise.resolve() };
    const writer = createAtomicWriter({ clock, random: () => Math.floor(Math.random() * 2 ** 32) });
    const signal = new AbortController().signal;
    for (let i = 1; ; i += 1) {
      const medium = i % 2 === 0 ? 'disk' : 'memory';
      const files = Object.fromEntries(${JSON.stringify(NAMES)}.map((name) => [name, (i + ';').padEnd(12_000, '.')]));
      await writer.write({ directory: ${JSON.stringify(directory)}, payload: payloadOf(files), fsGroup: undefined, medium }, signal);
      if (i === 1) console.log('the first set is shown');
    }`;
  for (let round = 0; round < 6; round += 1) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    await system.sleep(5 + Math.random() * 30, signal);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const shown = Object.values(await visibleFiles(join(directory, '..data')));
    assert.equal(shown.length, NAMES.length);
    assert.equal(new Set(shown).size, 1, 'all files are of one set');
    assert.equal(shown[0]?.length, 12_000);
  }
  await newWriter(atOnce).write({ directory, payload: payloadOf({ last: 'x' }), fsGroup, medium }, signal);
  assert.deepEqual(await treeOf(directory), [
    '..STAMP d 755 0:0',
    '..STAMP/last f 644 0:0',
    '..data l 777 0:0 ..STAMP',
    'last l 777 0:0 ..data/last',
  ]);
});

/** Reads all the time, by the visible paths and by the directory of the set, and reports every set that is not complete. */
const READER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { readFileSync, realpathSync } = require('node:fs');
  const { directory, names } = workerData;
  let stopped = false;
  parentPort.on('message', () => { stopped = true; });
  const faults = [];
  let reads = 0, sets = 0, seen = new Set();
  const whole = (text) => text.length === 12000 && /^\\d+;\\.*$/.test(text);
  const look = () => {
    for (let i = 0; i < 50 && faults.length < 5; i += 1) {
      for (const name of names) {
        try {
          const text = readFileSync(directory + '/' + name, 'utf8');
          reads += 1;
          if (!whole(text)) faults.push(name + ' is torn: ' + text.slice(0, 20) + ' ' + text.length);
        } catch (error) { faults.push(name + ': ' + error.message); }
      }
      try {
        const set = realpathSync(directory + '/..data');
        const texts = new Set(names.map((name) => readFileSync(set + '/' + name, 'utf8').split(';')[0]));
        sets += 1;
        seen.add([...texts][0]);
        if (texts.size !== 1) faults.push('a mixed set: ' + [...texts]);
      } catch (error) { if (error.code !== 'ENOENT') faults.push(error.message); }
    }
    if (stopped || faults.length >= 5) parentPort.postMessage({ faults, reads, sets, seen: seen.size });
    else setImmediate(look);
  };
  look();
`;

for (const medium of ['disk', 'memory'] as const)
  test(`a reader never sees half of a change, on ${medium}`, async () => {
    await using dir = await testDirectory();
    const directory = dir.path;
    const writer = newWriter();
    await writer.write({ directory, payload: payloadOf(version(0)), fsGroup, medium }, signal);
    const reader = new Worker(READER, { eval: true, workerData: { directory, names: NAMES } });
    const result = once(reader, 'message');
    for (let number = 1; number <= 15; number += 1) {
      await writer.write({ directory, payload: payloadOf(version(number)), fsGroup, medium }, signal);
    }
    reader.postMessage('stop');
    const [{ faults, reads, sets, seen }] = await result;
    await reader.terminate();
    assert.deepEqual(faults, []);
    assert.ok(reads > 100 && sets > 20 && seen > 5, `read ${reads} files, ${sets} sets, ${seen} different`);
  });

test('a reader that has just resolved the link still finds the files', async () => {
  await using dir = await testDirectory();
  const directory = dir.path;
  const resting = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const sleep = () => {
    resting.resolve();
    return goOn.promise;
  };
  const clock = { ...system, sleep };
  const writer = newWriter(clock);
  await writer.write({ directory, payload: payloadOf({ a: 'old' }), fsGroup, medium }, signal);
  const set = await realpath(join(directory, '..data'));
  const update = writer.write({ directory, payload: payloadOf({ a: 'new' }), fsGroup, medium }, signal);
  await resting.promise;
  assert.equal(await readFile(join(directory, 'a'), 'utf8'), 'new');
  assert.equal(await readFile(join(set, 'a'), 'utf8'), 'old');
  goOn.resolve();
  await update;
  await assert.rejects(readFile(join(set, 'a')), /ENOENT/);
});

/** Mounts of its own, so that nothing is left whatever happens. */
test('a full disk leaves the old files, and room again lets the new ones in', () => {
  const code = `
    import assert from 'node:assert/strict';
    import { execFileSync } from 'node:child_process';
    import { createAtomicWriter } from ${JSON.stringify(join(import.meta.dirname, 'atomic-writer.ts'))};
    import { payloadOf, treeOf, visibleFiles } from ${JSON.stringify(join(import.meta.dirname, 'atomic-testing.ts'))};
    const directory = '/mnt';
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory]);
    const clock = { now: () => Date.now(), mono: () => performance.now(), sleep: () => Promise.resolve() };
    const writer = createAtomicWriter({ clock, random: () => Math.floor(Math.random() * 2 ** 32) });
    const write = (files, medium) =>
      writer.write({ directory, payload: payloadOf(files), fsGroup: undefined, medium }, new AbortController().signal);
    await write({ a: 'old' }, 'disk');
    const before = await treeOf(directory);
    for (const medium of ['disk', 'memory']) {
      await assert.rejects(write({ a: 'new', big: 'x'.repeat(62_000), more: 'x' }, medium), { code: 'exhausted' });
      assert.deepEqual(await treeOf(directory), before);
      assert.deepEqual(await visibleFiles(directory), { a: 'old' });
    }
    execFileSync('mount', ['-o', 'remount,size=1m', directory]);
    await write({ a: 'new', big: 'x'.repeat(62_000) }, 'disk');
    assert.equal((await visibleFiles(directory)).a, 'new');`;
  const argv = ['--mount', process.execPath, '--input-type=module', '-e', code];
  const { status, stderr } = spawnSync('unshare', argv, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});
