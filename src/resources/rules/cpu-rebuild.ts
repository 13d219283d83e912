/** Whether the state that an earlier kubelet wrote fits this machine and its settings; and what containers keep that run, where it does not. */
import { formatCpuSet } from '../../api/cpu-set.ts';
import type { Pod } from '../../api/pod.ts';
import { assign, type CpuSet, type CpuState, initialShared, type StaticCpus } from './cpu-static.ts';
import { exclusiveCpus, isManaged, isPodManaged } from './exclusive-cpus.ts';

const listed = (cpus: CpuSet): string => JSON.stringify(formatCpuSet([...cpus]));

/**
 * In the words of the reference. An empty state fits. With strict reservation containers may have all CPUs that are not reserved: the reference does not
 * start then.
 */
export function stateProblem(policy: StaticCpus, { shared, containers, pods }: CpuState): string | undefined {
  const { reserved, options } = policy;
  if (shared.size === 0 && containers.size === 0) return undefined;
  if (shared.size === 0 && !options.strictReservation) return 'default cpuset cannot be empty';
  const inShared = reserved.intersection(shared);
  if (options.strictReservation && inShared.size > 0)
    return `some of strictly reserved cpus: ${listed(inShared)} are present in defaultCpuSet: ${listed(shared)}`;
  if (!options.strictReservation && inShared.size !== reserved.size)
    return `not all reserved cpus: ${listed(reserved)} are present in defaultCpuSet: ${listed(shared)}`;
  let known = shared;
  const owners = new Map<number, string>();
  for (const [uid, own] of containers) {
    for (const [container, cpus] of own) {
      if (!shared.isDisjointFrom(cpus))
        return `pod: ${uid}, container: ${container} cpuset: ${listed(cpus)} overlaps with default cpuset ${listed(shared)}`;
      const other = [...cpus].map((cpu) => owners.get(cpu)).find((owner) => owner !== undefined && owner !== uid);
      if (other !== undefined)
        return `pod: ${uid}, container: ${container} cpuset: ${listed(cpus)} overlaps with that of pod ${other}`;
      for (const cpu of cpus) owners.set(cpu, uid);
      known = known.union(cpus);
    }
  }
  for (const cpus of pods.values()) known = known.union(cpus);
  const all = initialShared(policy);
  if (known.symmetricDifference(all).size === 0) return undefined;
  return `current set of available CPUs ${listed(all)} doesn't match with CPUs in state ${listed(known)}`;
}

/**
 * A container that runs keeps its CPUs where they are as many as it requests, none of them is reserved, and no other pod has one of them. Else it runs
 * on what all share until it is started again in a new pod: CPUs are not taken from under others for it.
 */
export function rebuildCpus(
  policy: StaticCpus,
  state: CpuState,
  { pod, live }: { readonly pod: Pod; readonly live: readonly { container: string; cpus: CpuSet }[] },
): CpuState {
  const { uid } = pod.metadata;
  if (!isManaged(pod, policy.gates) || isPodManaged(pod, policy.gates)) return state;
  const own = [...(state.containers.get(uid)?.values() ?? [])].reduce(
    (all, cpus) => all.union(cpus),
    new Set<number>(),
  );
  const free = state.shared.difference(policy.reserved).union(own);
  let next = state;
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const cpus = live.find((one) => one.container === container.name)?.cpus;
    const count = exclusiveCpus(pod, container, policy.gates);
    if (cpus === undefined || count === 0 || cpus.size !== count || !cpus.isSubsetOf(free)) continue;
    next = assign({ ...next, shared: next.shared.difference(cpus) }, uid, container.name, cpus);
  }
  return next;
}
