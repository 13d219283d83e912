/** A guest is taken away however the process that started it ends, also in the middle of its boot. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { captureOk } from '../../../tools/machine/capture.ts';
import { listTrees, processesIn, readHierarchies } from '../../../tools/machine/cgroup-trees.ts';
import { findLeftovers, readWorlds } from '../../../tools/machine/ledger.ts';
import { ownerOf } from '../../../tools/machine/owner.ts';
import { createSupplies } from '../supplies.ts';
import { labPlace } from '../worlds.ts';

const START_DEADLINE_MS = 300_000;
const END_DEADLINE_MS = 120_000;

/** A place of its own: other runs on this machine sweep the common one. */
function ownEnv(name: string): NodeJS.ProcessEnv {
  return { ...process.env, KUBELET_TS_LAB: `guest-${name}-${process.pid}`, NODE_TEST_CONTEXT: undefined };
}

/** Starts a guest in another process and answers as soon as its virtual machine runs. */
async function startBooting(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; id: string; qemu: number }> {
  await createSupplies(env).guestBase();
  const program = join(import.meta.dirname, 'testdata', 'guest-in-use.ts');
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  const place = labPlace(env);
  const hierarchies = await readHierarchies();
  const { id, qemu } = await eventually(START_DEADLINE_MS, 'the virtual machine runs', async () => {
    const [world] = await readWorlds(place);
    if (world === undefined) return undefined;
    const pids = await processesIn(hierarchies, place.cgroupOf(world.id));
    const found = pids.find((pid) => commandOf(pid).startsWith('qemu-system'));
    return found === undefined ? undefined : { id: world.id, qemu: found };
  });
  return { child, id, qemu };
}

async function eventually<T>(deadlineMs: number, what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    assert.ok(performance.now() < deadline, `not within ${deadlineMs} ms: ${what}`);
    await delay(20);
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8');
  } catch {
    return ''; // ended since it was listed
  }
}

test('after kill -9 the virtual machine ends at once and the next run takes the rest away', async () => {
  const env = ownEnv('kill');
  const place = labPlace(env);
  const { child, id, qemu } = await startBooting(env);
  assert.deepEqual(await findLeftovers(place), [], 'a guest in use is not a leftover');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await eventually(END_DEADLINE_MS, 'the virtual machine is gone', () =>
    Promise.resolve(ownerOf(qemu) === undefined ? true : undefined),
  );

  const left = await findLeftovers(place);
  assert.ok(left.some(({ what, name }) => what === 'world' && name === id));
  await captureOk([process.execPath, join(import.meta.dirname, '..', 'destroy-main.ts')], { env });
  assert.deepEqual(await findLeftovers(place), []);
  assert.deepEqual(await readWorlds(place), []);
  await rm(place.root, { recursive: true });
});

test('SIGTERM in the middle of a boot leaves nothing', async () => {
  const env = ownEnv('term');
  const place = labPlace(env);
  const { child, qemu } = await startBooting(env);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGTERM']);
  assert.equal(ownerOf(qemu), undefined);
  assert.deepEqual(await findLeftovers(place), []);
  assert.deepEqual(await readWorlds(place), []);
  assert.deepEqual(await listTrees(await readHierarchies(), place.cgroupPrefix), []);
  await rm(place.root, { recursive: true });
});
