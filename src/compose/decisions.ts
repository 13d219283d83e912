/** What decisions about pods depend on besides the pod itself. */
import type { Pod } from '../api/pod.ts';
import { allContainers } from '../api/pod-traits.ts';
import type { Config } from '../config/config.ts';
import type { Observation } from '../model/observation.ts';
import type { BackOffSettings } from '../plan/snapshot.ts';
import type { DecisionInputs } from '../pods/worker-deps.ts';
import { findGarbage, shareOfDead } from '../runtime/rules/garbage.ts';
import { hashContainer } from '../runtime/spec/hash.ts';

const CRASH_INITIAL_MS = 10_000;
const CRASH_MAX_MS = 300_000;
const CRASH_RESET_MS = 600_000;

export function composeDecisions(
  config: Config,
  others: Pick<DecisionInputs, 'probes' | 'restartCounts'>,
  observations: () => readonly Observation[],
): DecisionInputs {
  const { deadMinimumAge: minimumAge, deadPerContainer, deadTotal: total } = config.settings.containers;
  return {
    ...others,
    backOff: backOffOf(config),
    hashes: createHashes(),
    garbage: (observation, now) => {
      const names = total < 0 ? 0 : observations().reduce((sum, one) => sum + namesWithDead(one), 0);
      const perContainer = shareOfDead({ perContainer: deadPerContainer, total }, names);
      return findGarbage(observation, { minimumAge, perContainer }, now);
    },
  };
}

function namesWithDead({ containers }: Observation): number {
  return new Set(containers.filter(({ state }) => state === 'exited').map(({ name }) => name)).size;
}

function backOffOf({ kubelet }: Config): BackOffSettings {
  const maxMs = kubelet.crashLoopBackOff.maxContainerRestartPeriod ?? CRASH_MAX_MS;
  return { initialMs: Math.min(CRASH_INITIAL_MS, maxMs), maxMs, resetAfterMs: CRASH_RESET_MS };
}

/** The hashes of a pod's containers, made once for each description of it. */
function createHashes(): (pod: Pod) => ReadonlyMap<string, string> {
  const known = new WeakMap<Pod, ReadonlyMap<string, string>>();
  return (pod) => {
    const hashes = known.get(pod) ?? new Map(allContainers(pod).map((one) => [one.name, hashContainer(one)]));
    known.set(pod, hashes);
    return hashes;
  };
}
