/** On the cgroups of this machine, below one of the test's own. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ResourceRequirements } from '../api/container.ts';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { createSystemClock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createTestSupervisor, throwEachOnce } from '../base/supervise-testing.ts';
import { parseCgroupMounts } from '../host/cgroup-mounts.ts';
import { createCgroups } from '../host/cgroups.ts';
import type { NodeEvent } from '../model/event.ts';
import type { SystemdPort } from './cgroup-writer.ts';
import { createResources, type Resources, type ResourcesConfig } from './resources.ts';

const hierarchies = parseCgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
const cgroups = createCgroups(hierarchies);

const podOf = (uid: string, resources: ResourceRequirements): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid },
  spec: { containers: [{ name: 'c', resources }] },
});
const NONE_ENFORCED = { enforce: [], systemReservedCgroup: '', kubeReservedCgroup: '', protectMemory: false } as const;
const NO_RESERVATIONS = {
  ...NONE_ENFORCED,
  reservations: { systemReserved: {}, kubeReserved: {}, evictionHard: undefined },
};
const bestEffort = podOf('aaaa-1', {});
const burstable = podOf('bbbb-2', { requests: { cpu: '500m' }, limits: { memory: '64Mi' } });
const guaranteed = podOf('cccc-3', {
  requests: { cpu: '250m', memory: '32Mi' },
  limits: { cpu: '250m', memory: '32Mi' },
});

interface Place {
  readonly root: string;
  readonly resources: Resources;
  readonly events: NodeEvent[];
  value(controller: string, path: string, file: string): string;
}

/** Waits for what is done in the background. */
async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'not within 60 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const noSystemd: SystemdPort = {
  startTransientUnit: () => assert.fail('not with this driver'),
  setUnitProperties: () => assert.fail('not with this driver'),
  stopUnit: () => assert.fail('not with this driver'),
  version: () => assert.fail('not with this driver'),
};

async function createPlace(t: TestContext, more: Partial<ResourcesConfig> = {}): Promise<Place> {
  const root = `/kubelet-ts-test-${process.pid}-${t.name.replaceAll(/\W+/g, '-')}`;
  const events: NodeEvent[] = [];
  const stopping = new AbortController();
  cgroups.create(root);
  const resources = createResources(
    {
      clock: createSystemClock(),
      // The limits are in force all the same after these loops have failed.
      supervisor: createTestSupervisor(createSystemClock(), {
        beforeRound: throwEachOnce('node allocatable', 'cgroup driver'),
      }),
      log: createSilentLogger(),
      cgroups,
      systemd: noSystemd,
      onOperation: () => undefined,
      kernel: { read: () => undefined, write: () => assert.fail('there is nothing to write') },
      pid: process.pid,
      isKernelThread: () => true,
      cpus: () => '0',
      machine: () => ({ cpus: 2, memory: 2n ** 34n, ephemeralStorage: 2n ** 36n, hugePages: new Map(), pids: 4000n }),
      runtimeDriver: () => Promise.resolve(undefined),
      record: (event) => events.push(event),
    },
    {
      cgroupsPerQos: true,
      cgroupRoot: root,
      cgroupDriver: 'cgroupfs',
      pods: {
        podLevel: true,
        cpuCfsQuota: true,
        cpuCfsQuotaPeriod: 100_000,
        podPidsLimit: 64,
        maxPods: 110,
        podsPerCore: 0,
        protectMemory: false,
      },
      enforcement: {
        ...NONE_ENFORCED,
        reservations: {
          systemReserved: { cpu: '500m', memory: '1Gi' },
          kubeReserved: { pid: '1000' },
          evictionHard: { 'memory.available': '100Mi' },
        },
      },
      own: { kubeletCgroups: '', systemCgroups: '' },
      protectKernel: false,
      protectMemory: undefined,
      reservedMemoryPercent: undefined,
      enforcePods: true,
      ...more,
    },
  );
  t.after(async () => {
    stopping.abort();
    await resources.stop?.();
    await cgroups.kill(root);
    assert.equal(await cgroups.remove(root), true);
  });
  await resources.start(stopping.signal);
  const value = (controller: string, path: string, file: string) => {
    const hierarchy = hierarchies.find((one) => one.controllers.includes(controller)) ?? hierarchies.at(-1);
    return readFileSync(join(hierarchy?.mountPoint ?? '', root, path, file), 'utf8').trim();
  };
  return { root, resources, events, value };
}

const isV1 = cgroups.version === 1;
const sharesFile = isV1 ? 'cpu.shares' : 'cpu.weight';
const memoryFile = isV1 ? 'memory.limit_in_bytes' : 'memory.max';

test('pods get their cgroups with their limits', async (t) => {
  const { resources, root, value } = await createPlace(t);
  for (const pod of [bestEffort, burstable, guaranteed]) await resources.ensurePodCgroup(pod);
  assert.equal(resources.podCgroupParent(bestEffort), `${root}/kubepods/besteffort/podaaaa-1`);
  assert.equal(resources.podCgroupParent(guaranteed), `${root}/kubepods/podcccc-3`);
  assert.equal(value('cpu', 'kubepods/besteffort/podaaaa-1', sharesFile), isV1 ? '2' : '1');
  assert.equal(value('cpu', 'kubepods/burstable/podbbbb-2', sharesFile), isV1 ? '512' : '20');
  assert.equal(value('memory', 'kubepods/burstable/podbbbb-2', memoryFile), String(64 * 2 ** 20));
  assert.equal(value('memory', 'kubepods/podcccc-3', memoryFile), String(32 * 2 ** 20));
  assert.equal(value('pids', 'kubepods/podcccc-3', 'pids.max'), '64');
  assert.deepEqual((await resources.listPodCgroups()).toSorted(), ['aaaa-1', 'bbbb-2', 'cccc-3']);
});

test('all pods together are held to what is left for them', async (t) => {
  const { resources, value, events } = await createPlace(t);
  await resources.ensurePodCgroup(bestEffort);
  await until(() => events.length > 0);
  assert.equal(value('memory', 'kubepods', memoryFile), String(2 ** 34 - 2 ** 30));
  assert.equal(value('cpu', 'kubepods', sharesFile), isV1 ? '1536' : '59');
  assert.equal(value('pids', 'kubepods', 'pids.max'), '3000');
  assert.deepEqual(events, [
    {
      node: true,
      type: 'Normal',
      reason: 'NodeAllocatableEnforced',
      message: 'Updated Node Allocatable limit across pods',
    },
  ]);
});

test('the burstable class weighs as much as its pods', async (t) => {
  const { resources, value } = await createPlace(t);
  const shares = () => value('cpu', 'kubepods/burstable', sharesFile);
  await resources.ensurePodCgroup(burstable);
  await until(() => shares() === (isV1 ? '512' : '20'));
  resources.observe({
    kind: 'view',
    view: { uid: podUid('dddd-4'), pod: podOf('dddd-4', { requests: { cpu: '1' } }), step: 'syncing' },
  });
  await until(() => shares() === (isV1 ? '1536' : '59'));
  resources.observe({ kind: 'gone', uid: podUid('dddd-4'), pod: podOf('dddd-4', {}) });
  await resources.removePodCgroup(podUid('bbbb-2'));
  await until(() => shares() === (isV1 ? '2' : '1'));
});

test('removal ends what is left in the cgroup, and nothing beside it', async (t) => {
  const { resources, root } = await createPlace(t);
  await resources.ensurePodCgroup(bestEffort);
  await resources.ensurePodCgroup(burstable);
  cgroups.create(`${root}/kubepods/besteffort/podaaaa-1/container`);
  const sleeper = spawn('sleep', ['1000']);
  t.after(() => sleeper.kill('SIGKILL'));
  const ended = once(sleeper, 'exit');
  for (const { mountPoint } of hierarchies) {
    writeFileSync(join(mountPoint, root, 'kubepods/besteffort/podaaaa-1/container/cgroup.procs'), String(sleeper.pid));
  }
  await resources.removePodCgroup(podUid('aaaa-1'));
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  for (const { mountPoint } of hierarchies) {
    assert.equal(existsSync(join(mountPoint, root, 'kubepods/besteffort/podaaaa-1')), false);
  }
  assert.deepEqual(await resources.listPodCgroups(), ['bbbb-2']);
  await resources.removePodCgroup(podUid('aaaa-1'));
  await resources.removePodCgroup(podUid('../../..'));
});

test('a cgroup that an earlier kubelet left half-made is completed', async (t) => {
  const { resources, root, value } = await createPlace(t);
  cgroups.create(`${root}/kubepods/burstable/podbbbb-2`);
  await resources.ensurePodCgroup(burstable);
  assert.equal(value('cpu', 'kubepods/burstable/podbbbb-2', sharesFile), isV1 ? '512' : '20');
});

test('a cgroup that another process removed is created again', async (t) => {
  const { resources, root, value } = await createPlace(t);
  await resources.ensurePodCgroup(burstable);
  await cgroups.remove(`${root}/kubepods/burstable/podbbbb-2`);
  await resources.ensurePodCgroup(burstable);
  assert.equal(value('pids', 'kubepods/burstable/podbbbb-2', 'pids.max'), '64');
});

test('bad names and places are refused', async (t) => {
  const { resources } = await createPlace(t);
  await assert.rejects(resources.ensurePodCgroup(podOf('../x', {})), /can't name a cgroup/);
  const elsewhere = createPlaceless('/kubelet-ts-nowhere');
  await assert.rejects(
    async () => elsewhere.start(new AbortController().signal),
    /cgroupRoot "\/kubelet-ts-nowhere" is not a cgroup/,
  );
});

function createPlaceless(cgroupRoot: string, enforcement: ResourcesConfig['enforcement'] = NO_RESERVATIONS): Resources {
  return createResources(
    {
      clock: createSystemClock(),
      supervisor: createTestSupervisor(createSystemClock()),
      log: createSilentLogger(),
      cgroups,
      systemd: noSystemd,
      onOperation: () => undefined,
      kernel: { read: () => undefined, write: () => assert.fail('there is nothing to write') },
      pid: process.pid,
      isKernelThread: () => true,
      cpus: () => '0',
      machine: () => ({ cpus: 1, memory: 1n, ephemeralStorage: undefined, hugePages: new Map(), pids: undefined }),
      runtimeDriver: () => Promise.resolve(undefined),
      record: () => undefined,
    },
    {
      cgroupsPerQos: cgroupRoot !== '/',
      cgroupRoot,
      cgroupDriver: 'cgroupfs',
      pods: {
        podLevel: true,
        cpuCfsQuota: true,
        cpuCfsQuotaPeriod: 100_000,
        podPidsLimit: -1,
        maxPods: 1,
        podsPerCore: 0,
        protectMemory: false,
      },
      enforcement,
      own: { kubeletCgroups: '', systemCgroups: '' },
      protectKernel: false,
      protectMemory: undefined,
      reservedMemoryPercent: undefined,
      enforcePods: true,
    },
  );
}

test('reserved cgroups are held to what is reserved, and must be there', async (t) => {
  const systemReservedCgroup = `/kubelet-ts-test-${process.pid}-reserved`;
  cgroups.create(systemReservedCgroup);
  t.after(() => cgroups.remove(systemReservedCgroup));
  const reservations = {
    systemReserved: { cpu: '500m', memory: '1Gi' },
    kubeReserved: { cpu: '250m' },
    evictionHard: undefined,
  };
  const settings = { ...NONE_ENFORCED, reservations, systemReservedCgroup };
  const { events } = await createPlace(t, { enforcement: { ...settings, enforce: ['system-reserved'] } });
  const reservedValue = (controller: string, file: string) => {
    const hierarchy = hierarchies.find((one) => one.controllers.includes(controller)) ?? hierarchies.at(-1);
    return readFileSync(join(hierarchy?.mountPoint ?? '', systemReservedCgroup, file), 'utf8').trim();
  };
  assert.equal(reservedValue('cpu', sharesFile), isV1 ? '512' : '20');
  assert.equal(reservedValue('memory', memoryFile), String(2 ** 30));
  const updated = `Updated limits on system reserved cgroup ${systemReservedCgroup}`;
  assert.ok(events.some(({ message }) => message === updated));
  const refused = createPlaceless('/', {
    ...NO_RESERVATIONS,
    kubeReservedCgroup: '/nowhere',
    enforce: ['kube-reserved-compressible'],
  });
  const stopping = new AbortController();
  await assert.rejects(
    async () => refused.start(stopping.signal),
    /Failed to enforce Kube Reserved Compressible Cgroup Limits on "\/nowhere": it does not exist/,
  );
  stopping.abort();
});

test('a kubelet does not start where more is reserved than there is', async () => {
  const reservations = { systemReserved: { cpu: '3' }, kubeReserved: { cpu: '100m' }, evictionHard: undefined };
  const place = createPlaceless('/', { ...NONE_ENFORCED, reservations });
  await assert.rejects(
    async () => place.start(new AbortController().signal),
    /invalid Node Allocatable configuration. Resource "cpu" has a reservation of 3100m but capacity of 1. Expected capacity >= reservation./,
  );
});

test('without cgroups for pods nothing is made', async (t) => {
  const { resources, root } = await createPlace(t, { cgroupsPerQos: false });
  await resources.ensurePodCgroup(burstable);
  await resources.removePodCgroup(podUid('bbbb-2'));
  assert.equal(resources.podCgroupParent(burstable), '');
  assert.deepEqual(await cgroups.children(root), []);
});

test('what pods can be promised', async (t) => {
  const { resources } = await createPlace(t);
  const allocatable = Object.fromEntries(
    [...resources.allocatable()].map(([name, { nanos }]) => [name, nanos / 1_000_000n]),
  );
  assert.deepEqual(allocatable, {
    cpu: 1500n,
    memory: (2n ** 34n - 2n ** 30n - 100n * 2n ** 20n) * 1000n,
    pods: 110_000n,
    'ephemeral-storage': 2n ** 36n * 1000n,
  });
});
