import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../api/container.ts';
import type { Pod, PodSpec } from '../../api/pod.ts';
import type { QosClass } from '../../api/pod-status.ts';
import { oomScoreAdjustment } from './oom-score.ts';

const asks = (memory: string, more: Partial<Container> = {}): Container => ({
  name: 'c',
  resources: { requests: { memory } },
  ...more,
});
const pod = (spec: Partial<PodSpec>): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], ...spec },
});
const score = (of: Pod, container: Container, qosClass: QosClass = 'Burstable', podLevel = true) =>
  oomScoreAdjustment({
    pod: of,
    container,
    qosClass,
    settings: { memoryCapacity: 1000n * 1024n * 1024n },
    gates: () => podLevel,
  });

test('between the protected and the first to go', () => {
  const cases: readonly (readonly [Container, QosClass, number])[] = [
    [asks('100Mi'), 'Guaranteed', -997],
    [asks('100Mi'), 'BestEffort', 1000],
    [asks('100Mi'), 'Burstable', 900],
    [asks('0'), 'Burstable', 999],
    [asks('1Ki'), 'Burstable', 999],
    [asks('999Mi'), 'Burstable', 3],
    [asks('5000Mi'), 'Burstable', 3],
  ];
  for (const [container, qos, want] of cases)
    assert.equal(score(pod({ containers: [container] }), container, qos), want);
});

test('pods that the node needs are protected whatever their class', () => {
  const critical = pod({ containers: [], priority: 2_000_001_000, priorityClassName: 'system-node-critical' });
  assert.equal(score(critical, asks('0'), 'BestEffort'), -997);
});

test('a sidecar goes no earlier than the container that it serves', () => {
  const side = asks('10Mi', { name: 'side', restartPolicy: 'Always' });
  const spec = { containers: [asks('300Mi', { name: 'a' }), asks('200Mi', { name: 'b' })], initContainers: [side] };
  assert.equal(score(pod(spec), side), 800);
  const big = asks('500Mi', { name: 'side', restartPolicy: 'Always' });
  assert.equal(score(pod({ ...spec, initContainers: [big] }), big), 500);
  const init = asks('10Mi', { name: 'init' });
  assert.equal(score(pod({ ...spec, initContainers: [init] }), init), 990, 'an ordinary init container serves no one');
});

test('what a pod asks for beyond its containers is shared out', () => {
  const a = asks('100Mi', { name: 'a' });
  const spec: Partial<PodSpec> = { containers: [a, { name: 'b' }], resources: { requests: { memory: '300Mi' } } };
  assert.equal(score(pod(spec), a), 800);
  assert.equal(score(pod(spec), { name: 'b' }), 900);
  assert.equal(score(pod(spec), a, 'Burstable', false), 900, 'not without the gate');
  assert.equal(score(pod({ ...spec, resources: { requests: { cpu: '1' } } }), a), 900);
});
