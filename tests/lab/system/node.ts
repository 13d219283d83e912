/** A node in a world with systemd: containerd and a kubelet as units, static pods, and the cgroup driver that a test names. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { createSystemClock } from '../../../src/base/clock.ts';
import { type CriClient, createCriClient } from '../../../src/runtime/cri/client.ts';
import { type ContainerdPaths, renderConfig, renderNetwork } from '../../../tools/machine/containerd.ts';
import { writeArchive } from '../../../tools/machine/oci/image.ts';
import { ensurePackages } from '../../../tools/machine/packages.ts';
import { createSupplies, type RuntimeName } from '../supplies.ts';
import { createWorlds, labPlace } from '../worlds.ts';
import { createSystem, SYSTEM_PACKAGES, type System } from './system.ts';

export type CgroupDriver = 'cgroupfs' | 'systemd';

export interface SystemNodeOptions {
  readonly kubelet: 'ours' | 'reference';
  /** Of the runtime and of the kubelet. */
  readonly cgroupDriver: CgroupDriver;
  readonly runtime?: RuntimeName;
  /** Fields of KubeletConfiguration, over those that every such node has. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly flags?: readonly string[];
  /** Content of more files below /etc. */
  readonly etc?: Readonly<Record<string, string>>;
  /** More units to start with the system. */
  readonly units?: readonly string[];
}

export interface SystemNode extends AsyncDisposable {
  readonly system: System;
  readonly nodeName: string;
  readonly cri: CriClient;
  readonly kubeletLog: string;
  startKubelet(): Promise<void>;
  /** Answers the command that removes the pod again. */
  writePod(name: string, spec: object): Promise<() => Promise<void>>;
  /** Runs a shell script inside; fails where it fails. */
  sh(script: string): Promise<string>;
}

const NODE_NAME = 'node';
const REPO_ROOT = resolve(import.meta.dirname, '..', '..', '..');
const MANIFESTS = '/etc/kubernetes/manifests';
const SOCKET = '/run/containerd/containerd.sock';
const HEALTHY_SECONDS = 120;
const PATHS: ContainerdPaths = {
  root: '/var/lib/containerd',
  state: '/run/containerd',
  socket: SOCKET,
  opt: '/var/lib/containerd/opt',
  cniConfig: '/etc/cni/net.d',
  cniState: '/var/lib/cni/networks',
  registries: '/etc/containerd/certs.d',
};

/** containerd is up and has its images when this resolves; the kubelet is not started yet. */
export async function createSystemNode(env: NodeJS.ProcessEnv, options: SystemNodeOptions): Promise<SystemNode> {
  const supplies = createSupplies(env);
  const place = labPlace(env);
  const worlds = createWorlds(place);
  await ensurePackages(SYSTEM_PACKAGES, console.error, { env });
  await worlds.sweepOnce();
  const runtime = await supplies.runtime(options.runtime ?? 'containerd-2.4');
  const images = await supplies.images();
  const kubelet =
    options.kubelet === 'reference' ? await supplies.referenceKubelet() : join(REPO_ROOT, 'dist', 'kubelet');
  const unit = (name: string) => `systemd/system/${name}`;
  const system = await worlds.make(
    (id) => {
      const logs = join(place.root, id, 'logs');
      return createSystem({
        place,
        id,
        hostName: NODE_NAME,
        path: [],
        units: ['dbus.service', 'containerd.service', ...(options.units ?? [])],
        etc: {
          'containerd/config.toml': renderConfig(PATHS, runtime, {
            systemdCgroup: options.cgroupDriver === 'systemd',
          }),
          'cni/net.d/10-pods.conflist': renderNetwork(PATHS.cniState, '10.88.0.0/16'),
          'kubernetes/kubelet.yaml': kubeletConfig(options),
          [unit('containerd.service')]: service(
            `${runtime.containerd} --config /etc/containerd/config.toml`,
            join(logs, 'containerd.log'),
            `Type=notify\nDelegate=yes\nKillMode=process\nEnvironment=PATH=${runtime.shimDirectory}:${dirname(runtime.runc)}:/usr/sbin:/usr/bin:/sbin:/bin\n`,
          ),
          [unit('kubelet.service')]: service(
            [kubelet, '--config=/etc/kubernetes/kubelet.yaml', '--v=2', ...(options.flags ?? [])].join(' '),
            join(logs, 'kubelet.log'),
            'Restart=always\nRestartSec=1\n',
          ),
          ...options.etc,
        },
      });
    },
    async () => undefined,
  );
  const archive = join(system.directory, 'images.tar');
  await writeFile(archive, writeArchive(images));
  const sh = async (script: string): Promise<string> => {
    const { code, stdout, stderr } = await system.exec(['sh', '-ec', script]);
    if (code !== 0) throw new Error(`in the system: ${script}: exit code ${code}: ${stderr.trim()}`);
    return stdout;
  };
  await sh(`${runtime.ctr} --address ${SOCKET} --namespace k8s.io images import ${archive}`);
  await rm(archive);
  const cri = createCriClient({ endpoint: `unix://${system.root}${SOCKET}`, clock: createSystemClock() });
  return {
    system,
    nodeName: NODE_NAME,
    cri,
    kubeletLog: join(system.logsDirectory, 'kubelet.log'),
    sh,
    startKubelet: async () => {
      await sh(`systemctl start kubelet
        until wget -q -O /dev/null http://127.0.0.1:10248/healthz 2>/dev/null || curl -sf -o /dev/null http://127.0.0.1:10248/healthz; do
          tries=$((\${tries:-0} + 1))
          if [ $tries -gt ${HEALTHY_SECONDS * 5} ]; then tail -n 20 ${join(system.logsDirectory, 'kubelet.log')} >&2; exit 1; fi
          sleep 0.2
        done`);
    },
    writePod: async (name, spec) => {
      const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
      const directory = `${system.root}${MANIFESTS}`;
      const path = join(directory, `${name}.yaml`);
      await mkdir(directory, { recursive: true });
      await writeFile(`${system.root}/etc/${name}.half`, stringify(manifest));
      await rename(`${system.root}/etc/${name}.half`, path);
      return () => rm(path);
    },
    [Symbol.asyncDispose]: async () => {
      await cri.close();
      await system[Symbol.asyncDispose]();
    },
  };
}

function service(command: string, log: string, more: string): string {
  return `[Service]\nExecStart=${command}\nTasksMax=infinity\nStandardOutput=append:${log}\nStandardError=append:${log}\n${more}`;
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
