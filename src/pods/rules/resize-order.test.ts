import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { orderResizes } from './resize-order.ts';

const pod = (name: string, cpu: string, more: Partial<Pod['spec']> = {}, limits: object = {}): Pod => ({
  metadata: { name, namespace: 'n', uid: name },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu, memory: '1' }, ...limits } }], ...more },
});
const grows = (name: string, since: number | undefined, more: Partial<Pod['spec']> = {}, limits: object = {}) => ({
  requested: pod(name, '2', more, limits),
  allocated: pod(name, '1', more),
  since,
});

test('what requests no more comes first, then priority, then the QoS class, then who waits longest', () => {
  const order = orderResizes(
    [
      grows('new', undefined),
      grows('late', 20),
      grows('early', 10),
      grows('guaranteed', 30, {}, { limits: { cpu: '2', memory: '1' } }),
      grows('important', 30, { priority: 5 }),
      { requested: pod('less', '1'), allocated: pod('less', '2'), since: undefined },
    ],
    { podLevel: true },
  );
  assert.deepEqual(
    order.map(({ requested }) => requested.metadata.name),
    ['less', 'important', 'guaranteed', 'early', 'late', 'new'],
  );
});
