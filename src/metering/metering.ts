/** Ports that count and time what goes through them: the parts themselves know nothing of metrics. */
import type { Act } from '../act/act.ts';
import type { HooksPort, ImagesPort, RequestsPort, RuntimePort, VolumesPort } from '../act/ports.ts';
import type { Pod } from '../api/pod.ts';
import type { Outcome } from '../model/outcome.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { Observe } from '../runtime/observe/observe.ts';
import type { ContainerType } from '../telemetry/metrics-pods.ts';
import type { ResizeMetrics } from '../telemetry/metrics-resize.ts';
import type { WorkMetrics } from '../telemetry/metrics-work.ts';
import type { PodStarts } from './pod-starts.ts';

export interface Counting {
  /** Milliseconds. */
  readonly mono: () => number;
  readonly work: WorkMetrics;
  readonly starts: Pick<PodStarts, 'spent'>;
  readonly resizes: Pick<ResizeMetrics, 'tried'>;
}

export function countRuntime(cri: RuntimePort, counting: Counting): RuntimePort {
  const { mono, work, starts } = counting;
  /** The pods of containers that were created and not started yet, by container id. */
  const created = new Map<string, string>();
  const runSandbox: RuntimePort['sandboxes']['run'] = async (request, signal) => {
    const began = mono();
    const report = (failed: boolean) => {
      const ms = mono() - began;
      work.sandboxRun({ runtimeHandler: request.runtimeHandler, ms, failed });
      starts.spent(request.config.metadata?.uid ?? '', 'sandbox', ms);
    };
    return await reported(() => cri.sandboxes.run(request, signal), report, signal);
  };
  const createContainer: RuntimePort['containers']['create'] = async (request, signal) => {
    const uid = request.sandboxConfig.metadata?.uid ?? '';
    const images = (request.config.mounts ?? []).filter(({ image }) => image !== undefined).length;
    const began = mono();
    const report = (failed: boolean) => {
      work.imageVolumes(failed ? 'failed' : 'mounted', images);
      starts.spent(uid, 'create', mono() - began);
    };
    const id = await reported(() => cri.containers.create(request, signal), report, signal);
    created.set(id, uid);
    return id;
  };
  const startContainer: RuntimePort['containers']['start'] = async (id, signal) => {
    const uid = created.get(id) ?? '';
    const began = mono();
    await cri.containers.start(id, signal);
    starts.spent(uid, 'start', mono() - began);
  };
  return {
    sandboxes: { ...cri.sandboxes, run: runSandbox },
    containers: {
      ...cri.containers,
      create: createContainer,
      start: (id, signal) => startContainer(id, signal).finally(() => created.delete(id)),
      remove: (id, signal) => {
        created.delete(id);
        return cri.containers.remove(id, signal);
      },
    },
  };
}

/** A call that was aborted neither succeeded nor failed. */
async function reported<T>(call: () => Promise<T>, report: (failed: boolean) => void, signal: AbortSignal): Promise<T> {
  try {
    const answer = await call();
    report(false);
    return answer;
  } catch (error) {
    if (!signal.aborted) report(true);
    throw error;
  }
}

/** How long the volumes of a pod took to be mounted. */
export function countVolumes(volumes: VolumesPort, { mono, starts }: Counting): VolumesPort {
  return {
    prefetch: volumes.prefetch,
    cleanUp: volumes.cleanUp,
    ensure: async (pod, signal) => {
      const began = mono();
      const outcome = await volumes.ensure(pod, signal);
      starts.spent(pod.metadata.uid, 'volumes', mono() - began);
      return outcome;
    },
  };
}

export function countAct(act: Act, { work, resizes }: Counting): Act {
  return {
    ...act,
    carryOut: async (actions, context) => {
      const outcomes = await act.carryOut(actions, context);
      for (const outcome of outcomes) {
        if (outcome.kind === 'resize') resizes.tried(outcome.problem === undefined, outcome.tookMs);
        const reason = failureOf(outcome);
        if (reason !== undefined && outcome.kind === 'start')
          work.containerFailed({ reason, type: containerType(context.pod, outcome.name) });
      }
      return outcomes;
    },
  };
}

/**
 * Starts of pods with user namespaces. What goes wrong with those often shows only when a container is created, so a start counts as
 * failed when anything failed in the pass that made the sandbox.
 */
export function countUserNamespaces({ work }: Counting): {
  requests<T extends Pick<RequestsPort, 'sandbox'>>(requests: T): T;
  act(act: Act): Act;
} {
  // By the pods whose sandbox is to be made, or is being made, in the pass that is under way: a pod has one pass at a time.
  const planned = new Set<string>();
  const starting = new Set<string>();
  return {
    requests: (requests) => ({
      ...requests,
      sandbox: (pod: Pod, attempt: number, signal: AbortSignal) => {
        // Requested again with each container: only the first time is for the sandbox itself.
        if (planned.delete(pod.metadata.uid)) {
          starting.add(pod.metadata.uid);
          work.userNamespacedPod('started');
        }
        return requests.sandbox(pod, attempt, signal);
      },
    }),
    act: (act) => ({
      ...act,
      carryOut: async (actions, context) => {
        const { metadata, spec } = context.pod;
        let failed = false;
        if (spec.hostUsers === false && actions.some(({ kind }) => kind === 'sandbox-create'))
          planned.add(metadata.uid);
        try {
          const outcomes = await act.carryOut(actions, context);
          failed = outcomes.some((outcome) => outcome.kind === 'blocked' || failureOf(outcome) !== undefined);
          return outcomes;
        } catch (error) {
          failed = !context.wanted.aborted && !context.signal.aborted;
          throw error;
        } finally {
          planned.delete(metadata.uid);
          if (starting.delete(metadata.uid) && failed) work.userNamespacedPod('failed');
        }
      },
    }),
  };
}

function failureOf(outcome: Outcome): string | undefined {
  if (outcome.kind !== 'start' || outcome.outcome.kind === 'started') return undefined;
  return outcome.outcome.kind === 'hook-failed' ? 'PostStartHookError' : outcome.outcome.reason;
}

export function containerType({ spec }: Pod, name: string): ContainerType {
  if (spec.initContainers?.some((container) => container.name === name)) return 'init_container';
  return spec.ephemeralContainers?.some((container) => container.name === name) ? 'ephemeral_container' : 'container';
}

export function countImages(images: ImagesPort, { work }: Counting): ImagesPort {
  return {
    ensure: images.ensure,
    ensureVolume: (request) => {
      work.imageVolumes('requested', 1);
      return images.ensureVolume(request);
    },
  };
}

export function countHooks(hooks: HooksPort, { work }: Counting): HooksPort {
  return {
    run: async (hook, signal) => {
      try {
        return await hooks.run(hook, signal);
      } catch (error) {
        if (hook.handler.sleep !== undefined && signal.aborted) work.sleepCutShort();
        throw error;
      }
    },
  };
}

export function countReads(observe: Pick<Observe, 'read' | 'forget'>, { mono, work }: Counting) {
  return {
    forget: observe.forget,
    read: async (...asked: Parameters<Observe['read']>): ReturnType<Observe['read']> => {
      const began = mono();
      const found = await observe.read(...asked);
      work.podRead(mono() - began);
      return found;
    },
  };
}

export function countEvents<T extends Pick<CriClient, 'watchEvents'>>(
  cri: T,
  { work }: Counting,
  now: () => number,
): T {
  return {
    ...cri,
    watchEvents: async (onEvent, signal) => {
      work.eventsAsked();
      try {
        await cri.watchEvents((event) => {
          work.eventSeen(now() - Number(event.createdAt) / 1e6);
          onEvent(event);
        }, signal);
      } catch (error) {
        if (!signal.aborted) work.eventsFailed();
        throw error;
      }
    },
  };
}
