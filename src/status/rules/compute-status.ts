/** The status of a pod, from the runtime's observation, the verdicts of probes and the status before. */
import type { Container } from '../../api/container.ts';
import { isOwnCondition } from '../../api/pod-conditions.ts';
import type { ContainerStatus, PodCondition, PodPhase, PodStatus } from '../../api/pod-status.ts';
import { formatTimestamp } from '../../api/timestamp.ts';
import { newestContainer } from '../../model/observation.ts';
import { EVICTED } from '../../model/pod-view.ts';
import { findSources } from '../../plan/restart-all.ts';
import { isPlainInit, restartsAfterExit } from '../../plan/restart-policy.ts';
import { mayRun } from '../../plan/stop-order.ts';
import { shortenMessages } from './bounded-messages.ts';
import { computeVerdicts, settleConditions } from './conditions.ts';
import { containerStatus } from './container-status.ts';
import { finishStatus } from './finished-status.ts';
import { computePhase } from './phase.ts';
import { computeAddresses } from './pod-ips.ts';
import { podLevelResources } from './pod-level-resources.ts';
import { withProbes } from './probe-state.ts';
import type { StatusInput } from './status-input.ts';

export function computePodStatus(given: StatusInput): PodStatus {
  const input = { ...given, previous: given.previous ?? given.pod.status };
  const { pod } = input;
  const restartingAll = isRestartingAll(input);
  const replaced = replacedContainers(input);
  const facts: PodFacts = { restartingAll, replaced, initialized: hasRegularContainer(input) };
  const init = statusesOf(input, facts, pod.spec.initContainers, input.previous?.initContainerStatuses);
  const regular = statusesOf(input, facts, pod.spec.containers, input.previous?.containerStatuses);
  const ephemeral = statusesOf(input, facts, pod.spec.ephemeralContainers, input.previous?.ephemeralContainerStatuses);
  const statuses = new Map([...init, ...regular].map((status) => [status.name, status]));
  const computed = computePhase({ pod, statuses, over: isOver(input), initialized: hasActiveRegular(input), replaced });
  const phase = settlePhase(input, computed);
  const verdicts = computeVerdicts({ input, phase, statuses, restartingAll });
  const status: PodStatus = {
    ...generationOf(input),
    phase,
    ...explain(input, phase),
    conditions: [...foreignConditions(input), ...settle(input, verdicts)],
    ...computeAddresses(input),
    startTime: input.previous?.startTime ?? formatTimestamp(input.startedAt),
    ...(init.length === 0 ? {} : { initContainerStatuses: shortenMessages(pod, init) }),
    ...(regular.length === 0 ? {} : { containerStatuses: shortenMessages(pod, byName(regular)) }),
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: shortenMessages(pod, byName(ephemeral)) }),
    qosClass: input.qosClass,
    ...podLevelResources(input),
  };
  return input.step === 'terminated' ? finishStatus(pod, status) : status;
}

interface PodFacts {
  readonly restartingAll: boolean;
  readonly replaced: ReadonlySet<string>;
  readonly initialized: boolean;
}

function statusesOf(
  input: StatusInput,
  facts: PodFacts,
  containers: readonly Container[] = [],
  before: readonly ContainerStatus[] = [],
): readonly ContainerStatus[] {
  const { pod } = input;
  return containers.map((container) => {
    const plainInit = isPlainInit(pod, container);
    const previous = before.find(({ name }) => name === container.name);
    const status = containerStatus({ input, container, plainInit, previous, ...facts });
    const ephemeral = (pod.spec.ephemeralContainers ?? []).includes(container);
    return ephemeral ? status : withProbes({ input, container, plainInit, previous }, status);
  });
}

const byName = (statuses: readonly ContainerStatus[]): readonly ContainerStatus[] =>
  statuses.toSorted((left, right) => (left.name < right.name ? -1 : 1));

/** A container that asked for it is still there: it is removed last. */
function isRestartingAll({ pod, observation, gates }: StatusInput): boolean {
  const [sandbox] = observation.sandboxes;
  if (!gates.restartAllContainers || sandbox?.ready !== true) return false;
  return findSources({ pod, observation }, sandbox).length > 0;
}

/**
 * Containers that were stopped because their definition changed and that start again, although their restart policy alone would
 * not start them.
 */
function replacedContainers({ pod, observation, starting, step }: StatusInput): ReadonlySet<string> {
  const replaced = pod.spec.containers.filter((container) => {
    const newest = newestContainer(observation, container.name);
    return newest?.state === 'exited' && !restartsAfterExit(pod, container, newest.exitCode);
  });
  return new Set(replaced.map(({ name }) => name).filter((name) => step === 'syncing' && starting.has(name)));
}

function hasRegularContainer({ pod, observation }: StatusInput): boolean {
  return pod.spec.containers.some(({ name }) => {
    const newest = newestContainer(observation, name);
    return newest !== undefined && newest.state !== 'unknown';
  });
}

/** Like the above, in the sandbox of now: one that was there before a new sandbox proves nothing about it. */
function hasActiveRegular({ pod, observation }: StatusInput): boolean {
  const [sandbox] = observation.sandboxes;
  if (sandbox?.ready !== true) return false;
  const names = new Set(pod.spec.containers.map(({ name }) => name));
  return observation.containers.some(({ name, sandboxId }) => names.has(name) && sandboxId === sandbox.id);
}

/** The pod was ended and nothing of it is left running, its sandbox neither. */
function isOver({ step, observation }: StatusInput): boolean {
  if (step === 'syncing' || observation.containers.some(mayRun)) return false;
  return !observation.sandboxes.some(({ ready }) => ready);
}

const isTerminal = (phase: PodPhase | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

/**
 * A pod that has ended stays ended, and why it was ended can't be seen in its containers. One that made room for others is what its
 * containers made of it: a victim whose containers all ended with success has succeeded. An evicted pod has failed in any case.
 */
function settlePhase({ pod, previous, ended }: StatusInput, computed: PodPhase): PodPhase {
  const published = pod.status?.phase;
  if (published !== undefined && isTerminal(published)) return published;
  if (ended?.disruption !== undefined && ended.reason !== EVICTED && isTerminal(computed)) return computed;
  if (ended?.phase !== undefined) return ended.phase;
  if (isTerminal(computed)) return computed;
  return previous?.phase !== undefined && isTerminal(previous.phase) ? previous.phase : computed;
}

/** Reason and message belong to the phase: they stay as long as it does. */
function explain({ previous, ended }: StatusInput, phase: PodPhase): Pick<PodStatus, 'reason' | 'message'> {
  if (ended?.phase !== undefined && ended.phase === phase) return { reason: ended.reason, message: ended.message };
  if (previous?.phase !== phase) return {};
  return {
    ...(previous.reason === undefined ? {} : { reason: previous.reason }),
    ...(previous.message === undefined ? {} : { message: previous.message }),
  };
}

function generationOf({ pod }: StatusInput): Pick<PodStatus, 'observedGeneration'> {
  const { generation } = pod.metadata;
  return generation === undefined || generation === 0 ? {} : { observedGeneration: generation };
}

/** Conditions of other clients stay as they are, and so does a disruption that was published. */
function foreignConditions({ pod, previous, ended }: StatusInput): readonly PodCondition[] {
  const foreign = (pod.status?.conditions ?? []).filter((condition) => !isOwnCondition(condition));
  const disruption = previous?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  const others = foreign.filter(
    ({ type }) => type !== 'DisruptionTarget' || (disruption ?? ended?.disruption) === undefined,
  );
  return ended?.disruption !== undefined || disruption === undefined ? others : [...others, disruption];
}

function settle(input: StatusInput, verdicts: Parameters<typeof settleConditions>[0]['verdicts']) {
  return settleConditions({
    verdicts,
    previous: input.previous?.conditions ?? [],
    generation: input.pod.metadata.generation,
    now: formatTimestamp(input.now),
  });
}
