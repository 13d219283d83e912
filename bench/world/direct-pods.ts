/**
 * Pods made by direct calls of the runtime, with nothing of a kubelet: what no kubelet can be faster than. The requests are those that
 * every kubelet has to make for such a pod. A filter for system calls costs runc a good tenth of a pod, so a sandbox without one would
 * be a floor that no one can stand on.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NamespaceMode, type PodSandboxConfig, SecurityProfileProfileType } from '../../src/wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../src/wire/message.ts';
import { atATime } from './at-a-time.ts';
import { CONTAINER, LOG_FILE, untilAllLogged } from './log-times.ts';
import { type BenchNode, never } from './node.ts';
import { BUSYBOX, GRACE_SECONDS, PODS_DEADLINE_MS, SCRIPT } from './static-pods.ts';

/** How many pods are started, and stopped, at a time. */
export interface Lanes {
  readonly start: number;
  readonly stop: number;
}

/**
 * On two cores, more lanes don't get the last pod up much earlier and make the median pod wait. Stopping is mostly waiting, so there all
 * at once is best. The measure `floor` shows both.
 */
export const FLOOR_LANES: Lanes = { start: 4, stop: Number.POSITIVE_INFINITY };

export interface DirectPods {
  /** From the first call to the first log line of each pod, in milliseconds. */
  readonly upAfter: readonly number[];
  /** Stops containers and sandboxes. Answers how long that took, in milliseconds; what is stopped is removed after that. */
  drain(): Promise<number>;
}

interface DirectPod {
  readonly sandbox: string;
  readonly container: string;
}

export async function runDirectPods(world: BenchNode, count: number, lanes = FLOOR_LANES): Promise<DirectPods> {
  const { cri, node } = world;
  const configs = Array.from({ length: count }, () => sandboxConfig(world));
  for (const { logDirectory = '' } of configs) {
    await mkdir(dirname(join(logDirectory, LOG_FILE)), { recursive: true });
    for (const { hostPath } of mountsIn(logDirectory)) await writeFile(hostPath, '');
  }
  const pods: DirectPod[] = [];
  const from = Date.now();
  await atATime(lanes.start, configs, async (config) => {
    pods.push(await startPod(world, config));
  });
  const prefixes = configs.map(({ metadata }) => `default_${metadata?.name}_`);
  const times = await untilAllLogged(node.podLogsDirectory, prefixes, PODS_DEADLINE_MS);
  return {
    upAfter: times.map((time) => time - from),
    drain: async () => {
      const start = performance.now();
      await atATime(lanes.stop, pods, async ({ sandbox, container }) => {
        await cri.containers.stop(container, GRACE_SECONDS, never);
        await cri.sandboxes.stop(sandbox, never);
      });
      const ms = performance.now() - start;
      await atATime(FLOOR_LANES.start, pods, ({ sandbox }) => cri.sandboxes.remove(sandbox, never));
      return ms;
    },
  };
}

/** What a kubelet hides from containers and keeps them from writing. */
const HIDDEN = 'asound acpi interrupts kcore keys latency_stats timer_list timer_stats sched_debug scsi';
const MASKED_PATHS = HIDDEN.split(' ').map((name) => `/proc/${name}`);
const READ_ONLY_PATHS = ['bus', 'fs', 'irq', 'sys', 'sysrq-trigger'].map((name) => `/proc/${name}`);

const mountsIn = (directory: string) => [
  { containerPath: '/etc/hosts', hostPath: join(directory, 'hosts') },
  { containerPath: '/dev/termination-log', hostPath: join(directory, 'termination-log') },
];

async function startPod({ cri }: BenchNode, config: DirectConfig): Promise<DirectPod> {
  const sandbox = await cri.sandboxes.run({ config }, never);
  const container = await cri.containers.create(
    {
      podSandboxId: sandbox,
      sandboxConfig: config,
      config: {
        metadata: { name: CONTAINER },
        image: { image: BUSYBOX },
        command: ['sh', '-c', SCRIPT],
        logPath: LOG_FILE,
        mounts: mountsIn(config.logDirectory),
        linux: {
          resources: { cpuPeriod: 100_000, cpuShares: 2, oomScoreAdj: 1000 },
          securityContext: {
            namespaceOptions: { pid: NamespaceMode.CONTAINER },
            maskedPaths: [...MASKED_PATHS, '/sys/firmware', '/sys/devices/virtual/powercap'],
            readonlyPaths: READ_ONLY_PATHS,
            seccomp: { profileType: SecurityProfileProfileType.Unconfined },
          },
        },
      },
    },
    never,
  );
  await cri.containers.start(container, never);
  return { sandbox, container };
}

type DirectConfig = Init<PodSandboxConfig> & { readonly logDirectory: string };

function sandboxConfig(world: BenchNode): DirectConfig {
  const uid = randomUUID();
  const name = world.podName();
  return {
    metadata: { name, namespace: 'default', uid },
    hostname: name,
    logDirectory: join(world.node.podLogsDirectory, `default_${name}_${uid}`),
    linux: {
      cgroupParent: `/bench/pod${uid}`,
      securityContext: {
        namespaceOptions: { pid: NamespaceMode.CONTAINER },
        seccomp: { profileType: SecurityProfileProfileType.RuntimeDefault },
      },
      resources: { cpuPeriod: 100_000, cpuShares: 2 },
    },
  };
}
