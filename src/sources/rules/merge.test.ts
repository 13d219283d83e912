import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { markPod, mergeSources, type SourceName, type SourceState } from './merge.ts';

const pod = (name: string, uid = name): Pod => ({
  metadata: { name, namespace: 'default', uid, annotations: { own: 'yes' } },
  spec: { containers: [] },
});

const merge = (states: Partial<Record<SourceName, SourceState | undefined>>) =>
  mergeSources(new Map(Object.entries(states) as [SourceName, SourceState | undefined][]), (one, source) =>
    markPod(one, source, 'then'),
  );

for (const { name, states, heard } of [
  { name: 'none at all', states: {}, heard: true },
  { name: 'one silent', states: { file: undefined }, heard: false },
  { name: 'one not sure yet', states: { file: { pods: [pod('a')], heard: false } }, heard: false },
  { name: 'one of two silent', states: { file: { pods: [], heard: true }, http: undefined }, heard: false },
  { name: 'all heard', states: { file: { pods: [], heard: true }, http: { pods: [], heard: true } }, heard: true },
]) {
  test(`merge: every source heard with ${name}: ${heard}`, () => assert.equal(merge(states).everySourceHeard, heard));
}

test('merge: a file wins a name over a URL, and a mirror in the API server is no rival', () => {
  const heard = true;
  const merged = merge({
    http: { pods: [pod('web', 'h1'), pod('db', 'h2')], heard },
    file: { pods: [pod('web', 'f1')], heard },
    api: { pods: [pod('web', 'a1')], heard },
  });
  assert.deepEqual(
    merged.pods.map(({ metadata }) => metadata.uid),
    ['f1', 'h2', 'a1'],
  );
  assert.deepEqual(
    merged.refused.map(({ path, keeper, pod: { metadata } }) => [path, keeper, metadata.uid]),
    [['http', 'file', 'h1']],
  );
});

test('merge: pods are marked with their source and when they were first seen', () => {
  const [marked] = merge({ http: { pods: [pod('web')], heard: true } }).pods;
  assert.deepEqual(marked?.metadata.annotations, {
    own: 'yes',
    'kubernetes.io/config.source': 'http',
    'kubernetes.io/config.seen': 'then',
  });
});
