/** Ports as they are, but what goes through them is counted and timed: the parts themselves know nothing of metrics. */
import type { Act } from '../act/act.ts';
import type { HooksPort, ImagesPort, RequestsPort, RuntimePort } from '../act/ports.ts';
import type { Pod } from '../api/pod.ts';
import type { Cgroups } from '../host/cgroups.ts';
import type { Outcome } from '../model/outcome.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { Observe } from '../runtime/observe/observe.ts';
import type { ContainerType } from '../telemetry/metrics-pods.ts';
import type { WorkMetrics } from '../telemetry/metrics-work.ts';

export interface Counting {
  /** Milliseconds. */
  readonly mono: () => number;
  readonly work: WorkMetrics;
}

export function countRuntime(cri: RuntimePort, { mono, work }: Counting): RuntimePort {
  const runSandbox: RuntimePort['sandboxes']['run'] = async (request, signal) => {
    const began = mono();
    const tell = (failed: boolean) =>
      work.sandboxRun({
        runtimeHandler: request.runtimeHandler,
        ms: mono() - began,
        failed,
      });
    return await toldOf(() => cri.sandboxes.run(request, signal), tell, signal);
  };
  const createContainer: RuntimePort['containers']['create'] = async (request, signal) => {
    const images = (request.config.mounts ?? []).filter(({ image }) => image !== undefined).length;
    const tell = (failed: boolean) => work.imageVolumes(failed ? 'failed' : 'mounted', images);
    return await toldOf(() => cri.containers.create(request, signal), tell, signal);
  };
  return {
    sandboxes: { ...cri.sandboxes, run: runSandbox },
    containers: { ...cri.containers, create: createContainer },
  };
}

/** What was taken back neither went well nor failed. */
async function toldOf<T>(call: () => Promise<T>, tell: (failed: boolean) => void, signal: AbortSignal): Promise<T> {
  try {
    const answer = await call();
    tell(false);
    return answer;
  } catch (error) {
    if (!signal.aborted) tell(true);
    throw error;
  }
}

export function countAct(act: Act, { work }: Counting): Act {
  return {
    ...act,
    carryOut: async (actions, context) => {
      const outcomes = await act.carryOut(actions, context);
      for (const outcome of outcomes) {
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
        // Asked for again with each container: only the first time is for the sandbox itself.
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
    ensureVolume: (asked) => {
      work.imageVolumes('requested', 1);
      return images.ensureVolume(asked);
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

export function countCgroups(cgroups: Cgroups, { mono, work }: Counting): Cgroups {
  const timed = <T>(operation: 'create' | 'update', call: () => T): T => {
    const began = mono();
    const answer = call();
    work.cgroup(operation, mono() - began);
    return answer;
  };
  return {
    ...cgroups,
    create: (path) => timed('create', () => cgroups.create(path)),
    write: (path, values) => timed('update', () => cgroups.write(path, values)),
    remove: async (path) => {
      const began = mono();
      const isGone = await cgroups.remove(path);
      if (isGone) work.cgroup('destroy', mono() - began);
      return isGone;
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
