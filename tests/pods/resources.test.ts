/** The resources that a pod was admitted with stay its own: a resize is refused, and a pod whose claims can't be met waits. */
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

test('a resize is refused: restarted containers, others and the next kubelet go by what the pod was admitted with', async (t) => {
  const runtime = createFakeRuntime();
  const directory = await podDirectory(t);
  const made: Container[] = [];
  const beside: Pod[] = [];
  const admit = (_: Pod, admitted: readonly Pod[]) => {
    beside.push(...admitted);
    return { kind: 'admitted' } as const;
  };
  const options = { runtime, directory, admit, onContainer: (container: Container) => made.push(container) };
  const refused = (events: readonly { reason: string; message: string }[]) =>
    events.filter(({ reason }) => reason === 'ResizeInfeasible').map(({ message }) => message);
  const running = () => until('a runs', () => runtime.runningOf('a', 'c'));
  {
    await using world = await podWorld(t, options);
    const { pods, events } = world;
    pods.setDesired([sized('100m', 1)], true);
    const first = await running();
    const bigger = sized('200m', 2);
    pods.setDesired([bigger], true);
    const view = await until('the resize is seen', () => pods.views().find(({ asked }) => asked !== undefined));
    assert.equal(view.asked, bigger);
    assert.deepEqual(view.pod.spec.containers[0]?.resources, resources('100m'));
    assert.equal(view.pod.metadata.generation, 2);
    assert.equal(runtime.runningOf('a', 'c'), first, 'nothing is restarted for it');
    const [message = ''] = refused(events);
    assert.match(
      message,
      /^Pod resize Infeasible: \{"containers":\[\{"name":"c","resources":\{"requests":\{"cpu":"200m"/,
    );
    assert.match(message, /"generation":2,"error":"In-place resize is not supported/);

    runtime.exit(first, 1);
    await until('a runs again', () =>
      runtime.runningOf('a', 'c') === first ? undefined : runtime.runningOf('a', 'c'),
    );
    pods.setDesired([bigger, makePod('b')], true);
    await until('b runs', () => runtime.runningOf('b', 'c'));
    assert.equal(refused(events).length, 1, 'one request is refused once');
  }
  const { metadata } = sized('200m', 2);
  const told = { type: 'PodResizePending', status: 'True', reason: 'Infeasible', observedGeneration: 2 } as const;
  await using world = await podWorld(t, options);
  const { pods, events } = world;
  pods.setDesired([{ ...sized('200m', 2), metadata, status: { conditions: [told] } }, makePod('b')], true);
  const view = await until('a is known', () => pods.view(podUid('uid-a')));
  assert.deepEqual(view.pod.spec.containers[0]?.resources, resources('100m'));
  assert.deepEqual(refused(events), [], 'the earlier kubelet has said so');
  pods.setDesired([sized('300m', 3), makePod('b')], true);
  await until('another request is refused too', () => (refused(events).length === 1 ? true : undefined));
  pods.setDesired([sized('0.1', 4), makePod('b')], true);
  await until('it is taken back', () =>
    pods.views().every(({ asked }) => asked === undefined) && pods.view(podUid('uid-a'))?.pod.metadata.generation === 4
      ? true
      : undefined,
  );
  assert.ok(made.filter(({ resources: own }) => own?.requests?.['cpu'] === '100m').length >= 2);
  assert.deepEqual(made.filter(({ resources: own }) => own?.requests?.['cpu'] === '200m').length, 0);
  const seenBeside = beside
    .filter(({ metadata: { name } }) => name === 'a')
    .map(({ spec }) => spec.containers[0]?.resources);
  assert.deepEqual(seenBeside, [resources('100m')], 'b was admitted beside what a has');
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
