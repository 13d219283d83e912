import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_POD_GATES } from '../api/pod-gates.ts';
import type { Config } from '../config/config.ts';
import { LOCAL_API, localApiSetting } from './settings.ts';

interface Case {
  readonly text?: string;
  readonly kubeconfig?: string;
  readonly runOnce?: boolean;
}

function settingOf({ text, kubeconfig = '', runOnce = false }: Case): string {
  const config = {
    settings: { api: { kubeconfig }, directories: { root: '/data' } },
    kubelet: { runOnce },
  } as unknown as Config;
  const setting = localApiSetting(config, {
    environment: { [LOCAL_API]: text },
    nodeName: 'n',
    gates: DEFAULT_POD_GATES,
    platform: 'linux/amd64',
    runtime: 'node',
  });
  if (setting.kind !== 'on') return setting.kind;
  const { address, port, directory } = setting.config;
  return `${address} ${port} ${directory}`;
}

test('the local API is on where it is asked for and there is no control plane', () => {
  const usual = '127.0.0.1 10260 /data/local-api';
  assert.equal(settingOf({}), 'off');
  assert.equal(settingOf({ text: '' }), 'off');
  assert.equal(settingOf({ text: 'true' }), usual);
  assert.equal(settingOf({ text: '[::1]:16443' }), '::1 16443 /data/local-api');
  assert.equal(settingOf({ text: 'false' }), 'off');
  assert.equal(settingOf({ kubeconfig: '/k' }), 'off');
  assert.equal(settingOf({ kubeconfig: '/k', text: 'true' }), 'off');
  assert.equal(settingOf({ runOnce: true, text: 'true' }), 'off');
  for (const text of ['0.0.0.0:10260', '127.0.0.1', '127.0.0.1:0', 'yes']) assert.equal(settingOf({ text }), 'invalid');
});
