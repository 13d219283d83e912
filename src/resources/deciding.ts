/** What each provider gives to each container of a pod: hints are merged by the topology policy, for each container or for the pod as a whole. */
import type { Container } from '../api/container.ts';
import type { Pod } from '../api/pod.ts';
import type { Assigned, TopologyHint } from '../model/assignment.ts';
import type { HintProvider } from './ports.ts';
import { type MergedHint, mergeHints, type TopologySettings } from './rules/topology-merge.ts';

/** What a topology policy decides with. */
export interface AssigningTopology extends TopologySettings {
  /** Pods with resources of their own get their share as a whole: the gate PodLevelResourceManagers. */
  readonly isPodManaged: (pod: Pod) => boolean;
  readonly meter?: TopologyMeter | undefined;
}

export interface TopologyMeter {
  /** A pod is decided on; the result is to be called when that is done. */
  begun(): () => void;
  refused(): void;
  /** With a policy that guarantees one NUMA node. */
  aligned(scope: 'container' | 'pod', success: boolean): void;
}

/** In the words of the reference kubelet. */
const NO_LOCALITY = 'Resources cannot be allocated with Topology locality';
const POD_LOCALITY = {
  container: 'Pod Scope pod with pod-level resources failed admission with a container-level topology manager',
  pod: 'Pod Scope pod with pod-level resources failed admission under pod-scope topology manager',
};

const DONE: Assigned = { kind: 'done' };

type Decide = (pod: Pod, signal: AbortSignal) => Promise<Assigned>;

export function createDeciding(providers: readonly HintProvider[], topology: AssigningTopology | undefined): Decide {
  if (topology === undefined || topology.policy === 'none')
    return (pod, signal) => allocateContainers(providers, { pod, hint: () => undefined }, signal);
  return topology.scope === 'container' ? decideByContainer(providers, topology) : decideByPod(providers, topology);
}

function decideByContainer(providers: readonly HintProvider[], topology: AssigningTopology): Decide {
  return (pod, signal) => {
    const hint = (container: Container) => {
      const merged = place(
        providers.map((one) => one.hintsFor(pod, container)),
        topology,
      );
      return merged.admit ? merged.hint : noLocality(topology, pod);
    };
    const onDone = () => countAligned(topology, true);
    return allocateContainers(providers, { pod, hint, onDone }, signal);
  };
}

function decideByPod(providers: readonly HintProvider[], topology: AssigningTopology): Decide {
  return async (pod, signal) => {
    const { hint, admit } = place(
      providers.map((one) => one.hintsForPod(pod)),
      topology,
    );
    if (!admit) return noLocality(topology, pod);
    const assigned = topology.isPodManaged(pod)
      ? await allocateWhole(providers, { pod, hint }, signal)
      : await allocateContainers(providers, { pod, hint: () => hint }, signal);
    if (assigned.kind === 'done') countAligned(topology, true);
    return assigned;
  };
}

function place(hints: readonly ReturnType<HintProvider['hintsForPod']>[], topology: AssigningTopology): MergedHint {
  const merged = mergeHints(hints, topology);
  if (!merged.admit) countAligned(topology, false);
  return merged;
}

/** Only one policy promises that everything is on one node. */
function countAligned({ policy, scope, meter }: AssigningTopology, success: boolean): void {
  if (policy === 'single-numa-node') meter?.aligned(scope, success);
}

type Refused = Extract<Assigned, { kind: 'refused' }>;

function noLocality({ isPodManaged, scope }: AssigningTopology, pod: Pod): Refused {
  const message = isPodManaged(pod) ? POD_LOCALITY[scope] : NO_LOCALITY;
  return { kind: 'refused', reason: 'TopologyAffinityError', message };
}

interface ContainerPass {
  readonly pod: Pod;
  readonly hint: (container: Container) => TopologyHint | Refused | undefined;
  readonly onDone?: () => void;
}

/** Init containers first: what they have can be given to regular ones too. */
async function allocateContainers(
  providers: readonly HintProvider[],
  { pod, hint: hintOf, onDone }: ContainerPass,
  signal: AbortSignal,
): Promise<Assigned> {
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const hint = hintOf(container);
    if (hint !== undefined && 'kind' in hint) return hint;
    for (const provider of providers) {
      const assigned = await provider.allocate({ pod, container, hint }, signal);
      if (assigned.kind !== 'done') return assigned;
    }
    onDone?.();
  }
  return DONE;
}

async function allocateWhole(
  providers: readonly HintProvider[],
  { pod, hint }: { readonly pod: Pod; readonly hint: TopologyHint },
  signal: AbortSignal,
): Promise<Assigned> {
  for (const provider of providers) {
    const assigned = await (provider.allocatePod?.({ pod, hint }, signal) ??
      allocateContainers([provider], { pod, hint: () => hint }, signal));
    if (assigned.kind !== 'done') return assigned;
  }
  return DONE;
}
