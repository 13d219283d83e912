/** Whole kubelets without a machine: everything that the composition root builds, on simulated nodes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { livePodLife, podManifest } from './simulated-life.ts';
import { startSimulatedNode } from './simulated-node.ts';

/** Of simulated time: back-offs, caches and what is done some time after the last pod are over then. */
const IDLE_MS = 600_000;
const root = resolve(import.meta.dirname, '../..');

test('a static pod lives and goes on a simulated node', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'simulated-'));
  await using node = await startSimulatedNode('one', directory.path);
  await livePodLife(node, 'web');
});

test('two nodes live in one process, each with its own machine, runtime and time', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'simulated-'));
  await using one = await startSimulatedNode('one', directory.path);
  await using two = await startSimulatedNode('two', directory.path);
  await Promise.all([livePodLife(one, 'web'), livePodLife(two, 'db')]);
  assert.ok(one.runtime.load.begun.every((call) => call.endsWith('web-one')));
  assert.ok(two.runtime.load.begun.every((call) => call.endsWith('db-two')));
});

test('pods that come and go leave no timer', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'simulated-'));
  await using node = await startSimulatedNode('one', directory.path);
  const comeAndGo = async (turn: number) => {
    const names = Array.from({ length: 10 }, (_, at) => `p${turn}-${at}`);
    await Promise.all(names.map((name) => node.writeManifest(name, podManifest(name))));
    await node.until('running', () =>
      names.every((name) => node.runtime.runningOf(`${name}-one`, 'main') !== undefined),
    );
    await Promise.all(names.map((name) => node.removeManifest(name)));
    await node.until('gone', () => node.runtime.picture().length === 0);
  };
  await comeAndGo(0);
  await node.clock.advance(IDLE_MS);
  const before = node.clock.sleepers();
  for (let turn = 1; turn < 10; turn += 1) await comeAndGo(turn);
  await node.clock.advance(IDLE_MS);
  // A timer for each pod would be ninety more. The kubelet's own loops are in the middle of a pass now and then, and have none then.
  await node.until('without timers of pods', () => node.clock.sleepers() <= before + 20);
});

test('a simulated node needs no file of Linux, no program, no network and no foreign function', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'simulated-'));
  // Links are looked for in every directory on the way to a manifest.
  const [, top = ''] = directory.path.split('/');
  const allowed = ['--permission', `--allow-fs-read=${root}`, `--allow-fs-read=/${top}`];
  const main = join(import.meta.dirname, 'simulated-node-main.ts');
  const flags = ['--disable-warning=ExperimentalWarning', ...allowed, `--allow-fs-write=${directory.path}`];
  const child = spawn(process.execPath, [...flags, main, directory.path], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  assert.equal(code, 0, `${output}${errors}`);
  assert.match(output, /^\/proc is denied\nthe pod has lived\n$/);
});
