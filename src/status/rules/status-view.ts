/** What of a published view the status is made from. */
import type { Plan } from '../../model/plan.ts';
import type { PodView } from '../../model/pod-view.ts';
import type { ProbeResults } from '../../model/probe-results.ts';
import type { StatusView } from '../status.ts';

export function statusView(view: PodView, probes: ProbeResults): StatusView {
  const { pod, step, observation, memory, plan, acknowledgedAt, ended, resizeRefused } = view;
  const remembered = [...memory].flatMap(([name, { waiting }]) => (waiting ? [[name, waiting] as const] : []));
  return {
    pod,
    step,
    observation,
    probes,
    waiting: new Map([...remembered, ...(plan?.waiting ?? [])]),
    starting: new Set(startedBy(plan)),
    startedAt: acknowledgedAt,
    resizeRefused,
    ended: ended?.rejected ? undefined : ended,
    rejected: ended?.rejected ? ended : undefined,
  };
}

function startedBy(plan: Plan | undefined): readonly string[] {
  return (plan?.actions ?? []).flatMap((action) => (action.kind === 'container-start' ? [action.name] : []));
}
