/** A Debian machine in a world with systemd: containerd as a unit with its images, and no kubelet. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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

export interface SystemMachineOptions {
  readonly hostName: string;
  /** Of the runtime. */
  readonly cgroupDriver: CgroupDriver;
  readonly runtime?: RuntimeName;
  /** Content of more files below /etc, given the directory for logs. */
  readonly etc?: (logs: string) => Readonly<Record<string, string>>;
  /** More units to start with the system. */
  readonly units?: readonly string[];
  /** Directories that the system may change for itself, beside /etc and /var/lib. */
  readonly covered?: readonly string[];
}

export interface SystemMachine extends AsyncDisposable {
  readonly system: System;
  readonly cri: CriClient;
  /** Answers the command that removes the pod again. */
  writePod(name: string, spec: object): Promise<() => Promise<void>>;
  /** Runs a shell script inside; fails where it fails. */
  sh(script: string): Promise<string>;
}

export const MANIFESTS = '/etc/kubernetes/manifests';
export const SOCKET = '/run/containerd/containerd.sock';
const PATHS: ContainerdPaths = {
  root: '/var/lib/containerd',
  state: '/run/containerd',
  socket: SOCKET,
  opt: '/var/lib/containerd/opt',
  cniConfig: '/etc/cni/net.d',
  cniState: '/var/lib/cni/networks',
  registries: '/etc/containerd/certs.d',
};

/** containerd is up and has its images when this resolves. */
export async function createSystemMachine(
  env: NodeJS.ProcessEnv,
  options: SystemMachineOptions,
): Promise<SystemMachine> {
  const supplies = createSupplies(env);
  const place = labPlace(env);
  const worlds = createWorlds(place);
  await ensurePackages(SYSTEM_PACKAGES, console.error, { env });
  await worlds.sweepOnce();
  const runtime = await supplies.runtime(options.runtime ?? 'containerd-2.4');
  const images = await supplies.images();
  const system = await worlds.make(
    (id) => {
      const logs = join(place.root, id, 'logs');
      return createSystem({
        place,
        id,
        hostName: options.hostName,
        path: [],
        covered: options.covered ?? [],
        units: ['dbus.service', 'containerd.service', ...(options.units ?? [])],
        etc: {
          'containerd/config.toml': renderConfig(PATHS, runtime, {
            systemdCgroup: options.cgroupDriver === 'systemd',
          }),
          'cni/net.d/10-pods.conflist': renderNetwork(PATHS.cniState, '10.88.0.0/16'),
          'systemd/system/containerd.service': renderService(
            `${runtime.containerd} --config /etc/containerd/config.toml`,
            join(logs, 'containerd.log'),
            `Type=notify\nDelegate=yes\nKillMode=process\nEnvironment=PATH=${runtime.shimDirectory}:${dirname(runtime.runc)}:/usr/sbin:/usr/bin:/sbin:/bin\n`,
          ),
          ...options.etc?.(logs),
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
    cri,
    sh,
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

export function renderService(command: string, log: string, more: string): string {
  return `[Service]\nExecStart=${command}\nTasksMax=infinity\nStandardOutput=append:${log}\nStandardError=append:${log}\n${more}`;
}
