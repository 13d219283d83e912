import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { decodeAdopted, encodeAdopted } from './adopted-record.ts';
import { judgeAdoption, underUid } from './adoption.ts';
import { isSameManifest, mirrorOf } from './mirror-pod.ts';
import { planMirrors } from './plan-mirrors.ts';

const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../tests/recorded/mirror-pod.json'), 'utf8'),
) as Pod;
const NODE = { name: 'labnode', uid: 'c7b17389-64f5-4b58-afe1-d6b66ddeca15' };

/** The static pod that the recorded mirror stands for, as a kubelet has it after reading its manifest. */
function staticPod(uid = '266eb3e1a63d4a443c565f3887b5c15e'): Pod {
  const { priority: _priority, preemptionPolicy: _policy, ...spec } = recorded.spec;
  const { 'kubernetes.io/config.mirror': _mirror, ...annotations } = recorded.metadata.annotations ?? {};
  const { name, namespace, labels } = recorded.metadata;
  return {
    metadata: {
      name,
      namespace,
      uid,
      labels: labels ?? {},
      annotations: { ...annotations, 'kubernetes.io/config.hash': uid },
    },
    spec,
  };
}

describe('a mirror pod', () => {
  test('is what the reference creates for the same pod', () => {
    const { metadata, spec } = mirrorOf(staticPod(), NODE) as Pod;
    const { uid: _uid, creationTimestamp: _c, generation: _g, resourceVersion: _r, ...expected } = recorded.metadata;
    assert.deepEqual(metadata, expected);
    const { priority: _p, preemptionPolicy: _q, ...sent } = recorded.spec;
    assert.deepEqual(spec, sent);
  });

  const changes: readonly [string, (pod: Pod) => Pod, boolean][] = [
    ['the same', (pod) => pod, true],
    ['under another UID', (pod) => underUid(pod, 'other'), true],
    ['another image', (pod) => ({ ...pod, spec: { ...pod.spec, containers: [{ name: 'c', image: 'x' }] } }), false],
    ['a volume more', (pod) => ({ ...pod, spec: { ...pod.spec, volumes: [{ name: 'v', emptyDir: {} }] } }), false],
    ['a field less', (pod) => ({ ...pod, spec: { containers: pod.spec.containers } }), false],
    ['a priority of its own', (pod) => ({ ...pod, spec: { ...pod.spec, priority: 7 } }), false],
    ['another label', (pod) => ({ ...pod, metadata: { ...pod.metadata, labels: { app: 't' } } }), false],
    [
      'another annotation',
      (pod) => ({ ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, a: 'b' } } }),
      false,
    ],
  ];
  for (const [name, change, same] of changes) {
    test(`${name}: ${same ? 'is' : 'is not'} the manifest it was made from`, () => {
      assert.equal(isSameManifest(recorded, change(staticPod())), same);
    });
  }
});

describe('which mirrors to create and to delete', () => {
  const input = {
    wanted: [staticPod()],
    kept: new Set<string>(),
    mirrors: [recorded],
    node: NODE,
    everySourceHeard: true,
  };
  const going = { ...recorded, metadata: { ...recorded.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const short = (given: Parameters<typeof planMirrors>[0]) => planMirrors(given).map(({ kind }) => kind);
  const NAME = 'default/static-web-labnode';
  const cases: readonly [string, Partial<Parameters<typeof planMirrors>[0]>, readonly string[]][] = [
    ['nothing to do', {}, []],
    ['none yet', { mirrors: [] }, ['create']],
    ['the node is not registered', { mirrors: [], node: undefined }, []],
    ['the node was registered again', { node: { ...NODE, uid: 'new' } }, ['delete']],
    ['it is being deleted', { mirrors: [going] }, ['delete']],
    ['the manifest has changed', { wanted: [staticPod('another')] }, ['delete']],
    ['the pod is gone', { wanted: [] }, ['delete']],
    ['the pod is gone, and a source has yet to be heard', { wanted: [], everySourceHeard: false }, []],
    ['the pod still ends', { wanted: [], kept: new Set([NAME]) }, []],
  ];
  for (const [name, change, kinds] of cases) {
    test(name, () => assert.deepEqual(short({ ...input, ...change }), kinds));
  }
});

describe('the UID of a static pod', () => {
  const OLD = '266eb3e1a63d4a443c565f3887b5c15e';
  const pod = staticPod('ours');
  const input = { pod, running: [OLD], mirrors: [recorded], adopted: undefined };
  const changed = { ...pod, spec: { ...pod.spec, containers: [] } };
  const cases: readonly [string, Partial<Parameters<typeof judgeAdoption>[0]>, ReturnType<typeof judgeAdoption>][] = [
    ['runs under another kubelet’s, with the same manifest', {}, { kind: 'adopt', uid: OLD }],
    ['nothing runs', { running: [] }, { kind: 'keep' }],
    ['runs under our own', { running: ['ours', OLD] }, { kind: 'keep' }],
    ['the API server has not listed mirrors', { mirrors: undefined }, { kind: 'unknown' }],
    ['the API server has not listed mirrors, and nothing runs', { mirrors: undefined, running: [] }, { kind: 'keep' }],
    ['there is no mirror', { mirrors: [] }, { kind: 'keep' }],
    ['the manifest has changed', { pod: changed }, { kind: 'keep' }],
    ['what runs is not what the mirror shows', { running: ['third'] }, { kind: 'keep' }],
    ['was adopted before', { mirrors: undefined, running: [], adopted: OLD }, { kind: 'adopt', uid: OLD }],
  ];
  for (const [name, change, verdict] of cases) {
    test(name, () => assert.deepEqual(judgeAdoption({ ...input, ...change }), verdict));
  }
});

describe('the record of adopted pods', () => {
  test('is read as it was written', () => {
    const adopted = new Map([['a', 'b']]);
    assert.deepEqual(decodeAdopted(encodeAdopted(adopted)), { ok: true, value: adopted });
  });
  for (const text of ['', '{', '[]', '{"version":2,"adopted":{}}', '{"version":1,"adopted":{"a":1}}']) {
    test(`${text || 'nothing'} is none`, () => assert.equal(decodeAdopted(text).ok, false));
  }
});
