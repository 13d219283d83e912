/**
 * A container ended with an exit code whose rule restarts the whole pod: every container is removed and the pod starts
 * again in its sandbox. Those whose exit code requested it are removed last, so that the request is not lost when the kubelet dies half way.
 */
import type { Container } from '../api/container.ts';
import type { ObservedContainer, ObservedSandbox } from '../model/observation.ts';
import { presentContainer } from '../model/observation.ts';
import type { Plan } from '../model/plan.ts';
import type { Draft } from './draft.ts';
import { asksToRestartAll } from './restart-policy.ts';
import type { Snapshot } from './snapshot.ts';
import { mayRun } from './stop-order.ts';

export interface RestartSource {
  readonly container: Container;
  readonly seen: ObservedContainer;
}

/** The request of a container of an older sandbox is done: in a new sandbox everything has started again. */
export function findSources(
  { pod, observation }: Pick<Snapshot, 'pod' | 'observation'>,
  sandbox: ObservedSandbox,
): readonly RestartSource[] {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].flatMap((container) => {
    const seen = presentContainer(observation, container.name);
    if (seen?.state !== 'exited' || seen.sandboxId !== sandbox.id) return [];
    return asksToRestartAll(container, seen.exitCode) ? [{ container, seen }] : [];
  });
}

/** The crash back-off holds here too: a pod that fails at once must not restart as fast as the machine can. */
export function planRestartAll(draft: Draft, sources: readonly RestartSource[]): Plan {
  const allowed = sources.filter(({ container }) => draft.mayStart(container));
  if (allowed.length < sources.length) return draft.finish(false);
  const { pod, observation } = draft.snapshot;
  const names = new Set([...(pod.spec.initContainers ?? []), ...pod.spec.containers].map(({ name }) => name));
  const all = observation.containers.filter(({ name }) => names.has(name));
  const asking = new Set(sources.map(({ seen }) => seen.id));
  for (const container of all.filter(mayRun)) {
    draft.stop(container, { message: 'killing', reason: 'RestartAllContainers', graceSeconds: 0 });
  }
  const reason = 'all containers of the pod restart';
  for (const container of all) if (!asking.has(container.id)) draft.remove(container, reason);
  for (const { seen } of sources) draft.remove(seen, reason);
  return draft.finish(false);
}
