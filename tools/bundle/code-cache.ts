/**
 * The compiled code that is shipped with the bundle: what V8 compiled while the kubelet started once, on a node that is only made up. It saves the
 * compiler's work at every start and holds nothing that a start does not need.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { NODE_OPTIONS } from './node-options.ts';

const WARM_UP = resolve(import.meta.dirname, 'warm-up-main.ts');
const HEALTH_PORT = 10248;

/** Empty directories in place of the fixed ones of a node, and a loopback of its own: nothing of the machine is touched. */
const SEALED = `set -e
for place in /var/lib/kubelet /var/log/containers; do
  [ -d "$place" ] || mount -t tmpfs none "\${place%/*}"
  mkdir -p "$place"
  mount -t tmpfs none "$place"
done
ip link set lo up
exec "$@"`;

export function makeCodeCache(bundle: string): Uint8Array {
  const work = mkdtempSync(join(tmpdir(), 'kubelet-code-cache-'));
  try {
    const output = join(work, 'code-cache');
    const warmUp = [process.execPath, ...NODE_OPTIONS, WARM_UP, bundle, output];
    if (!startSealed(work, warmUp))
      execFileSync(warmUp[0] ?? '', [...warmUp.slice(1), '--version'], { stdio: 'ignore' });
    return readFileSync(output);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** A whole start needs root; without it, the code that reads the configuration is compiled, and the rest as it is needed. */
function startSealed(work: string, warmUp: readonly string[]): boolean {
  const config = join(work, 'kubelet.yaml');
  writeFileSync(config, JSON.stringify(madeUpNode(work)));
  const flags = ['--root-dir', join(work, 'root'), '--config', config];
  const args = ['--mount', '--net', 'sh', '-c', SEALED, 'sh', ...warmUp, ...flags];
  const { status } = spawnSync('unshare', args, { stdio: 'ignore', timeout: 120_000, killSignal: 'SIGKILL' });
  return status === 0;
}

function madeUpNode(work: string) {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    healthzPort: HEALTH_PORT,
    podLogsDir: join(work, 'pod-logs'),
    staticPodPath: join(work, 'manifests'),
    containerRuntimeEndpoint: `unix://${work}/no-runtime.sock`,
    cgroupsPerQOS: false,
    enforceNodeAllocatable: ['none'],
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
  };
}
