import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheKeys, formatRequest, parseAnswer } from './provider-protocol.ts';

const VERSION = 'credentialprovider.kubelet.k8s.io/v1';

test('a request says what is known, and nothing empty', () => {
  assert.equal(
    formatRequest({ apiVersion: VERSION, image: 'a.io/x', token: '', annotations: {} }),
    `{"kind":"CredentialProviderRequest","apiVersion":"${VERSION}","image":"a.io/x"}\n`,
  );
  assert.equal(
    formatRequest({ apiVersion: VERSION, image: 'a.io/x', token: 't', annotations: { k: 'v' } }),
    `{"kind":"CredentialProviderRequest","apiVersion":"${VERSION}","image":"a.io/x","serviceAccountToken":"t","serviceAccountAnnotations":{"k":"v"}}\n`,
  );
});

const answer = (more: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ kind: 'CredentialProviderResponse', apiVersion: VERSION, cacheKeyType: 'Image', ...more });

test('an answer', () => {
  const text = answer({ cacheDuration: '90s', auth: { 'a.io': { username: 'u', password: 'p' }, 'b.io': {} } });
  assert.deepEqual(parseAnswer(text, VERSION), {
    ok: true,
    value: {
      cacheKeyType: 'Image',
      cacheMs: 90_000,
      logins: new Map([
        ['a.io', { username: 'u', password: 'p', email: '' }],
        ['b.io', { username: '', password: '', email: '' }],
      ]),
    },
  });
  for (const nothing of [{}, { auth: null }, { auth: {} }, { cacheDuration: null }]) {
    const empty = parseAnswer(answer(nothing), VERSION);
    assert.ok(empty.ok && empty.value.logins.size === 0 && empty.value.cacheMs === undefined);
  }
  const uncached = parseAnswer(answer({ cacheDuration: '0s' }), VERSION);
  assert.ok(uncached.ok && uncached.value.cacheMs === 0);
});

const SECRET = 'pa55word';
const bad: Readonly<Record<string, string>> = {
  'no JSON': `{"auth": "${SECRET}"`,
  'no object': `["${SECRET}"]`,
  'another version': answer({ apiVersion: 'credentialprovider.kubelet.k8s.io/v1beta1' }),
  'another kind': answer({ kind: 'CredentialProviderRequest' }),
  'no cacheKeyType': answer({ cacheKeyType: undefined }),
  'unknown cacheKeyType': answer({ cacheKeyType: 'Pod' }),
  'unknown field': answer({ auths: {} }),
  'a duration that is none': answer({ cacheDuration: 'soon' }),
  'a duration as a number': answer({ cacheDuration: 5 }),
  'auth that is a list': answer({ auth: [SECRET] }),
  'a login that is text': answer({ auth: { 'a.io': SECRET } }),
  'a password that is no text': answer({ auth: { 'a.io': { username: SECRET, password: 5 } } }),
  'an unknown field of a login': answer({ auth: { 'a.io': { username: 'u', password: SECRET, email: 'e' } } }),
};
for (const [name, text] of Object.entries(bad)) {
  test(`refused, without quoting what is in it: ${name}`, () => {
    const refused = parseAnswer(text, VERSION);
    assert.ok(!refused.ok);
    assert.doesNotMatch(refused.problem, new RegExp(SECRET));
  });
}

test('answers are kept for an image, a registry or all', () => {
  assert.deepEqual(cacheKeys('a.io:5000/x/y'), { Image: 'a.io:5000/x/y', Registry: 'a.io:5000', Global: '<global>' });
});
