/** Which probes of a pod begin, pause and go, so that they are those that its view asks for. */
import type { Container, Probe } from '../../api/container.ts';
import type { ContainerId } from '../../api/ids.ts';
import type { ObservedContainer } from '../../model/observation.ts';
import type { ProbeType } from './verdict.ts';
import { type ProbedView, probedContainers, probeOf } from './wanted.ts';

export interface ProbeKey {
  readonly type: ProbeType;
  readonly id: ContainerId;
}

export interface NewProbe {
  readonly type: ProbeType;
  readonly spec: Probe;
  readonly container: Container;
  readonly seen: ObservedContainer;
}

export interface ProbesPlan<Known extends ProbeKey> {
  /** Their containers are gone. */
  readonly remove: readonly Known[];
  readonly begin: readonly NewProbe[];
  /** The pod ends: they are not run any more, but their verdicts stay. */
  readonly pause: readonly Known[];
}

export function planProbes<Known extends ProbeKey>(
  view: ProbedView,
  known: readonly Known[],
  hasStarted: (container: Container, id: ContainerId) => boolean,
): ProbesPlan<Known> {
  const wanted = probedContainers(view, hasStarted);
  const byId = new Map(wanted.map((one) => [one.seen.id, one]));
  const has = (type: ProbeType, id: ContainerId) => known.some((probe) => probe.type === type && probe.id === id);
  return {
    remove: known.filter(({ id }) => !byId.has(id)),
    begin: wanted.flatMap(({ container, seen, run }) =>
      run.flatMap((type) => {
        const spec = probeOf(container, type);
        return spec === undefined || has(type, seen.id) ? [] : [{ type, spec, container, seen }];
      }),
    ),
    pause: view.step === 'syncing' ? [] : known.filter(({ type, id }) => byId.get(id)?.run.includes(type) === false),
  };
}
