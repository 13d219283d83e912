/** For the test of the recorded lives: what a worker would have known at the moment of a recorded status. */

import { containerId, podUid, sandboxId } from '../../src/api/ids.ts';
import type { Pod } from '../../src/api/pod.ts';
import type { ContainerStateTerminated, ContainerStatus, PodStatus } from '../../src/api/pod-status.ts';
import { parseTimestamp } from '../../src/api/timestamp.ts';
import type { ObservedContainer } from '../../src/model/observation.ts';
import type { WaitingReason } from '../../src/model/plan.ts';
import type { ProbeVerdict } from '../../src/model/probe-results.ts';
import { DEADLINE_EXCEEDED } from '../../src/plan/deadline.ts';
import type { StatusView } from '../../src/status/rules/status-view.ts';
import type { RecordedLife } from './lives.ts';

const SCHEME = 'containerd://';
const DEFAULT_WAITING = new Set(['ContainerCreating', 'PodInitializing']);

const time = (text: string | null | undefined): number => parseTimestamp(text ?? '') ?? 0;
const allOf = (status: PodStatus): readonly ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
];
const bare = (id: string | undefined): string => (id ?? '').slice(SCHEME.length);

export function reconstructView(life: RecordedLife, index: number): { readonly view: StatusView; readonly at: number } {
  const { status, deleting } = at(life, index);
  const started = time(life.statuses[1]?.status.startTime);
  const times = (status.conditions ?? []).map(({ lastTransitionTime }) => time(lastTransitionTime));
  const terminal = status.phase === 'Succeeded' || status.phase === 'Failed';
  const rejected = status.message?.startsWith('Pod was rejected: ') === true;
  const view: StatusView = {
    pod: podAt(life, index),
    step: terminal ? 'terminated' : deleting ? 'terminating' : 'syncing',
    observation: {
      uid: podUid(life.pod.metadata.uid),
      name: life.pod.metadata.name,
      namespace: life.pod.metadata.namespace,
      takenAt: index,
      sandboxes: sandboxesAt(life, index),
      containers: containersAt(life, index),
    },
    probes: {
      startup: verdicts(status, ({ started: up }) => (up === true ? 'success' : 'unknown')),
      liveness: new Map(),
      readiness: verdicts(status, ({ ready }) => (ready ? 'success' : 'failure')),
    },
    waiting: waitingAt(life, index),
    starting: new Set(),
    startedAt: started,
    ended: endedAt(life, index),
    rejected: rejected
      ? { reason: status.reason ?? '', message: (status.message ?? '').slice('Pod was rejected: '.length) }
      : undefined,
  };
  return { view, at: Math.max(started, ...times) };
}

function at(life: RecordedLife, index: number): { readonly status: PodStatus; readonly deleting: boolean } {
  const recorded = life.statuses[index];
  if (recorded === undefined) throw new RangeError(`${life.name} has no status ${index}`);
  return { status: recorded.status, deleting: recorded.deleting === true };
}

function podAt(life: RecordedLife, index: number): Pod {
  const { status, deleting } = at(life, index);
  const { pod } = life;
  const deletion = deleting ? { deletionTimestamp: '2026-11-15T10:10:00Z' } : {};
  const generation = status.observedGeneration ?? 0;
  return { ...pod, metadata: { ...pod.metadata, generation, ...deletion }, status: life.statuses[0]?.status ?? {} };
}

/** The deadline shows first in the conditions, while the containers still run. */
function endedAt(life: RecordedLife, index: number): StatusView['ended'] {
  if (life.pod.spec.activeDeadlineSeconds === undefined) return undefined;
  const failed = (at(life, index).status.conditions ?? []).some(({ reason }) => reason === 'PodFailed');
  return failed ? DEADLINE_EXCEEDED : undefined;
}

function verdicts(status: PodStatus, judge: (status: ContainerStatus) => ProbeVerdict) {
  return new Map(allOf(status).map((one) => [containerId(bare(one.containerID)), judge(one)]));
}

/** Remembered by the worker until the container runs, also when no one asks any more. */
function waitingAt(life: RecordedLife, index: number): ReadonlyMap<string, WaitingReason> {
  const waiting = new Map<string, WaitingReason>();
  for (let i = 1; i <= index; i += 1) {
    for (const { name, state } of allOf(at(life, i).status)) {
      if (state.running !== undefined) waiting.delete(name);
      const { reason = '', message = '' } = state.waiting ?? {};
      if (reason !== '' && !DEFAULT_WAITING.has(reason)) waiting.set(name, { reason, message });
      else if (state.terminated !== undefined && i === index && !at(life, i).deleting) waiting.delete(name);
    }
  }
  return waiting;
}

function sandboxesAt(life: RecordedLife, index: number): StatusView['observation']['sandboxes'] {
  const call = life.cri.find((one) => one.call === 'RunPodSandbox');
  const ready = (at(life, index).status.conditions ?? []).find(({ type }) => type === 'PodReadyToStartContainers');
  const seen = life.statuses.slice(0, index + 1).some(({ status }) => isTrue(status, 'PodReadyToStartContainers'));
  if (call === undefined || !seen) return [];
  const hostNetwork = life.pod.spec.hostNetwork ?? false;
  const ip = life.statuses.map(({ status }) => status.podIP).find((one) => one !== undefined);
  return [
    {
      id: sandboxId(String(call.res?.['pod_sandbox_id'])),
      attempt: 0,
      ready: ready?.status === 'True',
      createdAt: call.ms,
      hostNetwork,
      ips: hostNetwork || ip === undefined ? [] : [ip],
      runtimeHandler: '',
    },
  ];
}

function isTrue(status: PodStatus, type: string): boolean {
  return (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}

interface Sighting {
  readonly status: ContainerStatus;
  ended: ContainerStateTerminated | undefined;
}

/** A container is there once a status has shown it, until its removal was called; the newest comes first. */
function containersAt(life: RecordedLife, index: number): readonly ObservedContainer[] {
  const seen = new Map<string, Sighting>();
  for (let i = 1; i <= index; i += 1) {
    for (const status of allOf(at(life, i).status)) note(seen, status);
  }
  const removed = removedAt(life, index);
  const made = life.cri.flatMap(({ res }) =>
    res?.['container_id'] === undefined ? [] : [String(res['container_id'])],
  );
  return made
    .toReversed()
    .filter((id) => !removed.has(id))
    .flatMap((id) => {
      const sighting = seen.get(id);
      return sighting === undefined ? [] : [toObserved(life, id, sighting)];
    });
}

/** What is removed after the sandbox was stopped was still there when the end of the pod was read. */
function removedAt(life: RecordedLife, index: number): ReadonlySet<string> {
  const stopped = life.cri.find(({ call }) => call === 'StopPodSandbox')?.ms ?? Number.POSITIVE_INFINITY;
  const until = Math.min(stopped, life.statuses[index]?.ms ?? 0);
  const calls = life.cri.filter(({ call, ms }) => call === 'RemoveContainer' && ms <= until);
  return new Set(calls.map(({ req }) => String(req['container_id'])));
}

function note(seen: Map<string, Sighting>, status: ContainerStatus): void {
  const id = bare(status.containerID);
  if (id !== '' && !seen.has(id)) seen.set(id, { status, ended: undefined });
  for (const end of [status.state.terminated, status.lastState.terminated]) {
    const sighting = seen.get(bare(end?.containerID));
    if (sighting !== undefined) sighting.ended = end;
  }
}

function toObserved(life: RecordedLife, id: string, { status, ended }: Sighting): ObservedContainer {
  const user = status.user?.linux;
  const sandbox = life.cri.find((call) => call.call === 'RunPodSandbox')?.res?.['pod_sandbox_id'];
  return {
    id: containerId(id),
    sandboxId: sandboxId(String(sandbox)),
    name: status.name,
    state: ended === undefined ? 'running' : 'exited',
    createdAt: 0,
    startedAt: time(ended?.startedAt ?? status.state.running?.startedAt),
    finishedAt: time(ended?.finishedAt),
    exitCode: ended?.exitCode ?? 0,
    reason: ended?.reason ?? '',
    message: ended?.message ?? '',
    image: status.image,
    imageId: '',
    imageRef: status.imageID,
    hash: '',
    restartCount: restartCountOf(life, id),
    annotations: {},
    logPath: '',
    user: user === undefined ? undefined : { uid: user.uid, gid: user.gid, groups: user.supplementalGroups ?? [] },
    stopSignal: '',
  };
}

/** From the request that made it, not from the status. */
function restartCountOf(life: RecordedLife, id: string): number {
  const call = life.cri.find(({ res }) => res?.['container_id'] === id);
  const config = call?.req['config'] as { readonly annotations?: Readonly<Record<string, string>> } | undefined;
  return Number(config?.annotations?.['io.kubernetes.container.restartCount'] ?? 0);
}
