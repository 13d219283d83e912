import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatIntent,
  formatPulledRecord,
  mergeCredentials,
  type PullCredentials,
  type PulledRecord,
  parseIntent,
  parsePulledRecord,
} from './pull-record.ts';

const secret = (name: string, credentialHash = 'h') => ({ uid: `u-${name}`, namespace: 'n', name, credentialHash });
const account = (name: string) => ({ uid: `u-${name}`, namespace: 'n', name });
const NONE: PullCredentials = { secrets: [], serviceAccounts: [], everyPod: false };
const EVERY_POD: PullCredentials = { ...NONE, everyPod: true };
const record = (credentials: Readonly<Record<string, PullCredentials>> = {}): PulledRecord => ({
  imageRef: 'sha256:abc',
  updatedAt: '2023-11-14T22:13:20Z',
  credentials: new Map(Object.entries(credentials)),
});

/** Written by the reference's own code. */
const REFERENCE = {
  intent: '{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1beta1","image":"localhost:5000/app:1"}\n',
  bare: '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2023-11-14T22:13:20Z","imageRef":"sha256:def"}\n',
  full: '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2023-11-14T22:13:20Z","imageRef":"sha256:abc","credentialMapping":{"a/one":{"kubernetesSecrets":[{"uid":"u","namespace":"n","name":"s","credentialHash":"h"}],"kubernetesServiceAccounts":[{"uid":"u","namespace":"n","name":"sa"}]},"b/\\u003ctwo\\u003e":{"nodePodsAccessible":true}}}\n',
};

test('files are to the byte those of the reference', () => {
  assert.equal(formatIntent('localhost:5000/app:1'), REFERENCE.intent);
  assert.equal(formatPulledRecord({ ...record(), imageRef: 'sha256:def' }), REFERENCE.bare);
  const full = record({
    'b/<two>': EVERY_POD,
    'a/one': {
      secrets: [{ uid: 'u', namespace: 'n', name: 's', credentialHash: 'h' }],
      serviceAccounts: [{ uid: 'u', namespace: 'n', name: 'sa' }],
      everyPod: false,
    },
  });
  assert.equal(formatPulledRecord(full), REFERENCE.full);
  assert.deepEqual(parsePulledRecord(REFERENCE.full), { ok: true, value: full });
  assert.deepEqual(parseIntent(REFERENCE.intent), { ok: true, value: 'localhost:5000/app:1' });
});

test('records of the version before are read', () => {
  assert.ok(parsePulledRecord(REFERENCE.full.replace('v1beta1', 'v1alpha1')).ok);
  assert.ok(parseIntent(REFERENCE.intent.replace('v1beta1', 'v1alpha1')).ok);
});

const bad: Readonly<Record<string, string>> = {
  'not JSON': '{',
  nothing: '',
  'a list': '[]',
  'another kind': REFERENCE.intent,
  'another version': REFERENCE.full.replace('v1beta1', 'v9'),
  'no image': REFERENCE.bare.replace('sha256:def', ''),
  'a mapping that is none': REFERENCE.bare.replace('}', ',"credentialMapping":5}'),
  'credentials that are none': REFERENCE.bare.replace('}', ',"credentialMapping":{"a":1}}'),
  'a secret without a name': REFERENCE.full.replace('"name":"s",', ''),
  'a secret that is none': REFERENCE.full.replace('"name":"s"', '"name":5'),
};
for (const [name, text] of Object.entries(bad)) {
  test(`a record that can't be understood is an answer: ${name}`, () => {
    assert.equal(parsePulledRecord(text).ok, false);
  });
}

const merges: readonly {
  readonly name: string;
  readonly before: PulledRecord;
  readonly used: PullCredentials | undefined;
  readonly after: PullCredentials | 'unchanged';
}[] = [
  { name: 'no one knows how it was pulled', before: record(), used: undefined, after: 'unchanged' },
  { name: 'nothing to note', before: record(), used: NONE, after: 'unchanged' },
  { name: 'the first note', before: record(), used: EVERY_POD, after: EVERY_POD },
  {
    name: 'every pod stays every pod',
    before: record({ a: EVERY_POD }),
    used: { ...NONE, secrets: [secret('s')] },
    after: 'unchanged',
  },
  {
    name: 'secrets are forgotten when every pod may',
    before: record({ a: { ...NONE, secrets: [secret('s')] } }),
    used: EVERY_POD,
    after: EVERY_POD,
  },
  {
    name: 'another secret is added in order',
    before: record({ a: { ...NONE, secrets: [secret('s')] } }),
    used: { ...NONE, secrets: [secret('b')] },
    after: { ...NONE, secrets: [secret('b'), secret('s')] },
  },
  {
    name: 'the same secret again',
    before: record({ a: { ...NONE, secrets: [secret('s')] } }),
    used: { ...NONE, secrets: [secret('s')] },
    after: 'unchanged',
  },
  {
    name: 'the same secret with another login',
    before: record({ a: { ...NONE, secrets: [secret('s', 'old')] } }),
    used: { ...NONE, secrets: [secret('s', 'new')] },
    after: { ...NONE, secrets: [secret('s', 'new')] },
  },
  {
    name: 'a service account beside a secret',
    before: record({ a: { ...NONE, secrets: [secret('s')] } }),
    used: { ...NONE, serviceAccounts: [account('x')] },
    after: { ...NONE, secrets: [secret('s')], serviceAccounts: [account('x')] },
  },
];
for (const { name, before, used, after } of merges) {
  test(`merging: ${name}`, () => {
    const merged = mergeCredentials(before, 'a', used, 'now');
    if (after === 'unchanged') assert.equal(merged, before);
    else {
      assert.deepEqual(merged.credentials.get('a'), after);
      assert.equal(merged.updatedAt, 'now');
    }
  });
}

test('notes under other names stay', () => {
  const merged = mergeCredentials(record({ b: EVERY_POD }), 'a', EVERY_POD, 'now');
  assert.deepEqual([...merged.credentials.keys()], ['b', 'a']);
});
