import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { formatFieldError } from '../../api/field-error.ts';
import type { Pod } from '../../api/pod.ts';
import { staticPodFaults } from './static-pod-rules.ts';

const verdicts = readFileSync(join(import.meta.dirname, '../../api/testdata/pod-verdicts.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly set: Readonly<Record<string, unknown>>; readonly reference?: string });

function podOf(set: Readonly<Record<string, unknown>>): Pod {
  const container: Record<string, unknown> = { name: 'c', image: 'x:1' };
  const spec: Record<string, unknown> = { containers: [container] };
  const metadata: Record<string, unknown> = { name: 'p', namespace: 'default', uid: '' };
  for (const [path, value] of Object.entries(set)) {
    const [, inContainer, inSpec, inMeta] =
      /^spec\.containers\[0\]\.(\w+)|^spec\.(\w+)|^metadata\.(\w+)/.exec(path) ?? [];
    if (inContainer !== undefined) container[inContainer] = value;
    else if (inSpec !== undefined) spec[inSpec] = value;
    else if (inMeta !== undefined) metadata[inMeta] = value;
  }
  return { metadata, spec } as unknown as Pod;
}

const referring = verdicts.filter(({ reference }) => reference !== undefined);

test('static pod rules: there are references of every kind among the recorded pods', () => {
  assert.ok(new Set(referring.map(({ reference }) => reference)).size >= 12);
});

for (const { set, reference } of referring) {
  test(`static pod rules: ${JSON.stringify(set).slice(0, 100)} may not reference ${reference}`, () => {
    const faults = staticPodFaults(podOf(set), { preventApiReferences: true }).map(formatFieldError);
    // A secret in a volume is named by its volume here, and by the secret alone there.
    const word = (reference ?? '').split(' ')[0] ?? '';
    assert.ok(
      faults.some((fault) => fault.includes(`Forbidden: static pods may not reference ${word}`)),
      `${reference}: ${faults.join('; ')}`,
    );
  });
}

test('static pod rules: pods that the reference finds nothing in', () => {
  for (const { set } of verdicts.filter((verdict) => verdict.reference === undefined)) {
    if ('metadata.name' in set) continue;
    const faults = staticPodFaults(podOf(set), { preventApiReferences: true });
    const known = faults.filter(({ path }) => !isStricter(path));
    assert.deepEqual(known.map(formatFieldError), [], JSON.stringify(set));
  }
});

/** The reference stops at an empty name, or at the first kind of a volume with two; such pods are refused for that. */
function isStricter(path: string): boolean {
  return /^spec\.volumes\[0\]\.(?:emptyDir|secret|configMap|projected|csi|persistentVolumeClaim|glusterfs|azureFile|ephemeral)/.test(
    path,
  );
}

test('static pod rules: without the gate only what can never be served is refused', () => {
  const pod = podOf({
    'spec.serviceAccountName': 'x',
    'spec.resourceClaims': [{ name: 'a', resourceClaimName: 'b' }],
    'spec.volumes': [
      { name: 'm', configMap: { name: 'm' } },
      { name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'n', path: 'p' } }] } },
    ],
  });
  assert.deepEqual(staticPodFaults(pod, { preventApiReferences: false }).map(formatFieldError), [
    'spec.resourceClaims: Forbidden: static pods may not reference resourceclaims',
    'spec.volumes[1].projected.sources[0].clusterTrustBundle: Forbidden: static pods may not reference clustertrustbundles',
  ]);
});

for (const uid of ['../../etc', 'a/b', '.', 'a b', `${'x'.repeat(64)}`, '-a']) {
  test(`static pod rules: the UID ${JSON.stringify(uid)} is refused, for it becomes part of paths`, () => {
    const [fault] = staticPodFaults(podOf({ 'metadata.uid': uid }), { preventApiReferences: true });
    assert.equal(fault?.path, 'metadata.uid');
  });
}

test('static pod rules: a UID of its own is fine', () => {
  const pod = podOf({ 'metadata.uid': '763e14f2-3d0d-42e9-aa6b-38ae10a09b84' });
  assert.deepEqual(staticPodFaults(pod, { preventApiReferences: true }), []);
});
