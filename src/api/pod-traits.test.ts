import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from './pod.ts';
import { allContainers, isCriticalPod, isNodeCriticalPod, isSidecar, isStaticPod, podTitle } from './pod-traits.ts';

const pod = (annotations: Record<string, string>, spec: Partial<PodSpec> = {}): Pod => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'u-1', annotations },
  spec: { containers: [], ...spec },
});

test('static and critical pods', () => {
  const source = 'kubernetes.io/config.source';
  const cases: readonly { what: string; pod: Pod; isStatic: boolean; critical: boolean; node: boolean }[] = [
    { what: 'no source known', pod: pod({}), isStatic: false, critical: false, node: false },
    { what: 'from the API server', pod: pod({ [source]: 'api' }), isStatic: false, critical: false, node: false },
    { what: 'from a file', pod: pod({ [source]: 'file' }), isStatic: true, critical: true, node: false },
    {
      what: 'a mirror',
      pod: pod({ 'kubernetes.io/config.mirror': 'x' }),
      isStatic: false,
      critical: true,
      node: false,
    },
    { what: 'just below', pod: pod({}, { priority: 1_999_999_999 }), isStatic: false, critical: false, node: false },
    {
      what: 'cluster critical',
      pod: pod({}, { priority: 2_000_000_000, priorityClassName: 'system-cluster-critical' }),
      isStatic: false,
      critical: true,
      node: false,
    },
    {
      what: 'node critical',
      pod: pod({}, { priority: 2_000_001_000, priorityClassName: 'system-node-critical' }),
      isStatic: false,
      critical: true,
      node: true,
    },
    {
      what: 'the class name alone',
      pod: pod({}, { priorityClassName: 'system-node-critical' }),
      isStatic: false,
      critical: false,
      node: false,
    },
  ];
  for (const { what, pod, isStatic, critical, node } of cases) {
    assert.equal(isStaticPod(pod), isStatic, what);
    assert.equal(isCriticalPod(pod), critical, what);
    assert.equal(isNodeCriticalPod(pod), node, what);
  }
});

test('containers of a pod', () => {
  const side = { name: 'side', restartPolicy: 'Always' } as const;
  const main = { name: 'main', restartPolicy: 'Always' } as const;
  const both = pod({}, { initContainers: [side], containers: [main], ephemeralContainers: [{ name: 'debug' }] });
  assert.deepEqual(
    allContainers(both).map(({ name }) => name),
    ['side', 'main', 'debug'],
  );
  assert.equal(isSidecar(both, side), true);
  assert.equal(isSidecar(both, main), false, 'a regular container with its own restart policy is no sidecar');
  assert.equal(podTitle(both), 'web_shop(u-1)');
});
