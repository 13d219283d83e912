import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ContainerdPaths, DEBIAN_RUNTIME, renderConfig, renderNetwork } from './containerd.ts';

const PATHS: ContainerdPaths = {
  root: '/w/root',
  state: '/w/state',
  socket: '/w/c.sock',
  opt: '/w/opt',
  cniConfig: '/w/cni',
  cniState: '/w/cni-state',
  registries: '/w/certs.d',
};

test('every path that containerd writes to is below the world, and it does not lower OOM scores', () => {
  const config = renderConfig(PATHS, DEBIAN_RUNTIME);
  for (const path of [PATHS.root, PATHS.state, PATHS.socket, PATHS.opt, PATHS.cniConfig, PATHS.registries]) {
    assert.ok(config.includes(JSON.stringify(path)), path);
  }
  assert.match(config, /^version = 2$/m);
  assert.match(config, /^restrict_oom_score_adj = true$/m);
  assert.match(config, /^BinaryName = "\/usr\/sbin\/runc"$/m);
});

test('the pod network keeps its leases in the world and translates no address', () => {
  const network = JSON.parse(renderNetwork(PATHS.cniState, '10.1.0.0/24')) as {
    plugins: { type: string; ipMasq?: boolean; ipam?: { dataDir: string } }[];
  };
  assert.deepEqual(
    network.plugins.map(({ type }) => type),
    ['bridge', 'portmap'],
  );
  assert.equal(network.plugins[0]?.ipMasq, undefined);
  assert.equal(network.plugins[0]?.ipam?.dataDir, PATHS.cniState);
});
