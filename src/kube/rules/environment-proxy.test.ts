import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseServer } from './endpoint.ts';
import { proxyOfEnvironment } from './environment-proxy.ts';

const PROXY = 'http://proxy:3128';

function usesProxy(server: string, environment: Readonly<Record<string, string>>): boolean {
  const endpoint = parseServer(server, true);
  assert.ok(endpoint.ok);
  const answer = proxyOfEnvironment(environment, endpoint.value);
  assert.ok(answer.ok);
  return answer.value !== undefined;
}

describe('the proxy of the environment', () => {
  const cases: readonly [string, Readonly<Record<string, string>>, boolean][] = [
    ['https://kube:6443', {}, false],
    ['https://kube:6443', { HTTPS_PROXY: PROXY }, true],
    ['https://kube:6443', { https_proxy: 'proxy:3128' }, true],
    ['https://kube:6443', { HTTP_PROXY: PROXY }, false],
    ['http://kube:8080', { HTTP_PROXY: PROXY }, true],
    ['https://localhost:6443', { HTTPS_PROXY: PROXY }, false],
    ['https://127.0.0.9:6443', { HTTPS_PROXY: PROXY }, false],
    ['https://[::1]:6443', { HTTPS_PROXY: PROXY }, false],
    ['https://kube:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '*' }, false],
    ['https://kube.example.org', { HTTPS_PROXY: PROXY, NO_PROXY: 'a, example.org' }, false],
    ['https://example.org', { HTTPS_PROXY: PROXY, NO_PROXY: 'example.org' }, false],
    ['https://example.org', { HTTPS_PROXY: PROXY, NO_PROXY: '.example.org' }, true],
    ['https://kube.example.org', { HTTPS_PROXY: PROXY, no_proxy: '*.Example.org' }, false],
    ['https://myexample.org', { HTTPS_PROXY: PROXY, NO_PROXY: 'example.org' }, true],
    ['https://kube:6443', { HTTPS_PROXY: PROXY, NO_PROXY: 'kube:6443' }, false],
    ['https://kube:6443', { HTTPS_PROXY: PROXY, NO_PROXY: 'kube:443' }, true],
    ['https://192.0.2.10:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '192.0.2.10' }, false],
    ['https://192.0.2.10:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '192.0.2.0/24' }, false],
    ['https://192.0.2.10:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '192.0.2.0/29' }, true],
    ['https://192.0.2.10:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '0.0.0.0/0' }, false],
    ['https://192.0.2.10:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '192.0.2.0/x,/,::/0,192.0.2.0/99' }, true],
    ['https://192.0.2.10:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '192.0.2.10:6443' }, false],
    ['https://[2001:db8::1]:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '2001:db8::/32' }, false],
    ['https://[2001:db8::1]:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '2001:db8::1' }, false],
    ['https://[2001:db8::1]:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '[2001:db8::1]:6443' }, false],
    ['https://[2001:db8::1]:6443', { HTTPS_PROXY: PROXY, NO_PROXY: '2001:db8::2' }, true],
  ];
  for (const [server, environment, want] of cases) {
    test(`${want ? 'is used for' : 'is not used for'} ${server} with ${JSON.stringify(environment)}`, () =>
      assert.equal(usesProxy(server, environment), want));
  }

  test('must have a supported scheme', () => {
    const endpoint = parseServer('https://kube', true);
    assert.ok(endpoint.ok);
    const answer = proxyOfEnvironment({ HTTPS_PROXY: 'ftp://proxy' }, endpoint.value);
    assert.deepEqual(answer, { ok: false, problem: 'the scheme must be http, https or socks5; found "ftp"' });
  });
});
