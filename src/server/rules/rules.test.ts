import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { negotiate } from './negotiation.ts';
import { decideServing } from './serving.ts';
import { computeTlsOptions } from './tls-options.ts';

const object = (version: string, type = 'application/json') => ({ kind: 'object', version, type });

describe('the form of a z-page', () => {
  for (const [accept, wanted] of [
    [undefined, { kind: 'text' }],
    ['', { kind: 'text' }],
    ['*/*', { kind: 'text' }],
    ['text/plain', { kind: 'text' }],
    ['text/*;q=0.5', { kind: 'text' }],
    ['text/html, */*;q=0.1', { kind: 'text' }],
    ['application/json', { kind: 'none' }],
    ['application/json;as=Flagz;v=v1beta1;g=config.k8s.io', object('v1beta1')],
    ['application/yaml;as=Flagz;v=v1alpha1;g=config.k8s.io', object('v1alpha1', 'application/yaml')],
    ['text/plain;q=0.1, application/json;as=Flagz;v=v1beta1;g=config.k8s.io', object('v1beta1')],
    ['application/json;as=Statusz;v=v1beta1;g=config.k8s.io', { kind: 'none' }],
    ['application/json;as=Flagz;v=v9;g=config.k8s.io', { kind: 'none' }],
    ['application/json;as=Flagz;v=v1beta1;g=other', { kind: 'none' }],
    ['text/plain;q=0', { kind: 'none' }],
    ['text/plain;q=x', { kind: 'none' }],
    ['application/vnd.kubernetes.protobuf', { kind: 'none' }],
  ] as const) {
    it(`${accept}`, () => assert.deepEqual(negotiate(accept, 'Flagz'), wanted));
  }
});

describe('the ports listen', () => {
  const secure = { address: '0.0.0.0', port: 10250 };
  const readOnly = { address: '::', port: 10255 };
  const given = (isGiven: boolean) => ({ isAddressGiven: isGiven, isAnonymousGiven: isGiven });

  it('as configured in a cluster', () => {
    const input = { isStandalone: false, secure, readOnly, anonymous: true, ...given(false) };
    assert.deepEqual(decideServing(input), { secure, readOnly, anonymous: true, nodeToken: false });
  });

  it('on loopback with the token only, without a cluster', () => {
    assert.deepEqual(decideServing({ isStandalone: true, secure, readOnly, anonymous: true, ...given(false) }), {
      secure: { address: '127.0.0.1', port: 10250 },
      readOnly: { address: '::1', port: 10255 },
      anonymous: false,
      nodeToken: true,
    });
  });

  it('as configured without a cluster, if address and anonymous access are explicit', () => {
    const input = { isStandalone: true, secure, readOnly: undefined, anonymous: true, ...given(true) };
    assert.deepEqual(decideServing(input), { secure, readOnly: undefined, anonymous: true, nodeToken: true });
    assert.equal(decideServing({ ...input, secure: undefined }).secure, undefined);
  });
});

describe('TLS in the names of OpenSSL', () => {
  const none = { minVersion: '', cipherSuites: [], curves: [] };

  it('is 1.2 with forward secrecy by default', () => {
    const { minVersion, ciphers, ecdhCurve, unknown } = computeTlsOptions(none);
    assert.deepEqual([minVersion, ecdhCurve, unknown], ['TLSv1.2', 'auto', []]);
    assert.match(ciphers, /^TLS_AES_128_GCM_SHA256:/);
    assert.doesNotMatch(ciphers, /:AES128|-SHA(:|$)/);
  });

  it('is as configured, and always offers 1.3', () => {
    const request = {
      minVersion: 'VersionTLS13',
      cipherSuites: ['TLS_RSA_WITH_AES_128_CBC_SHA', 'TLS_AES_128_GCM_SHA256'],
      curves: [29, 4588],
    };
    const { minVersion, ciphers, ecdhCurve, unknown } = computeTlsOptions(request);
    assert.equal(minVersion, 'TLSv1.3');
    assert.match(ciphers, /TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:AES128-SHA$/);
    assert.deepEqual([ecdhCurve, unknown], ['X25519:X25519MLKEM768', []]);
  });

  it('reports what is not supported, and accepts old versions if configured', () => {
    const { ciphers, unknown, minVersion } = computeTlsOptions({
      minVersion: 'VersionTLS10',
      cipherSuites: ['TLS_RSA_WITH_RC4_128_SHA'],
      curves: [1],
    });
    assert.deepEqual(unknown, ['TLS_RSA_WITH_RC4_128_SHA', 'curve 1']);
    assert.equal(minVersion, 'TLSv1');
    assert.match(ciphers, /:@SECLEVEL=0$/);
  });
});
