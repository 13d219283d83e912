/** What of a published view the status is made from. */
import type { Pod } from '../../api/pod.ts';
import type { Allocation, PodResize } from '../../model/allocation.ts';
import type { Observation } from '../../model/observation.ts';
import type { Plan, WaitingReason } from '../../model/plan.ts';
import type { PodStep, PodView } from '../../model/pod-view.ts';
import type { ProbeResults } from '../../model/probe-results.ts';
import type { Rejection } from './rejected-status.ts';
import type { EndReason } from './status-input.ts';

export interface StatusView {
  readonly pod: Pod;
  readonly step: PodStep;
  readonly observation: Observation;
  readonly probes: ProbeResults;
  /** Why containers that should run do not, by name: from the plan and from the last outcomes. */
  readonly waiting: ReadonlyMap<string, WaitingReason>;
  /** The containers that are being started now, by name. */
  readonly starting: ReadonlySet<string>;
  /** When the kubelet first had the pod, wall clock, milliseconds. */
  readonly startedAt: number;
  readonly ended?: EndReason | undefined;
  readonly resize?: PodResize | undefined;
  readonly inForce?: Allocation | undefined;
  /** The pod was not admitted. */
  readonly rejected?: Rejection | undefined;
}

export function statusView(view: PodView, probes: ProbeResults): StatusView {
  const { pod, step, observation, memory, plan, acknowledgedAt, ended, resize, inForce } = view;
  const remembered = [...memory].flatMap(([name, { waiting }]) => (waiting ? [[name, waiting] as const] : []));
  return {
    pod,
    step,
    observation,
    probes,
    waiting: new Map([...remembered, ...(plan?.waiting ?? [])]),
    starting: new Set(startedBy(plan)),
    startedAt: acknowledgedAt,
    resize,
    inForce,
    ended: ended?.rejected ? undefined : ended,
    rejected: ended?.rejected ? ended : undefined,
  };
}

function startedBy(plan: Plan | undefined): readonly string[] {
  return (plan?.actions ?? []).flatMap((action) => (action.kind === 'container-start' ? [action.name] : []));
}
