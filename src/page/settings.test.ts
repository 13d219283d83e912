import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageSetting } from './settings.ts';

type Given = Parameters<typeof pageSetting>[0];
const config = (kubeconfig: string, more: object = {}) =>
  ({ settings: { api: { kubeconfig } }, kubelet: { runOnce: false, enableServer: true, ...more } }) as unknown as Given;
const LISTEN = { address: '127.0.0.1', port: 4194 };

test('the page is on where there is no control plane, and off elsewhere unless it is asked for', () => {
  assert.deepEqual(pageSetting(config(''), {}), { kind: 'on', listen: LISTEN });
  assert.deepEqual(pageSetting(config('/k'), {}), { kind: 'off' });
  assert.deepEqual(pageSetting(config('/k'), { KUBELET_TS_PAGE: 'true' }), { kind: 'on', listen: LISTEN });
  assert.deepEqual(pageSetting(config(''), { KUBELET_TS_PAGE: 'false' }), { kind: 'off' });
  assert.deepEqual(pageSetting(config(''), undefined), { kind: 'off' });
  assert.deepEqual(pageSetting(config('', { runOnce: true }), {}), { kind: 'off' });
  assert.deepEqual(pageSetting(config('', { enableServer: false }), {}), { kind: 'off' });
});

test('the page is for this machine alone', () => {
  const at = (text: string) => pageSetting(config(''), { KUBELET_TS_PAGE: text });
  assert.deepEqual(at('[::1]:99'), { kind: 'on', listen: { address: '::1', port: 99 } });
  assert.equal(at('0.0.0.0:4194').kind, 'invalid');
  assert.equal(at('10.0.0.1:4194').kind, 'invalid');
});
