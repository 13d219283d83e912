import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkNodeLabels } from './node-labels.ts';

const good = [
  'example.com/foo',
  'plain',
  'node.kubernetes.io/x',
  'sub.node.kubernetes.io/x',
  'kubelet.kubernetes.io/x',
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'beta.kubernetes.io/instance-type',
  'notkubernetes.io/x',
  'kubernetes.io.example/x',
];
for (const key of good) test(`a node may set ${key}`, () => assert.deepEqual(checkNodeLabels({ [key]: 'v' }), []));

const bad: [string, string, RegExp][] = [
  ['kubernetes.io/foo', 'v', /namespace of Kubernetes/],
  ['k8s.io/foo', 'v', /namespace of Kubernetes/],
  ['node-role.kubernetes.io/master', '', /kubelet\.kubernetes\.io\/, node\.kubernetes\.io\//],
  ['x.k8s.io/foo', 'v', /namespace of Kubernetes/],
  ['node.k8s.io/foo', 'v', /namespace of Kubernetes/],
  ['mynode.kubernetes.io/foo', 'v', /namespace of Kubernetes/],
  ['a b', 'v', /label key/],
  ['', 'v', /label key/],
  ['a/b/c', 'v', /label key/],
  ['fine', 'not fine', /value of label "fine"/],
  ['fine', 'x'.repeat(64), /63 characters/],
];
for (const [key, value, rule] of bad) {
  test(`refused: ${key}=${value.slice(0, 20)}`, () => {
    const findings = checkNodeLabels({ [key]: value });
    assert.equal(findings.length, 1);
    assert.equal(findings[0]?.path, '--node-labels');
    assert.match(findings[0]?.rule ?? '', rule);
  });
}

test('every invalid label is reported', () => {
  assert.equal(checkNodeLabels({ 'k8s.io/a': '!', 'kubernetes.io/b': '' }).length, 3);
});
