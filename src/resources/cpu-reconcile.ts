/**
 * Keeps the CPUs of containers that run what they are to be: those that share get the shared CPUs whenever these change. It looks at once when a pod or the
 * shared CPUs change, and every `cpuManagerReconcilePeriod`, to repeat what failed.
 */
import { formatCpuSet } from '../api/cpu-set.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import type { PodView } from '../model/pod-view.ts';
import type { Cpus } from './cpus.ts';

type View = Pick<PodView, 'uid' | 'pod' | 'step' | 'observation'>;

export interface CpuReconcileDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly cpus: Pick<Cpus, 'affinity' | 'awaitsAdoption' | 'adopt' | 'exclusive'>;
  readonly views: () => readonly View[];
  /** Where the container runs now. */
  readonly liveCpus: (pod: Pod, containerId: string) => ReadonlySet<number>;
  readonly update: (containerId: string, cpus: string, signal: AbortSignal) => Promise<void>;
}

export interface CpuReconcile {
  run(signal: AbortSignal): Promise<void>;
  /** Something has changed. */
  wake(): void;
}

export function createCpuReconcile(deps: CpuReconcileDeps, periodMs: number): CpuReconcile {
  const { clock, supervisor } = deps;
  const bit = createWakeBit();
  /** By container id, what it was last given. */
  const given = new Map<string, string>();

  const pass = async (signal: AbortSignal): Promise<void> => {
    const running = new Set<string>();
    const views = deps.views().filter(({ step }) => step !== 'terminated');
    for (const view of views) adopt(deps, view);
    for (const { uid, pod, observation } of views) {
      for (const { id, name, state } of observation.containers) {
        if (state !== 'running') continue;
        running.add(id);
        const wanted = formatCpuSet([...deps.cpus.affinity(uid, name)]);
        if (wanted !== '') await give(deps, given, { pod, id, name, wanted }, signal);
      }
    }
    for (const id of given.keys()) if (!running.has(id)) given.delete(id);
  };
  /** Until something changes, at the latest after the period. */
  const rest = async (signal: AbortSignal): Promise<void> => {
    using link = linkSignal(signal);
    await Promise.race([bit.wait(link.signal), clock.sleep(periodMs, link.signal)]).finally(() =>
      link.abort(new Error('rested')),
    );
  };
  return {
    run: (signal) =>
      supervisor.run({ name: 'cpu manager', pass: () => pass(signal), rest: () => rest(signal) }, signal),
    wake: bit.wake,
  };
}

/** What runs of a pod that no usable record has is known by where it runs. */
function adopt({ cpus, liveCpus }: CpuReconcileDeps, { uid, pod, observation }: View): void {
  if (!cpus.awaitsAdoption(uid)) return;
  const live = observation.containers
    .filter(({ state }) => state === 'running')
    .map(({ id, name }) => ({ container: name, cpus: liveCpus(pod, id) }));
  cpus.adopt(pod, live);
}

interface Wanted {
  readonly pod: Pod;
  readonly id: string;
  readonly name: string;
  readonly wanted: string;
}

async function give(
  { log, liveCpus, update }: CpuReconcileDeps,
  given: Map<string, string>,
  { pod, id, name, wanted }: Wanted,
  signal: AbortSignal,
): Promise<void> {
  // What a container was created with is read once: a call to the runtime for each new one is not needed.
  if (!given.has(id)) given.set(id, formatCpuSet([...liveCpus(pod, id)]));
  if (given.get(id) === wanted) return;
  const about = { pod: `${pod.metadata.namespace}/${pod.metadata.name}`, containerName: name, containerID: id };
  try {
    await update(id, wanted, signal);
    given.set(id, wanted);
  } catch (error) {
    signal.throwIfAborted();
    given.delete(id);
    log.error('failed to update container', { ...about, cpuSet: wanted, err: error });
  }
}
