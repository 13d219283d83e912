/** The resources that a pod was admitted with stay its own until a resize fits, and a pod whose claims can't be met waits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../src/api/container.ts';
import { podUid } from '../../src/api/ids.ts';
import type { Pod } from '../../src/api/pod.ts';
import { until } from '../node/pod-support.ts';
import { createFakeRuntime } from './fake-runtime.ts';
import { makePod, podDirectory, podWorld } from './pod-world.ts';

const resources = (cpu: string) => ({ requests: { cpu, memory: '16Mi' }, limits: { memory: '32Mi' } });
const sized = (cpu: string, generation: number): Pod => {
  const pod = makePod('a', { container: { resources: resources(cpu) } });
  return { ...pod, metadata: { ...pod.metadata, generation } };
};

test('until a resize fits, restarted containers, other pods and the next kubelet go by what the pod has', async (t) => {
  const runtime = createFakeRuntime();
  const directory = await podDirectory(t);
  const made: Container[] = [];
  const beside: Pod[] = [];
  let isFull = true;
  const admit = (pod: Pod, admitted: readonly Pod[]) => {
    if (pod.metadata.name === 'b') beside.push(...admitted);
    const isLarge = pod.spec.containers[0]?.resources?.requests?.['cpu'] === '200m';
    if (isLarge && isFull) return { kind: 'rejected', reason: 'OutOfcpu', message: 'full' } as const;
    return { kind: 'admitted' } as const;
  };
  const options = { runtime, directory, admit, onContainer: (container: Container) => made.push(container) };
  const reported = (events: readonly { reason: string; message: string }[], wanted: string) =>
    events.filter(({ reason }) => reason === wanted).map(({ message }) => message);
  const running = () => until('a runs', () => runtime.runningOf('a', 'c'));
  const bigger = sized('200m', 2);
  {
    await using world = await podWorld(t, options);
    const { pods, events } = world;
    pods.setDesired([sized('100m', 1)], true);
    const first = await running();
    pods.setDesired([bigger], true);
    const view = await until('the resize waits', () =>
      pods.views().find(({ asked, resize }) => asked !== undefined && resize?.pending !== undefined),
    );
    assert.equal(view.asked, bigger);
    assert.deepEqual(view.pod.spec.containers[0]?.resources, resources('100m'));
    assert.equal(view.pod.metadata.generation, 2);
    assert.equal(runtime.runningOf('a', 'c'), first, 'nothing is restarted for it');
    const [message = ''] = reported(events, 'ResizeDeferred');
    assert.match(
      message,
      /^Pod resize OutOfcpu: \{"containers":\[\{"name":"c","resources":\{"requests":\{"cpu":"200m"/,
    );
    assert.match(message, /"generation":2,"error":"full"/);

    runtime.exit(first, 1);
    await until('a runs again', () =>
      runtime.runningOf('a', 'c') === first ? undefined : runtime.runningOf('a', 'c'),
    );
    pods.setDesired([bigger, makePod('b')], true);
    await until('b runs', () => runtime.runningOf('b', 'c'));
    assert.equal(reported(events, 'ResizeDeferred').length, 1, 'it is reported once');
  }
  const told = { type: 'PodResizePending', status: 'True', reason: 'Deferred', message: 'full', observedGeneration: 2 };
  const second = { ...bigger, status: { conditions: [told] } } as Pod;
  await using world = await podWorld(t, options);
  const { pods, events } = world;
  pods.setDesired([second, makePod('b')], true);
  const view = await until('a is known', () => pods.view(podUid('uid-a')));
  assert.deepEqual(view.pod.spec.containers[0]?.resources, resources('100m'));
  assert.deepEqual(made.filter(({ resources: own }) => own?.requests?.['cpu'] === '200m').length, 0);
  const seenBeside = beside
    .filter(({ metadata: { name } }) => name === 'a')
    .map(({ spec }) => spec.containers[0]?.resources);
  assert.deepEqual(seenBeside[0], resources('100m'), 'b was admitted beside what a has');
  isFull = false;
  pods.setDesired([second], true);
  await until('a is resized', () => (reported(events, 'ResizeCompleted').length === 1 ? true : undefined));
  assert.deepEqual(reported(events, 'ResizeDeferred'), [], 'the earlier kubelet has reported it');
  const resized = pods.view(podUid('uid-a'));
  assert.deepEqual([resized?.asked, resized?.pod.spec.containers[0]?.resources], [undefined, resources('200m')]);
  assert.ok(runtime.load.begun.includes('update a'));
});

test('what a pod was given is forgotten with it', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods } = world;
  pods.setDesired([sized('100m', 1)], true);
  await until('a runs', () => runtime.runningOf('a', 'c'));
  pods.setDesired([], true);
  await until('a is gone', () => (runtime.picture().length === 0 && pods.views().length === 0 ? true : undefined));
  pods.setDesired([sized('200m', 1)], true);
  const view = await until('it is back', () => pods.view(podUid('uid-a')));
  assert.equal(view.asked, undefined);
  assert.deepEqual(view.pod.spec.containers[0]?.resources, resources('200m'));
});

test('a pod with resource claims waits and says why, holds up no other, and can be deleted', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods, events } = world;
  const claiming = makePod('claims', {
    spec: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpus' }] },
    container: { resources: { claims: [{ name: 'gpu' }] } },
  });
  const extended: Pod = {
    ...makePod('extended'),
    status: { extendedResourceClaimStatus: { resourceClaimName: 'made-up' } },
  };
  pods.setDesired([claiming, extended, makePod('plain')], true);
  await until('the other runs', () => runtime.runningOf('plain', 'c'));
  const said = (name: string) =>
    until(`${name} says why`, () => events.find(({ pod, type }) => pod.name === name && type === 'Warning'));
  const { reason, message } = await said('claims');
  assert.equal(reason, 'FailedPrepareDynamicResources');
  assert.equal(message, 'Failed to prepare dynamic resources: resource claims are not supported yet (gpu)');
  assert.match((await said('extended')).message, /\(made-up\)$/);
  assert.deepEqual(
    runtime.load.begun.filter((what) => /claims|extended/.test(what)),
    [],
    'nothing of them was started',
  );
  pods.setDesired([makePod('plain')], true);
  await until('they are gone', () => (pods.views().length === 1 ? true : undefined));
});
