/** The files of the node suite's system: containerd, its network, a registry for it and the suite itself as units of systemd. */
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import {
  type ContainerdPaths,
  type RuntimeBinaries,
  renderConfig,
  renderNetwork,
} from '../../../tools/machine/containerd.ts';
import type { SpecSet } from './sets.ts';

/** The registries whose images the suite asks for; all of them are the one in the world. */
export const REGISTRY_HOSTS = ['registry.k8s.io', 'docker.io', 'gcr.io'] as const;
export const RUNTIME_SOCKET = '/run/containerd/containerd.sock';
export const SUITE_UNIT = 'suite.service';
const REGISTRY_PORT = 5999;
const POD_SUBNET = '10.88.0.0/16';
const HANDLER = 'plugins."io.containerd.grpc.v1.cri".containerd.runtimes.test-handler';

const CONTAINERD: ContainerdPaths = {
  root: '/var/lib/containerd',
  state: '/run/containerd',
  socket: RUNTIME_SOCKET,
  opt: '/var/lib/containerd/opt',
  cniConfig: '/etc/cni/net.d',
  cniState: '/var/lib/cni/networks',
  registries: '/etc/containerd/certs.d',
};

export interface UnitPaths {
  /** Where the outputs of this run are kept. */
  readonly output: string;
  /** The OCI layout with the images. */
  readonly images: string;
  readonly suiteScript: string;
  /** Node, which runs the registry. */
  readonly node: string;
  readonly registryProgram: string;
}

/** By path below /etc. */
export function suiteFiles(runtime: RuntimeBinaries, paths: UnitPaths): Readonly<Record<string, string>> {
  const registry = `http://127.0.0.1:${REGISTRY_PORT}`;
  const hosts = `server = "${registry}"\n[host."${registry}"]\ncapabilities = ["pull", "resolve"]\n`;
  const unit = (name: string) => `systemd/system/${name}`;
  return {
    'containerd/config.toml': `${renderConfig(CONTAINERD, runtime)}${testHandler(runtime)}`,
    'cni/net.d/10-pods.conflist': renderNetwork(CONTAINERD.cniState, POD_SUBNET),
    ...Object.fromEntries(REGISTRY_HOSTS.map((host) => [`containerd/certs.d/${host}/hosts.toml`, hosts])),
    'systemd/journald.conf.d/lab.conf': '[Journal]\nStorage=volatile\nReadKMsg=no\n',
    [unit('containerd.service')]: containerdUnit(runtime, paths.output),
    [unit('registry.service')]: `[Service]
Type=notify
NotifyAccess=all
ExecStart=${paths.node} --disable-warning=ExperimentalWarning ${paths.registryProgram} ${paths.images} ${REGISTRY_PORT} ${REGISTRY_HOSTS.join(' ')}
${appendTo(join(paths.output, 'registry.log'))}`,
    [unit(SUITE_UNIT)]: `[Service]
Type=oneshot
TasksMax=infinity
Environment=HOME=/root
ExecStart=/bin/sh ${paths.suiteScript}
${appendTo(join(paths.output, 'e2e.log'))}`,
  };
}

/** Restarted by systemd as on a real node; its containers live on. */
function containerdUnit(runtime: RuntimeBinaries, output: string): string {
  return `[Service]
Type=notify
ExecStart=${runtime.containerd} --config /etc/containerd/config.toml
Environment=PATH=${runtime.shimDirectory}:${dirname(runtime.runc)}:/usr/sbin:/usr/bin:/sbin:/bin
Delegate=yes
CPUAccounting=yes
KillMode=process
Restart=always
RestartSec=1
TasksMax=infinity
${appendTo(join(output, 'containerd.log'))}`;
}

/** Specs about runtime classes ask for a handler of this name. */
const testHandler = (runtime: RuntimeBinaries): string => `
[${HANDLER}]
runtime_type = "io.containerd.runc.v2"

[${HANDLER}.options]
BinaryName = ${JSON.stringify(runtime.runc)}
`;

const appendTo = (file: string): string => `StandardOutput=append:${file}\nStandardError=append:${file}\n`;

/** The kubelet's configuration that the suite starts from, with the values of upstream's own runs. */
export function kubeletConfig(): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: '/',
    failCgroupV1: false,
    podCIDR: '10.100.0.0/24',
    volumeStatsAggPeriod: '10s',
    fileCheckFrequency: '10s',
    evictionPressureTransitionPeriod: '30s',
    evictionHard: { 'memory.available': '250Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
    evictionMinimumReclaim: { 'nodefs.available': '5%', 'nodefs.inodesFree': '5%' },
    serializeImagePulls: false,
  });
}

export interface SuiteCommand {
  readonly ginkgo: string;
  readonly suite: string;
  readonly set: SpecSet;
  readonly flags: readonly string[];
  /** The directory with an executable `kubelet`. */
  readonly binDirectory: string;
  /** The directory that the suite runs in; the end of its name becomes part of the kubelet's unit. */
  readonly workDirectory: string;
  readonly output: string;
  readonly report: string;
  readonly nodeName: string;
}

/** The suite starts an API server and etcd inside its own process, and the kubelet as a transient unit. */
export function suiteScript(command: SuiteCommand): string {
  const { set, output, workDirectory } = command;
  const argv = [
    command.ginkgo,
    'run',
    `--procs=${set.procs}`,
    `--focus=${set.focus}`,
    `--skip=${set.skip}`,
    `--timeout=${set.minutes}m`,
    '--no-color',
    '--force-newlines', // a line for each finished spec, also where it passed
    '--silence-skips',
    `--output-dir=${output}`,
    `--json-report=${command.report}`,
    './e2e_node.test',
    '--',
    `--k8s-bin-dir=${command.binDirectory}`,
    `--container-runtime-endpoint=unix://${RUNTIME_SOCKET}`,
    '--prepull-images=false',
    '--restart-kubelet=false',
    '--server-start-timeout=3m',
    `--kubelet-config-file=${join(workDirectory, 'kubelet.yaml')}`,
    `--report-dir=${output}`,
    `--node-name=${command.nodeName}`,
    '--runtime-config=api/all=true',
    `--kubelet-flags=${['--runtime-cgroups=/system.slice/containerd.service', ...(set.kubeletFlags ?? []), ...command.flags].join(' ')}`,
    ...(set.suiteFlags ?? []),
  ];
  // Ginkgo runs a suite in the directory where its program is, and the suite leaves its files there.
  return `set -e
mkdir -p ${quote(workDirectory)}
cd ${quote(workDirectory)}
cp ${quote(command.suite)} e2e_node.test
cat > kubelet.yaml <<'END'
${kubeletConfig()}END
exec ${argv.map(quote).join(' ')}
`;
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
