import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Container } from '../api/container.ts';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { quantityValue, zeroQuantity } from '../api/quantity.ts';
import type { Assigned } from '../model/assignment.ts';
import {
  assign,
  createGround,
  never,
  type PluginOptions,
  podWith,
  RESOURCE,
  startDevices,
  startPlugin,
  type TestDevices,
} from './devices-testing.ts';

const DONE = { kind: 'done' };
const allocatableOf = ({ devices }: TestDevices): string => {
  const quantity = devices.allocatable().get(RESOURCE);
  return quantity === undefined ? 'none' : String(quantityValue(quantity));
};
const idsOf = ({ devices }: TestDevices, uid: string, container = 'main') =>
  devices.devicesOf(podUid(uid), container).flatMap((one) => [...one.devices.keys()]);
const mainOf = (pod: Pod): Container => pod.spec.containers[0] ?? { name: 'missing' };
const refused = (assigned: Assigned) => (assigned.kind === 'refused' ? assigned.message : assigned.kind);

async function registered(t: TestContext, options: PluginOptions = {}) {
  const ground = await createGround(t);
  const kubelet = await startDevices(ground);
  const plugin = await startPlugin(ground, options);
  await plugin.register();
  const count = String((options.devices ?? ['a', 'b']).length);
  await kubelet.until('listed', () => allocatableOf(kubelet) === count);
  return { ground, kubelet, plugin };
}

test('a plugin registers, its devices are counted, a pod gets them and they are free again after it', async (t) => {
  const { kubelet, plugin } = await registered(t);
  const { provider } = kubelet.devices;
  assert.equal(provider.concerns(podWith('one', { main: 1 })), true);
  assert.deepEqual(await assign(kubelet.devices, podWith('one', { main: 1 })), DONE);
  assert.deepEqual(plugin.allocated, [['a']]);
  const share = await provider.prepare(podWith('one', { main: 1 }), mainOf(podWith('one', { main: 1 })), never);
  assert.deepEqual(share.env, [{ name: 'GPU', value: '1' }]);
  assert.equal(
    refused(await assign(kubelet.devices, podWith('two', { main: 2 }))),
    `Allocate failed due to requested number of devices unavailable for ${RESOURCE}. Requested: 2, Available: 1, which is unexpected`,
  );
  provider.release(podUid('one'));
  assert.deepEqual(await assign(kubelet.devices, podWith('two', { main: 2 })), DONE);
  assert.deepEqual(idsOf(kubelet, 'two').toSorted(), ['a', 'b']);
});

test('containers reuse what ordinary init containers of their pod had', async (t) => {
  const { kubelet } = await registered(t);
  assert.deepEqual(await assign(kubelet.devices, podWith('one', { main: 1, other: 1 }, { init: 2 })), DONE);
  assert.deepEqual(idsOf(kubelet, 'one', 'init').toSorted(), ['a', 'b']);
  assert.deepEqual([...idsOf(kubelet, 'one'), ...idsOf(kubelet, 'one', 'other')].toSorted(), ['a', 'b']);
});

test('after a kill a container has the same devices, and no other pod gets them', async (t) => {
  const { ground, kubelet, plugin } = await registered(t);
  const pod = podWith('one', { main: 1 });
  assert.deepEqual(await assign(kubelet.devices, pod), DONE);
  const before = idsOf(kubelet, 'one');
  const written = await readFile(join(ground.directory, 'kubelet_internal_checkpoint'), 'utf8');
  await kubelet.stop();
  await plugin.stop();
  await writeFile(join(ground.directory, 'kubelet_internal_checkpoint'), written);

  const next = await startDevices(ground);
  assert.deepEqual(idsOf(next, 'one'), before);
  assert.equal(allocatableOf(next), '0', 'until its plugin has registered again');
  assert.equal((await assign(next.devices, pod)).kind, 'waiting');
  const fresh = await startPlugin(ground, { name: 'again.sock' });
  await fresh.register();
  await next.until('listed', () => allocatableOf(next) === '2');
  assert.deepEqual(await assign(next.devices, pod), DONE);
  assert.deepEqual(fresh.allocated, [], 'the plugin is not asked twice');
  assert.deepEqual(await assign(next.devices, podWith('two', { main: 1 })), DONE);
  assert.notDeepEqual(idsOf(next, 'two'), before);
});

test('devices of pods that ended while no kubelet ran are free', async (t) => {
  const { ground, kubelet, plugin } = await registered(t);
  assert.deepEqual(await assign(kubelet.devices, podWith('old', { main: 2 })), DONE);
  await kubelet.stop();
  await plugin.stop();
  const next = await startDevices(ground, { knownPods: () => new Set(['new']) });
  const fresh = await startPlugin(ground, { name: 'again.sock' });
  await fresh.register();
  await next.until('listed', () => allocatableOf(next) === '2');
  assert.deepEqual(await assign(next.devices, podWith('new', { main: 2 })), DONE);
});

test('an unhealthy device is not given away, and the pod that has it is reported', async (t) => {
  const { kubelet, plugin } = await registered(t);
  assert.deepEqual(await assign(kubelet.devices, podWith('one', { main: 1 })), DONE);
  plugin.list([{ id: 'a', health: 'Unhealthy' }, { id: 'b' }]);
  await kubelet.until('unhealthy', () => allocatableOf(kubelet) === '1');
  assert.deepEqual(kubelet.changedPods.slice(-1), ['one']);
  assert.deepEqual(kubelet.devices.healthOf(podUid('one'), 'main'), [
    { resource: RESOURCE, devices: [{ id: 'a', health: 'Unhealthy' }] },
  ]);
  assert.match(
    refused(await assign(kubelet.devices, podWith('one', { main: 1 }))),
    /previously allocated devices are no longer healthy; cannot allocate unhealthy devices/,
  );
});

test('when its plugin is gone the capacity stays, nothing is allocatable, and pods wait', async (t) => {
  const { kubelet, plugin } = await registered(t);
  await plugin.stop();
  await kubelet.until('gone', () => allocatableOf(kubelet) === '0');
  assert.equal(String(quantityValue(kubelet.devices.capacity().get(RESOURCE) ?? zeroQuantity)), '2');
  const assigned = await assign(kubelet.devices, podWith('one', { main: 1 }));
  assert.ok(assigned.kind === 'waiting' && assigned.message.includes(RESOURCE));
  assert.ok(kubelet.events.some(({ reason }) => reason === 'DevicePluginGone'));
});

test('what can not be registered is answered with the reason, and the kubelet goes on', async (t) => {
  const ground = await createGround(t);
  const kubelet = await startDevices(ground);
  const plugin = await startPlugin(ground);
  await assert.rejects(
    plugin.register('v9'),
    /code = Unknown desc = requested API version "v9" is not supported by kubelet. Supported version is \["v1beta1"\]/,
  );
  await assert.rejects(plugin.register('v1beta1', 'cpu'), /code = Unknown desc = the ResourceName "cpu" is invalid/);
  await plugin.stop();
  await assert.rejects(
    startPlugin(ground, { name: 'other.sock' }).then(async (gone) => {
      await gone.stop();
      await gone.register();
    }),
    /failed to get device plugin options/,
  );
  assert.ok(kubelet.events.some(({ reason }) => reason === 'DevicePluginRegistrationFailed'));
  assert.equal(kubelet.devices.problem(), undefined);
});

test('a plugin that refuses or answers nothing fails the pod with its words', async (t) => {
  const allocate = () => Promise.reject(new Error('no such thing'));
  const { kubelet } = await registered(t, { allocate });
  assert.equal(
    refused(await assign(kubelet.devices, podWith('one', { main: 1 }))),
    'Allocate failed due to rpc error: code = Unknown desc = no such thing, which is unexpected',
  );
  assert.deepEqual(idsOf(kubelet, 'one'), [], 'its devices are free again');
});

test('a plugin chooses among what is free, and is called before the container starts', async (t) => {
  const { kubelet, plugin } = await registered(t, { preStart: true, preferred: () => ['b', 'nonsense'] });
  const pod = podWith('one', { main: 1 });
  assert.deepEqual(await assign(kubelet.devices, pod), DONE);
  assert.deepEqual(plugin.allocated, [['b']]);
  await kubelet.devices.provider.prepare(pod, mainOf(pod), never);
  assert.deepEqual(plugin.started, [['b']]);
});

test('a plugin that registers again takes the place of the old one', async (t) => {
  const { ground, kubelet, plugin } = await registered(t);
  const fresh = await startPlugin(ground, { name: 'again.sock', devices: [{ id: 'c' }] });
  await fresh.register();
  await kubelet.until('listed', () => allocatableOf(kubelet) === '1');
  await plugin.stop();
  assert.deepEqual(await assign(kubelet.devices, podWith('one', { main: 1 })), DONE);
  assert.deepEqual(fresh.allocated, [['c']]);
});

test('hints say on which NUMA nodes devices are to be had', async (t) => {
  const devices = [
    { id: 'a', node: 0 },
    { id: 'b', node: 1 },
    { id: 'c', node: 1 },
  ];
  const { kubelet } = await registered(t, { devices });
  const pod = podWith('one', { main: 2 });
  const hints = kubelet.devices.provider.hintsFor(pod, mainOf(pod)).get(RESOURCE);
  assert.deepEqual(hints, [
    { affinity: 0b10, preferred: true },
    { affinity: 0b11, preferred: false },
  ]);
  const hint = { affinity: 0b10, preferred: true };
  const request = { pod, container: mainOf(pod), hint };
  assert.deepEqual(await kubelet.devices.provider.allocate(request, never), DONE);
  assert.deepEqual(idsOf(kubelet, 'one').toSorted(), ['b', 'c']);
});

test('10,000 devices are listed, updated and allocated', async (t) => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({ id: `device-${index}`, node: index % 2 }));
  const { kubelet, plugin } = await registered(t, { devices: many });
  assert.deepEqual(await assign(kubelet.devices, podWith('one', { main: 4 })), DONE);
  const began = performance.now();
  assert.deepEqual(await assign(kubelet.devices, podWith('two', { main: 4 })), DONE);
  t.diagnostic(`allocation ${(performance.now() - began).toFixed(1)} ms`);
  plugin.list([...many.slice(1), { id: 'device-0', health: 'Unhealthy', node: 0 }]);
  const updated = performance.now();
  await kubelet.until('updated', () => allocatableOf(kubelet) === '9999');
  t.diagnostic(`update ${(performance.now() - updated).toFixed(1)} ms`);
});
