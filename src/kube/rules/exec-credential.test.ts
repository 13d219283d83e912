import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatExecInfo, parseExecCredential } from './exec-credential.ts';
import type { ClusterAccess } from './kubeconfig.ts';

const V1 = 'client.authentication.k8s.io/v1';
const answer = (status: unknown, more: object = {}) =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion: V1, status, ...more });

describe('the input of a credential plugin', () => {
  test('says only that there is no interactive user', () => {
    assert.deepEqual(JSON.parse(formatExecInfo(V1)), {
      kind: 'ExecCredential',
      apiVersion: V1,
      spec: { interactive: false },
    });
  });

  test('has the cluster if the kubeconfig says so', () => {
    const cluster: ClusterAccess = {
      endpoint: { secure: true, host: 'a', port: 443, basePath: '', text: 'https://a' },
      authority: undefined,
      skipVerify: false,
      serverName: 'kube',
      proxy: undefined,
      proxyUrl: 'http://p',
      disableCompression: true,
      execConfig: { audience: 'x' },
    };
    assert.deepEqual(JSON.parse(formatExecInfo(V1, cluster, 'PEM')).spec.cluster, {
      server: 'https://a',
      'tls-server-name': 'kube',
      'certificate-authority-data': Buffer.from('PEM').toString('base64'),
      'proxy-url': 'http://p',
      'disable-compression': true,
      config: { audience: 'x' },
    });
  });
});

describe('the output of a credential plugin', () => {
  test('may be a token that expires', () => {
    assert.deepEqual(parseExecCredential(answer({ token: 't', expirationTimestamp: '1970-01-01T00:00:05Z' }), V1), {
      ok: true,
      value: { token: 't', certificate: undefined, expiresAt: 5000 },
    });
  });

  test('may be a certificate with its key', () => {
    assert.deepEqual(parseExecCredential(answer({ clientCertificateData: 'C', clientKeyData: 'K' }), V1), {
      ok: true,
      value: { token: undefined, certificate: { cert: 'C', key: 'K' }, expiresAt: undefined },
    });
  });

  const bad: readonly [string, string, RegExp][] = [
    ['nothing', '', /not a JSON object/],
    ['secret words', 'token: s3cret', /not a JSON object/],
    ['null', 'null', /not a JSON object/],
    ['another kind', answer({ token: 's3cret' }, { kind: 'Token' }), /the kind ExecCredential/],
    ['another version', answer({ token: 's3cret' }, { apiVersion: `${V1}beta1` }), /the apiVersion client\.auth/],
    ['no status', answer(undefined), /no status/],
    ['an empty status', answer({}), /neither a token nor a certificate/],
    ['an empty token', answer({ token: '' }), /neither a token nor a certificate/],
    ['a number as a token', answer({ token: 5 }), /status\.token of its output must be a string/],
    ['a certificate without a key', answer({ clientCertificateData: 's3cret' }), /both clientCertificateData and/],
    ['a key without a certificate', answer({ token: 't', clientKeyData: 's3cret' }), /both clientCertificateData and/],
    ['a strange time', answer({ token: 's3cret', expirationTimestamp: 'soon' }), /a time as in RFC 3339/],
  ];
  for (const [what, output, problem] of bad) {
    test(`can't be ${what}`, () => {
      const parsed = parseExecCredential(output, V1);
      assert.ok(!parsed.ok);
      assert.match(parsed.problem, problem);
      assert.doesNotMatch(parsed.problem, /s3cret/);
    });
  }
});
