import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  exited,
  makeContainer,
  makePod,
  makeSandbox,
  makeSnapshot,
  observe,
  sidecar,
} from '../../tests/plan/builders.ts';
import { describe } from '../../tests/plan/describe.ts';
import type { Container, ResourceRequirements } from '../api/container.ts';
import type { PodSpec } from '../api/pod.ts';
import { allocationOf } from '../model/allocation.ts';
import type { ObservedContainer } from '../model/observation.ts';
import type { Plan } from '../model/plan.ts';
import { computePlan } from './compute-plan.ts';

const both = (cpu: string, memory: string): ResourceRequirements => ({
  requests: { cpu, memory },
  limits: { cpu, memory },
});
const named = (name: string, resources: ResourceRequirements, more: Partial<Container> = {}): Container => ({
  name,
  image: 'i',
  resources,
  ...more,
});
const restart = (resourceName: string) => ({
  resizePolicy: [{ resourceName, restartPolicy: 'RestartContainer' as const }],
});
const SMALL = both('100m', '32Mi');
const LARGE = both('200m', '64Mi');

interface Resize {
  readonly before: Partial<PodSpec>;
  readonly after: Partial<PodSpec>;
  readonly containers?: readonly ObservedContainer[];
  readonly podLevel?: boolean;
  readonly initContainers?: boolean;
  /** Names that are missing in the record. */
  readonly unknown?: readonly string[];
}

function plan({ before, after, containers, podLevel = true, initContainers = true, unknown = [] }: Resize): Plan {
  const given = allocationOf(makePod(before), { podLevel });
  const known = Object.entries(given.containers).filter(([name]) => !unknown.includes(name));
  const inForce = { ...given, containers: Object.fromEntries(known) };
  const pod = makePod(after);
  const all = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const observation = observe(containers ?? all.map(({ name }) => makeContainer(name)), [makeSandbox()]);
  return computePlan({ ...makeSnapshot(pod, observation), resize: { inForce, podLevel, initContainers } });
}

const lines = ({ actions, resizing }: Plan) => [...actions.map(describe), ...(resizing ? ['resizing'] : [])];
const one = (resources: ResourceRequirements, more: Partial<Container> = {}) => ({
  containers: [named('c', resources, more)],
});

test('nothing is done where all is in force, also where it is written otherwise', () => {
  assert.deepEqual(lines(plan({ before: one(SMALL), after: one(both('0.1', '32768Ki')) })), []);
});

test('a running container gets other limits in place', () => {
  const resized = plan({ before: one(SMALL), after: one(LARGE) });
  assert.deepEqual(lines(resized), ['resize c', 'resizing']);
  const [action] = resized.actions;
  assert.ok(action?.kind === 'pod-resize');
  assert.deepEqual(action.containers, [{ name: 'c', id: 'c-id', grows: true }]);
});

test('less memory is checked against what is used, and so is a limit that was not there', () => {
  const limits = ['64Mi', undefined].map((memory) => {
    const before = { requests: { memory: '16Mi' }, limits: memory === undefined ? {} : { memory } };
    const after = { requests: { memory: '16Mi' }, limits: { memory: '32Mi' } };
    const [action] = plan({ before: one(before), after: one(after) }).actions;
    return action?.kind === 'pod-resize' ? action.containers[0]?.memoryLimit : undefined;
  });
  assert.deepEqual(limits, [32 * 1024 * 1024, 32 * 1024 * 1024]);
});

test('what only shrinks comes before what grows', () => {
  const before = { containers: [named('a', SMALL), named('b', LARGE), named('d', SMALL)] };
  const after = { containers: [named('a', LARGE), named('b', SMALL), named('d', SMALL)] };
  assert.deepEqual(lines(plan({ before, after })), ['resize b a', 'resizing']);
});

test('a container restarts where its policy says so for what has changed, and the pod is resized in between', () => {
  const stop = 'stop c-id (Container c resize requires restart; ; 30 s)';
  const changed = both('100m', '64Mi');
  assert.deepEqual(lines(plan({ before: one(SMALL), after: one(changed, restart('memory')) })), [
    stop,
    'resize',
    'start regular c#1',
    'resizing',
  ]);
  assert.deepEqual(lines(plan({ before: one(SMALL), after: one(changed, restart('cpu')) })), ['resize c', 'resizing']);
});

test('after an interrupted resize nothing restarts: the limits are given again', () => {
  const resized = plan({ before: one(LARGE), after: one(LARGE, restart('memory')), unknown: ['c'] });
  assert.deepEqual(lines(resized), ['resize c', 'resizing']);
});

test('a container that does not run is started with its new resources, after the pod has room for it', () => {
  const resized = plan({ before: one(SMALL), after: one(LARGE), containers: [exited('c', 1)] });
  assert.deepEqual(lines(resized), ['resize', 'start regular c#1']);
});

test('resources of the pod: its cgroup, and the containers that are held to them', () => {
  const spec = (resources: ResourceRequirements) => ({
    resources,
    containers: [named('own', SMALL), named('free', {})],
  });
  assert.deepEqual(lines(plan({ before: spec(SMALL), after: spec(LARGE) })), ['resize free', 'resizing']);
  const off = plan({ before: spec(SMALL), after: spec(LARGE), podLevel: false });
  assert.deepEqual(lines(off), [], 'without the gate they are not resized');
});

test('sidecars are resized; init containers that have to end where the gate allows it', () => {
  const side = (resources: ResourceRequirements) => ({
    initContainers: [sidecar('s', { resources })],
    containers: [named('c', SMALL)],
  });
  assert.deepEqual(lines(plan({ before: side(SMALL), after: side(LARGE) })), ['resize s', 'resizing']);
  const init = (resources: ResourceRequirements) => ({
    initContainers: [named('i', resources)],
    containers: [named('c', SMALL)],
  });
  const request = { before: init(SMALL), after: init(LARGE), containers: [makeContainer('i')] };
  assert.deepEqual(lines(plan(request)), ['resize i', 'resizing']);
  assert.deepEqual(lines(plan({ ...request, initContainers: false })), []);
});
