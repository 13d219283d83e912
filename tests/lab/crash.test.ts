/** Worlds are taken away however their process ends, and the logs of a failed test are kept. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { cacheRoot } from '../../tools/machine/cache.ts';
import { capture } from '../../tools/machine/capture.ts';
import { listTrees, readHierarchies } from '../../tools/machine/cgroup-trees.ts';
import { findLeftovers } from '../../tools/machine/ledger.ts';
import { ownerOf } from '../../tools/machine/owner.ts';
import { createLab } from './lab.ts';
import { labPlace } from './worlds.ts';

const program = (name: string) => join(import.meta.dirname, name);

/** A place of its own: other runs on this machine sweep the common one. */
function ownEnv(name: string): NodeJS.ProcessEnv {
  return { ...process.env, KUBELET_TS_LAB: `selftest-${name}-${process.pid}`, NODE_TEST_CONTEXT: undefined };
}

async function startWorldInUse(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; id: string; anchor: number }> {
  const child = spawn(process.execPath, [program('testdata/world-in-use.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, ...(JSON.parse(line) as { id: string; anchor: number }) };
}

/** A process that only waits to be reaped is gone. */
const isThere = (pid: number) => ownerOf(pid) !== undefined;

test('after kill -9 of the test process the next run cleans up', async (t) => {
  const env = ownEnv('kill');
  const place = labPlace(env);
  const { child, id, anchor } = await startWorldInUse(env);
  assert.deepEqual(await findLeftovers(place), [], 'a world in use is not a leftover');
  child.kill('SIGKILL');
  await once(child, 'exit');

  const left = await findLeftovers(place);
  assert.ok(left.some(({ what, name }) => what === 'world' && name === id));
  assert.ok(left.some(({ what, name }) => what === 'cgroup' && name === place.cgroupOf(id)));
  assert.ok(left.filter(({ what }) => what === 'process').length >= 4, 'anchor, gate, containerd, shim, container');
  assert.ok(isThere(anchor));
  const check = await capture([process.execPath, program('leftovers-main.ts')], { env });
  assert.equal(check.code, 1, 'the check at the end of a run fails');
  assert.match(check.stderr, new RegExp(`left behind: world ${id}`));

  const next = await createLab(env).node({ test: t, kubelet: 'none' });
  await next[Symbol.asyncDispose]();
  assert.deepEqual(await findLeftovers(place), []);
  assert.ok(!isThere(anchor));
  assert.ok(!existsSync(join(place.root, id)));
  await rm(place.root, { recursive: true });
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} to the test process takes its worlds down at once`, async () => {
    const env = ownEnv(signal.toLowerCase());
    const { child, anchor } = await startWorldInUse(env);
    child.kill(signal);
    assert.deepEqual(await once(child, 'exit'), [null, signal]);
    assert.ok(!isThere(anchor));
    assert.deepEqual(await findLeftovers(labPlace(env)), []);
    assert.deepEqual(await listTrees(await readHierarchies(), labPlace(env).cgroupPrefix), []);
    await rm(labPlace(env).root, { recursive: true });
  });
}

test('a failed or hung test leaves its logs, whose place is printed, and no world; a passed one leaves neither', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'kubelet-ts-logs-'));
  await symlink(join(cacheRoot(process.env), 'bin'), join(cache, 'bin'));
  const run = (outcome: string, ...flags: readonly string[]) =>
    capture([process.execPath, '--test', ...flags, '--test-reporter=tap', program('testdata/one-world.ts')], {
      env: { ...ownEnv('logs'), KUBELET_TS_CACHE: cache, OUTCOME: outcome },
    });
  try {
    const passed = await run('pass');
    assert.equal(passed.code, 0, passed.stdout);
    assert.deepEqual(await readdir(join(cache, 'lab-logs')), []);

    const failed = await run('fail');
    assert.equal(failed.code, 1);
    const directory = /the logs of "uses a world" are in (\S+)/.exec(failed.stdout + failed.stderr)?.[1];
    assert.ok(directory !== undefined, failed.stdout);
    const kept = await readdir(directory);
    assert.deepEqual(await findLeftovers(labPlace(ownEnv('logs'))), []);

    const hung = await run('hang', '--test-timeout=15000');
    assert.equal(hung.code, 1);
    assert.match(hung.stdout + hung.stderr, /the logs of "uses a world" are in/);
    assert.deepEqual(await findLeftovers(labPlace(ownEnv('logs'))), []);
    for (const name of ['containerd.log', 'gate.log', 'containerd.toml', 'var-log'])
      assert.ok(kept.includes(name), name);
  } finally {
    await rm(cache, { recursive: true });
    await rm(labPlace(ownEnv('logs')).root, { recursive: true, force: true });
  }
});
