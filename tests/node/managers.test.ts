/** The static policies of the CPU and memory managers on a real node: where containers run is read from their cgroups. */
import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseCgroupMounts } from '../../src/host/cgroup-mounts.ts';
import { decodeCpuState, encodeCpuState } from '../../src/resources/rules/cpu-state-file.ts';
import { type PodNode, podNode, stays, until } from './pod-support.ts';

const hierarchies = parseCgroupMounts(await readFile('/proc/self/mountinfo', 'utf8'));
const WAIT_MS = 120_000;
const STATIC = {
  cpuManagerPolicy: 'static',
  cpuManagerReconcilePeriod: '1s',
  systemReserved: { cpu: '500m', memory: '300Mi' },
  evictionHard: { 'memory.available': '100Mi' },
  memoryManagerPolicy: 'Static',
  reservedMemory: [{ numaNode: 0, limits: { memory: '400Mi' } }],
};
const guaranteed = { requests: { cpu: '1', memory: '64Mi' }, limits: { cpu: '1', memory: '64Mi' } };

interface Found {
  readonly id: string;
  readonly uid: string;
  readonly path: string;
}

/** A container that runs, and its cgroup. */
async function find(place: PodNode, pod: string, container: string): Promise<Found> {
  const { id, labels } = await place.running(pod, container);
  const uid = labels['io.kubernetes.pod.uid'] ?? '';
  const isGuaranteed = pod !== 'shares';
  return { id, uid, path: `/kubepods/${isGuaranteed ? '' : 'besteffort/'}pod${uid}/${id}` };
}

async function read(place: PodNode, path: string, file: string): Promise<string> {
  const controller = file.slice(0, file.indexOf('.'));
  const hierarchy = hierarchies.find(({ controllers }) => controllers.includes(controller)) ?? hierarchies.at(-1);
  return (await readFile(join(hierarchy?.mountPoint ?? '', place.node.world.cgroup, path, file), 'utf8')).trim();
}

const runsOn = (place: PodNode, { path }: Found, cpus: string) =>
  until(
    `${path} runs on ${cpus}`,
    async () => ((await read(place, path, 'cpuset.cpus')) === cpus ? true : undefined),
    WAIT_MS,
  );

const stateOf = (place: PodNode) => readFile(join(place.node.kubeletDirectory, 'cpu_manager_state'), 'utf8');
const logHas = (place: PodNode, text: RegExp) =>
  until(
    `the log has ${text}`,
    async () => (text.test(await readFile(place.node.kubelet.logFile, 'utf8')) ? true : undefined),
    WAIT_MS,
  );

test('a guaranteed container has its CPU for itself, through crashes, damaged state and other policies', async (t) => {
  const all = (await readFile('/sys/devices/system/cpu/online', 'utf8')).trim();
  if (all !== '0-1') return; // The numbers below are those of a machine with two CPUs.
  const place = await podNode(t, { config: STATIC });
  const { kubelet } = place.node;
  await place.write('shares', { containers: [stays('s')] });
  const shares = await find(place, 'shares', 's');
  await runsOn(place, shares, '0-1');

  const file = await place.write('own', { containers: [stays('a', { resources: guaranteed })] });
  const own = await find(place, 'own', 'a');
  const expected = encodeCpuState(
    {
      policy: 'static',
      state: {
        shared: new Set([0]),
        containers: new Map([[own.uid, new Map([['a', new Set([1])]])]]),
        pods: new Map(),
      },
    },
    false,
  );
  await t.test('it runs alone, without a quota; the others leave its CPU', async () => {
    await runsOn(place, own, '1');
    await runsOn(place, shares, '0');
    assert.equal(await read(place, own.path, 'cpuset.mems'), '0');
    assert.equal(await read(place, own.path, 'cpu.cfs_quota_us'), '-1');
    assert.equal(await read(place, own.path.slice(0, own.path.lastIndexOf('/')), 'cpu.cfs_quota_us'), '-1');
    assert.equal(await stateOf(place), expected);
  });

  await t.test('a pod that no CPU is left for is refused in the words of the reference', async () => {
    await place.write('more', { containers: [stays('m', { resources: guaranteed })] });
    await place.untilEvent('more', /OutOfcpu|UnexpectedAdmissionError/);
    await rm(join(place.node.manifestsDirectory, 'more.yaml'));
  });

  const restarted = async (flags: readonly string[] = []): Promise<void> => {
    await kubelet.kill();
    await kubelet.start({ flags: ['-v=2', ...flags] });
  };
  await t.test('after kill -9 it is where it was', async () => {
    await restarted();
    await runsOn(place, own, '1');
    await runsOn(place, shares, '0');
    assert.equal(await stateOf(place), expected);
  });

  await t.test('a damaged state file does not prevent the start, and nothing is lost', async () => {
    await kubelet.kill();
    await writeFile(join(place.node.kubeletDirectory, 'cpu_manager_state'), expected.replace('"1"', '"0"'));
    await kubelet.start({ flags: ['-v=2'] });
    await logHas(place, /ManagerStateRebuilt/);
    await until('the state is rebuilt', async () => ((await stateOf(place)) === expected ? true : undefined), WAIT_MS);
    await runsOn(place, own, '1');
    await runsOn(place, shares, '0');
  });

  await t.test(
    'without a policy all CPUs are for all; with it again no one shares a CPU that is given away',
    async () => {
      await restarted(['--cpu-manager-policy=none']);
      await runsOn(place, shares, '0-1');
      await runsOn(place, own, '0-1');
      await restarted();
      await until('the policy is in the state', async () => {
        const state = decodeCpuState(await stateOf(place));
        return state.ok && state.value.policy === 'static' ? true : undefined;
      });
      await rm(file);
      await place.gone('own');
      await place.write('next', { containers: [stays('c', { resources: guaranteed })] });
      const next = await find(place, 'next', 'c');
      await runsOn(place, next, '1');
      await runsOn(place, shares, '0');
    },
  );
  assert.equal((await find(place, 'shares', 's')).id, shares.id, 'no container was started again');
});
