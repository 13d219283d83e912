import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { describeError } from '../base/errors.ts';
import { loadKubeconfig } from './kubeconfig.ts';

describe('the kubeconfig', () => {
  let directory = '';
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  });
  after(() => rm(directory, { recursive: true }));
  const load = (path: string, environment = {}) => loadKubeconfig({ path, environment });
  const write = async (text: string) => {
    const path = join(directory, 'kubelet.conf');
    await writeFile(path, text);
    return path;
  };
  const good = JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: 'https://kube:6443' } }],
    contexts: [{ name: 'x', context: { cluster: 'c' } }],
    'current-context': 'x',
  });

  test('that is missing is named in the error', async () => {
    const loading = load('/no/such/kubelet.conf');
    await assert.rejects(loading, (error) =>
      /^the kubeconfig \/no\/such\/kubelet\.conf can't be read: ENOENT/.test(describeError(error)),
    );
  });

  test('that is invalid is refused with all its problems', async () => {
    const path = await write(JSON.stringify({ kind: 'Pod', 'current-context': 'x' }));
    await assert.rejects(load(path), (error) => {
      const words = describeError(error);
      return words.includes(`${path}:1:`) && words.includes('kind: must be') && words.includes('no context is named');
    });
  });

  test('without a proxy uses that of the environment', async () => {
    const { access } = await load(await write(good), { HTTPS_PROXY: 'http://proxy:3128' });
    assert.equal(access.cluster.proxy?.host, 'proxy');
    await assert.rejects(load(await write(good), { HTTPS_PROXY: 'ftp://proxy' }), /HTTPS_PROXY .*scheme must be/);
  });
});
