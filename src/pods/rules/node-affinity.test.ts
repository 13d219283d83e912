import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelectorTerm, Pod, PodSpec } from '../../api/pod.ts';
import { matchesNode } from './node-affinity.ts';

const node = { name: 'one', labels: { zone: 'a', size: '10', empty: '' } };
const podOf = (spec: Partial<PodSpec>): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], ...spec },
});
const requiring = (...nodeSelectorTerms: readonly NodeSelectorTerm[]) =>
  podOf({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } });
const expression = (key: string, operator: string, ...values: readonly string[]) =>
  ({ matchExpressions: [{ key, operator, values }] }) as NodeSelectorTerm;
const field = (key: string, operator: string, ...values: readonly string[]) =>
  ({ matchFields: [{ key, operator, values }] }) as NodeSelectorTerm;

test('node selectors', () => {
  assert.equal(matchesNode(podOf({}), node), true);
  assert.equal(matchesNode(podOf({ nodeSelector: { zone: 'a', empty: '' } }), node), true);
  assert.equal(matchesNode(podOf({ nodeSelector: { zone: 'a', size: '11' } }), node), false);
  assert.equal(matchesNode(podOf({ nodeSelector: { nothing: '' } }), node), false);
});

test('terms of affinity', () => {
  const cases: readonly (readonly [NodeSelectorTerm, boolean])[] = [
    [expression('zone', 'In', 'a', 'b'), true],
    [expression('zone', 'In', 'b'), false],
    [expression('zone', 'In'), false],
    [expression('none', 'In', ''), false],
    [expression('zone', 'NotIn', 'b'), true],
    [expression('none', 'NotIn', 'b'), true],
    [expression('zone', 'NotIn', 'a'), false],
    [expression('zone', 'NotIn'), false],
    [expression('empty', 'Exists'), true],
    [expression('none', 'Exists'), false],
    [expression('none', 'DoesNotExist'), true],
    [expression('zone', 'DoesNotExist'), false],
    [expression('size', 'Gt', '9'), true],
    [expression('size', 'Gt', '10'), false],
    [expression('size', 'Lt', '11'), true],
    [expression('size', 'Lt', '11', '12'), false],
    [expression('zone', 'Gt', '1'), false],
    [expression('size', 'Gt', 'nine'), false],
    [expression('none', 'Lt', '1'), false],
    [expression('zone', 'Near', 'a'), false],
    [field('metadata.name', 'In', 'one'), true],
    [field('metadata.name', 'In', 'two'), false],
    [field('metadata.name', 'NotIn', 'two'), true],
    [field('metadata.name', 'Exists'), false],
    [field('metadata.name', 'In', 'one', 'two'), false],
    [{ ...expression('zone', 'In', 'a'), ...field('metadata.name', 'In', 'two') }, false],
    [{}, false],
  ];
  for (const [term, expected] of cases)
    assert.equal(matchesNode(requiring(term), node), expected, JSON.stringify(term));
});

test('one matching term is enough', () => {
  assert.equal(matchesNode(requiring(expression('zone', 'In', 'b'), expression('zone', 'In', 'a')), node), true);
  assert.equal(matchesNode(requiring(), node), false);
});
