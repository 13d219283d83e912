/** A node in a world with systemd: containerd and a kubelet as units, static pods, and the cgroup driver that a test names. */
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { createSupplies } from '../supplies.ts';
import {
  createSystemMachine,
  MANIFESTS,
  renderService,
  SOCKET,
  type SystemMachine,
  type SystemMachineOptions,
} from './machine.ts';

export interface SystemNodeOptions extends Pick<SystemMachineOptions, 'cgroupDriver' | 'runtime' | 'units'> {
  readonly kubelet: 'ours' | 'reference';
  /** Fields of KubeletConfiguration, over those that every such node has. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly flags?: readonly string[];
  /** Content of more files below /etc. */
  readonly etc?: Readonly<Record<string, string>>;
}

export interface SystemNode extends SystemMachine {
  readonly nodeName: string;
  readonly kubeletLog: string;
  startKubelet(): Promise<void>;
}

const NODE_NAME = 'node';
const REPO_ROOT = resolve(import.meta.dirname, '..', '..', '..');
const HEALTHY_SECONDS = 120;

/** containerd is up and has its images when this resolves; the kubelet is not started yet. */
export async function createSystemNode(env: NodeJS.ProcessEnv, options: SystemNodeOptions): Promise<SystemNode> {
  const kubelet =
    options.kubelet === 'reference' ? await createSupplies(env).referenceKubelet() : join(REPO_ROOT, 'dist', 'kubelet');
  const command = [kubelet, '--config=/etc/kubernetes/kubelet.yaml', '--v=2', ...(options.flags ?? [])].join(' ');
  const machine = await createSystemMachine(env, {
    ...options,
    hostName: NODE_NAME,
    etc: (logs) => ({
      'kubernetes/kubelet.yaml': kubeletConfig(options),
      'systemd/system/kubelet.service': renderService(
        command,
        join(logs, 'kubelet.log'),
        'Restart=always\nRestartSec=1\n',
      ),
      ...options.etc,
    }),
  });
  const kubeletLog = join(machine.system.logsDirectory, 'kubelet.log');
  return {
    ...machine,
    nodeName: NODE_NAME,
    kubeletLog,
    startKubelet: async () => {
      await machine.sh(`systemctl start kubelet
        until wget -q -O /dev/null http://127.0.0.1:10248/healthz 2>/dev/null || curl -sf -o /dev/null http://127.0.0.1:10248/healthz; do
          tries=$((\${tries:-0} + 1))
          if [ $tries -gt ${HEALTHY_SECONDS * 5} ]; then tail -n 20 ${kubeletLog} >&2; exit 1; fi
          sleep 0.2
        done`);
    },
  };
}

function kubeletConfig({ cgroupDriver, config }: SystemNodeOptions): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    cgroupDriver,
    failCgroupV1: false,
    failSwapOn: false,
    containerRuntimeEndpoint: `unix://${SOCKET}`,
    staticPodPath: MANIFESTS,
    fileCheckFrequency: '1s',
    enableServer: false,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    registerNode: false,
    ...config,
  });
}
