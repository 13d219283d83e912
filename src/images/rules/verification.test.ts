import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CredentialSource } from './keyring.ts';
import type { PullCredentials, PulledRecord } from './pull-record.ts';
import {
  credentialsUsed,
  type HashedCredential,
  judgeCredentials,
  judgeRecord,
  needsVerification,
  parsePolicy,
  type VerificationPolicy,
} from './verification.ts';

const policies: readonly (readonly [VerificationPolicy, string, boolean, boolean])[] = [
  ['NeverVerify', 'a.io/x:1', true, false],
  ['NeverVerifyPreloadedImages', 'a.io/x:1', false, false],
  ['NeverVerifyPreloadedImages', 'a.io/x:1', true, true],
  ['AlwaysVerify', 'a.io/x:1', false, true],
  ['NeverVerifyAllowlistedImages', 'a.io/x:1', true, false],
  ['NeverVerifyAllowlistedImages', `a.io/x@sha256:${'a'.repeat(64)}`, true, false],
  ['NeverVerifyAllowlistedImages', 'a.io/xy:1', false, true],
  ['NeverVerifyAllowlistedImages', 'b.io/team/app:1', true, false],
  ['NeverVerifyAllowlistedImages', 'b.io/team2/app:1', true, true],
  ['NeverVerifyAllowlistedImages', 'b.io/team', true, true],
];
for (const [policy, image, pulledHere, needed] of policies) {
  test(`${policy}, ${image}, ${pulledHere ? 'pulled here' : 'preloaded'}: ${needed ? 'ask' : 'go'}`, () => {
    const allowlist = ['a.io/x', 'b.io/team/*'];
    assert.equal(needsVerification({ policy, allowlist }, image, pulledHere), needed);
  });
}

test('policies by name', () => {
  assert.deepEqual(parsePolicy(''), { ok: true, value: 'NeverVerifyPreloadedImages' });
  assert.deepEqual(parsePolicy('AlwaysVerify'), { ok: true, value: 'AlwaysVerify' });
  assert.equal(parsePolicy('alwaysverify').ok, false);
});

const secret = (name: string, credentialHash: string) => ({ uid: `u-${name}`, namespace: 'n', name, credentialHash });
const NONE: PullCredentials = { secrets: [], serviceAccounts: [], everyPod: false };
const recordOf = (known: PullCredentials): PulledRecord => ({
  imageRef: 'r',
  updatedAt: '',
  credentials: new Map([['a.io/x', known]]),
});

test('what a record says about a name', () => {
  const known = { ...NONE, secrets: [secret('s', 'h')] };
  assert.equal(judgeRecord(undefined, 'a.io/x:1').kind, 'refused');
  assert.equal(judgeRecord(recordOf({ ...NONE, everyPod: true }), 'a.io/x:1').kind, 'granted');
  assert.equal(judgeRecord(recordOf({ ...NONE, everyPod: true }), 'b.io/x:1').kind, 'refused', 'another name');
  assert.equal(judgeRecord(recordOf(NONE), 'a.io/x:1').kind, 'refused', 'no one knows how it was pulled');
  assert.deepEqual(judgeRecord(recordOf(known), 'a.io/x:2'), { kind: 'check-registry', known });
});

const shown = (source: CredentialSource, hash: string): HashedCredential => ({
  login: { username: 'u', password: 'p', email: '' },
  source,
  hash,
});
const ofSecret = (name: string, hash: string) =>
  shown({ kind: 'secret', uid: `u-${name}`, namespace: 'n', name }, hash);
const ofAccount = (name: string) => shown({ kind: 'serviceAccount', uid: `u-${name}`, namespace: 'n', name }, 'x');
const known: PullCredentials = {
  secrets: [secret('s', 'h'), secret('unhashed', '')],
  serviceAccounts: [{ uid: 'u-robot', namespace: 'n', name: 'robot' }],
  everyPod: false,
};

const grants: readonly (readonly [string, readonly HashedCredential[], boolean, string | undefined])[] = [
  ['nothing', [], false, undefined],
  ['the node has no say', [shown({ kind: 'node' }, 'h')], false, undefined],
  ['the same secret', [ofSecret('s', 'h')], true, undefined],
  ['the same login under another name is learned', [ofSecret('t', 'h')], true, 't'],
  ['the same secret with a new login is learned', [ofSecret('s', 'new')], true, 's'],
  ['another secret', [ofSecret('t', 'new')], false, undefined],
  ['an empty hash is no login', [ofSecret('t', '')], false, undefined],
  ['the second of two', [ofSecret('t', 'new'), ofSecret('s', 'h')], true, undefined],
  ['the service account', [ofAccount('robot')], true, undefined],
  ['another service account', [ofAccount('human')], false, undefined],
];
for (const [name, credentials, granted, learned] of grants) {
  test(`a pod shows: ${name}`, () => {
    const verdict = judgeCredentials(known, credentials);
    assert.equal(verdict.granted, granted);
    assert.equal(verdict.learned?.name, learned);
  });
}

test('a record with a hundred secrets learns no more', () => {
  const many = { ...NONE, secrets: Array.from({ length: 100 }, (_, at) => secret(`s${at}`, `h${at}`)) };
  assert.deepEqual(judgeCredentials(many, [ofSecret('t', 'h7')]), { granted: true, learned: undefined });
  assert.deepEqual(judgeCredentials(many, [ofSecret('s7', 'new')]), { granted: false, learned: undefined });
});

test('what is remembered of a pull', () => {
  assert.deepEqual(credentialsUsed(undefined), { ...NONE, everyPod: true });
  assert.deepEqual(credentialsUsed(shown({ kind: 'node' }, 'h')), { ...NONE, everyPod: true });
  assert.deepEqual(credentialsUsed(ofSecret('s', 'h')), { ...NONE, secrets: [secret('s', 'h')] });
  assert.deepEqual(credentialsUsed(ofAccount('robot')), { ...NONE, serviceAccounts: known.serviceAccounts });
});
