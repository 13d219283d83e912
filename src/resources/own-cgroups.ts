/** Moves the kubelet, and the processes that have no cgroup of their own, to the cgroups that the configuration names. */
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Cgroups } from '../host/cgroups.ts';

export interface OwnCgroupsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly cgroups: Pick<Cgroups, 'create' | 'enter' | 'processes'>;
  readonly pid: number;
  /** Threads of the kernel can't be moved. */
  readonly isKernelThread: (pid: number) => boolean;
}

export interface OwnCgroupsConfig {
  /** Empty: the kubelet stays where it is. */
  readonly kubeletCgroups: string;
  /** Empty: the others stay where they are. */
  readonly systemCgroups: string;
}

const PERIOD_MS = 60_000;
const FIRST_PROCESS = 1;
/** Processes that fork while they are moved leave children behind: it is tried so many times in a row. */
const MOST_ROUNDS = 10;

/** Again every minute: services are started and restarted while the kubelet runs. */
export async function runOwnCgroups(
  deps: OwnCgroupsDeps,
  config: OwnCgroupsConfig,
  signal: AbortSignal,
): Promise<void> {
  const { kubeletCgroups, systemCgroups } = config;
  const tasks = [
    ...(systemCgroups === '' ? [] : [{ cgroup: systemCgroups, run: () => moveSystem(deps, systemCgroups) }]),
    ...(kubeletCgroups === '' ? [] : [{ cgroup: kubeletCgroups, run: () => moveKubelet(deps, kubeletCgroups) }]),
  ];
  if (tasks.length === 0) return;
  const pass = async () => {
    for (const { cgroup, run } of tasks) {
      try {
        await run();
      } catch (error) {
        deps.log.warn('Failed to ensure state', { containerName: cgroup, err: error });
      }
    }
  };
  const rest = () => deps.clock.sleep(PERIOD_MS, signal);
  await deps.supervisor.run({ name: 'own cgroups', pass, rest }, signal);
}

export function checkOwnCgroups({ systemCgroups }: OwnCgroupsConfig): void {
  if (systemCgroups === '/') throw new CodedError('invalid', 'system container cannot be root ("/")');
}

async function moveKubelet({ cgroups, pid }: OwnCgroupsDeps, cgroup: string): Promise<void> {
  cgroups.create(cgroup);
  if ((await cgroups.processes(cgroup)).includes(pid)) return;
  cgroups.enter(cgroup, pid);
}

async function moveSystem({ cgroups, isKernelThread, log }: OwnCgroupsDeps, cgroup: string): Promise<void> {
  cgroups.create(cgroup);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const inRoot = await cgroups.processes('/');
    const pids = inRoot.filter((pid) => pid !== FIRST_PROCESS && !isKernelThread(pid));
    if (pids.length === 0) return;
    log.v(3)?.info('Moving non-kernel processes', { pids });
    for (const pid of pids) cgroups.enter(cgroup, pid);
  }
}
