/** Which containers of a pod are to be probed now, and by which of their probes. */
import type { Container, Probe } from '../../api/container.ts';
import type { ContainerId } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import { type ObservedContainer, presentContainer } from '../../model/observation.ts';
import type { PodView } from '../../model/pod-view.ts';
import { PROBE_TYPES, type ProbeType } from './verdict.ts';

/** What of a published view decides about probes. */
export type ProbedView = Pick<PodView, 'uid' | 'pod' | 'step' | 'observation'>;

export interface ProbedContainer {
  readonly container: Container;
  readonly seen: ObservedContainer;
  /** The probes to be run now. */
  readonly run: readonly ProbeType[];
}

const FIELDS = { startup: 'startupProbe', readiness: 'readinessProbe', liveness: 'livenessProbe' } as const;

export function probeOf(container: Container, type: ProbeType): Probe | undefined {
  return container[FIELDS[type]];
}

const DEFAULT_PERIOD_SECONDS = 10;

/** Milliseconds. */
export function periodOf(container: Container, type: ProbeType): number {
  return (probeOf(container, type)?.periodSeconds ?? DEFAULT_PERIOD_SECONDS) * 1000;
}

/** Regular containers and sidecars; an init container that only runs to its end has no probes that count. */
export function containersWithProbes({ spec }: Pod): readonly Container[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...spec.containers, ...sidecars].filter((container) => typesOf(container).length > 0);
}

/** The containers that run, each with the probes to run. One whose state is unknown to the runtime keeps its probes, but they do not run. */
export function probedContainers(
  view: ProbedView,
  hasStarted: (container: Container, id: ContainerId) => boolean,
): readonly ProbedContainer[] {
  if (view.step === 'terminated') return [];
  return containersWithProbes(view.pod).flatMap((container) => {
    const seen = presentContainer(view.observation, container.name);
    if (seen === undefined || (seen.state !== 'running' && seen.state !== 'unknown')) return [];
    const has = typesOf(container);
    const started = hasStarted(container, seen.id);
    const isRun = (type: ProbeType) => {
      // While a pod ends, only its readiness is probed.
      if (view.step === 'terminating') return type === 'readiness' && started;
      return type === 'startup' || started;
    };
    return [{ container, seen, run: seen.state === 'running' ? has.filter(isRun) : [] }];
  });
}

function typesOf(container: Container): readonly ProbeType[] {
  return PROBE_TYPES.filter((type) => probeOf(container, type) !== undefined);
}
