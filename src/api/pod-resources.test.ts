import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from './container.ts';
import type { ResourceList } from './meta.ts';
import type { Pod, PodSpec } from './pod.ts';
import {
  containerRequests,
  type PodResourceOptions,
  podLimits,
  podRequests,
  type Quantities,
} from './pod-resources.ts';
import { formatQuantity } from './quantity.ts';

const regular = (requests: ResourceList, limits: ResourceList = {}): Container => ({
  name: 'c',
  resources: { requests, limits },
});
const sidecar = (requests: ResourceList): Container => ({ ...regular(requests), restartPolicy: 'Always' });
const pod = (spec: Partial<PodSpec>): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], ...spec },
});
const plain = (quantities: Quantities) =>
  Object.fromEntries([...quantities].map(([name, quantity]) => [name, formatQuantity(quantity)]));
const all: PodResourceOptions = { podLevel: true, overhead: true };

test('requests: what runs together, or the neediest moment of initialization', () => {
  const cases: readonly { what: string; spec: Partial<PodSpec>; want: ResourceList }[] = [
    { what: 'nothing', spec: { containers: [{ name: 'c' }] }, want: {} },
    {
      what: 'a sum',
      spec: { containers: [regular({ cpu: '100m' }), regular({ cpu: '1', memory: '1Gi' })] },
      want: { cpu: '1100m', memory: '1Gi' },
    },
    {
      what: 'a larger init container',
      spec: { containers: [regular({ cpu: '100m' })], initContainers: [regular({ cpu: '2' }), regular({ cpu: '1' })] },
      want: { cpu: '2' },
    },
    {
      what: 'a sidecar runs with the others',
      spec: { containers: [regular({ cpu: '1' })], initContainers: [sidecar({ cpu: '500m' })] },
      want: { cpu: '1500m' },
    },
    {
      what: 'an init container after a sidecar runs beside it',
      spec: { containers: [regular({ cpu: '1' })], initContainers: [sidecar({ cpu: '500m' }), regular({ cpu: '3' })] },
      want: { cpu: '3500m' },
    },
    {
      what: 'one before the sidecar does not',
      spec: { containers: [regular({ cpu: '1' })], initContainers: [regular({ cpu: '3' }), sidecar({ cpu: '500m' })] },
      want: { cpu: '3' },
    },
    {
      what: 'pod-level ones win, where they can be pod-level',
      spec: {
        containers: [regular({ cpu: '1', memory: '1Mi' })],
        resources: { requests: { cpu: '4', 'ephemeral-storage': '1Gi' } },
      },
      want: { cpu: '4', memory: '1Mi' },
    },
    {
      what: 'overhead is added',
      spec: { containers: [regular({ cpu: '1' })], overhead: { cpu: '10m', memory: '8Mi' } },
      want: { cpu: '1010m', memory: '8Mi' },
    },
    {
      what: 'a text that is no quantity counts as nothing',
      spec: { containers: [regular({ cpu: 'many' }), regular({ cpu: '1' })] },
      want: { cpu: '1' },
    },
  ];
  for (const { what, spec, want } of cases) assert.deepEqual(plain(podRequests(pod(spec), all)), want, what);
});

test('limits: overhead makes no limit where there was none', () => {
  const spec = { containers: [regular({}, { memory: '8Mi' })], overhead: { cpu: '10m', memory: '8Mi' } };
  assert.deepEqual(plain(podLimits(pod(spec), all)), { memory: '16Mi' });
  assert.deepEqual(plain(podLimits(pod(spec), { ...all, overhead: false })), { memory: '8Mi' });
});

test('the gate decides on pod-level resources', () => {
  const own = pod({
    containers: [regular({ cpu: '1' }, { cpu: '1' })],
    resources: { requests: { cpu: '2' }, limits: { cpu: '3' } },
  });
  assert.deepEqual(plain(podRequests(own, { ...all, podLevel: false })), { cpu: '1' });
  assert.deepEqual(plain(podLimits(own, { ...all, podLevel: false })), { cpu: '1' });
  assert.deepEqual(plain(podLimits(own, all)), { cpu: '3' });
  assert.deepEqual(plain(containerRequests(own)), { cpu: '1' });
});
