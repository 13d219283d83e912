/**
 * What the runtime has, as observations, and who must look again. Events only wake; a worker then reads fresh state, with the
 * ends that events have told beside it where the runtime's status is not so far yet. Every reading is a pair of filtered lists
 * plus the statuses of what has changed; a slow relist of everything finds what events did not tell.
 */
import { type ContainerId, containerId, type PodUid } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Part } from '../../base/lifecycle.ts';
import type { Logger } from '../../base/logger.ts';
import type { Supervisor } from '../../base/supervise.ts';
import type { AnnouncedEnd, Observation } from '../../model/observation.ts';
import type { FoundPod, PodIdentity } from '../../model/pod-identity.ts';
import {
  type Container,
  type ContainerFilter,
  type PodSandbox,
  type PodSandboxFilter,
  PodSandboxState,
} from '../../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../wire/message.ts';
import { POD_UID } from '../spec/labels.ts';
import { createAnnouncedEnds } from './announced-ends.ts';
import { createEventFollower, type EventStreams } from './events.ts';
import { createRelisting } from './relist.ts';
import { fingerprint, runState, runtimePodOf } from './rules/reading.ts';
import { restorePod } from './rules/restore-pod.ts';
import { createStatusCache, type MessageFiles, type StatusCache, type StatusCalls } from './status-cache.ts';

export interface ObservedRuntime extends EventStreams {
  readonly sandboxes: {
    list(filter: Init<PodSandboxFilter> | undefined, signal: AbortSignal): Promise<readonly PodSandbox[]>;
    status(id: string, options: object, signal: AbortSignal): ReturnType<StatusCalls['sandbox']>;
  };
  readonly containers: {
    list(filter: Init<ContainerFilter> | undefined, signal: AbortSignal): Promise<readonly Container[]>;
    status(id: string, options: object, signal: AbortSignal): ReturnType<StatusCalls['container']>;
  };
}

export interface ObserveDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly runtime: ObservedRuntime;
  readonly messages: MessageFiles;
  /** Something of this pod has changed, or may have. Must not wait for anything. */
  readonly wake: (uid: PodUid) => void;
  /** The end of a container of this pod was announced: the next one may start. Must not wait for anything. */
  readonly foretell: (uid: PodUid) => void;
  /** How often everything is listed while all is quiet, ms; `RELIST_MS` unless told. */
  readonly relistMs?: number;
  /** Everything was listed. */
  readonly onList: (pods: readonly FoundPod[]) => void;
  /** Told how long a list of everything took, and how long after the one before it was made: for metrics. */
  readonly onRelist?: ((report: { readonly tookMs: number; readonly sinceMs: number | undefined }) => void) | undefined;
}

export interface Observe extends Part {
  /** Everything the runtime has of this pod now. Nothing that happened before the call is missing. */
  read(pod: PodIdentity, signal: AbortSignal): Promise<Observation>;
  /** Every pod that the runtime has something of. */
  list(signal: AbortSignal): Promise<readonly FoundPod[]>;
  /** Lets go of what is kept for a pod that has gone. */
  forget(uid: PodUid): void;
  /** A pod that no source has any more, as far as it can be told from what the runtime has of it. */
  restore(pod: PodIdentity, signal: AbortSignal): Promise<Pod>;
  /** When everything was last listed without an error (monotonic ms), undefined before the first time. */
  lastRelist(): number | undefined;
}

export const RELIST_MS = 60_000;

interface Known {
  readonly cache: StatusCache;
  fingerprint: string;
}

export function createObserve(deps: ObserveDeps): Observe {
  const { clock, log, supervisor, runtime, wake, onList } = deps;
  const calls: StatusCalls = {
    sandbox: (id, signal) => runtime.sandboxes.status(id, {}, signal),
    container: (id, signal) => runtime.containers.status(id, {}, signal),
    messages: deps.messages,
  };
  const pods = new Map<PodUid, Known>();
  const owners = new Map<string, PodUid>();
  const ends = createAnnouncedEnds(clock);
  let relisted: number | undefined;

  const known = (uid: PodUid): Known => {
    let entry = pods.get(uid);
    if (entry === undefined) {
      entry = { cache: createStatusCache(calls), fingerprint: '' };
      pods.set(uid, entry);
    }
    return entry;
  };

  const lists = (filter: { labelSelector: Record<string, string> } | undefined, signal: AbortSignal) =>
    Promise.all([runtime.sandboxes.list(filter, signal), runtime.containers.list(filter, signal)]);

  /** Where events are ahead of these lists. */
  const aheadOf = (sandboxes: readonly PodSandbox[], containers: readonly Container[]) => {
    const over = [...sandboxes.filter(hasStopped), ...containers.filter(hasExited)].map(({ id }) => id);
    ends.forget(over);
    const announced = new Map<ContainerId, AnnouncedEnd>();
    for (const { id } of containers) {
      const end = ends.get(id);
      if (end !== undefined) announced.set(containerId(id), end);
    }
    const wait = ends.lookAgainIn(
      [...sandboxes, ...containers].map(({ id }) => id),
      follower.criTells(),
    );
    return {
      ...(announced.size === 0 ? {} : { announced }),
      ...(wait === undefined ? {} : { lookAgainAt: clock.now() + wait }),
    };
  };

  const read = async (pod: PodIdentity, signal: AbortSignal): Promise<Observation> => {
    relisting.noteActivity();
    const takenAt = clock.mono();
    const [sandboxes, containers] = await lists({ labelSelector: { [POD_UID]: pod.uid } }, signal);
    const entry = known(pod.uid);
    const [readSandboxes, readContainers] = await Promise.all([
      Promise.all(sandboxes.map((listed) => entry.cache.sandbox(listed, signal))),
      Promise.all(containers.map((listed) => entry.cache.container(listed, signal))),
    ]);
    const ids = new Set([...sandboxes, ...containers].map(({ id }) => id));
    entry.cache.keepOnly(ids);
    entry.fingerprint = fingerprint(sandboxes, containers);
    for (const id of ids) owners.set(id, pod.uid);
    return {
      ...pod,
      takenAt,
      sandboxes: readSandboxes.filter((sandbox) => sandbox !== undefined).sort(newestFirst),
      containers: readContainers.filter((container) => container !== undefined).sort(newestFirst),
      ...aheadOf(sandboxes, containers),
    };
  };

  const listAll = async (signal: AbortSignal) => {
    const [sandboxes, containers] = await lists(undefined, signal);
    const found = new Map<PodUid, Found>();
    const entryOf = (labels: Readonly<Record<string, string>>) => {
      const pod = runtimePodOf(labels);
      if (pod === undefined) return undefined;
      const entry: Found = found.get(pod.uid) ?? { pod, sandboxes: [], containers: [] };
      found.set(pod.uid, entry);
      return entry;
    };
    for (const sandbox of sandboxes) entryOf(sandbox.labels)?.sandboxes.push(sandbox);
    for (const container of containers) entryOf(container.labels)?.containers.push(container);
    return found;
  };

  const relist = async (signal: AbortSignal): Promise<void> => {
    const began = clock.mono();
    const found = await listAll(signal);
    owners.clear();
    for (const { pod, sandboxes, containers } of found.values()) {
      for (const { id } of [...sandboxes, ...containers]) owners.set(id, pod.uid);
      if (pods.get(pod.uid)?.fingerprint !== fingerprint(sandboxes, containers)) wake(pod.uid);
    }
    for (const [uid, entry] of pods) if (!found.has(uid) && entry.fingerprint !== '') wake(uid);
    deps.onRelist?.({
      tookMs: clock.mono() - began,
      sinceMs: relisted === undefined ? undefined : clock.mono() - relisted,
    });
    relisted = clock.mono();
    onList([...found.values()].map(listedPod));
  };

  const relisting = createRelisting({ clock, log, supervisor, relist, longestMs: deps.relistMs ?? RELIST_MS });
  const owner = (id: string) => owners.get(id);
  const follower = createEventFollower({ ...deps, relist, owner, ends });
  let following: Promise<unknown> = Promise.resolve();
  return {
    name: 'runtime events',
    start: (signal) => {
      following = Promise.all([follower.follow(signal), relisting.run(signal)]);
    },
    stop: async () => {
      await following;
    },
    read,
    list: async (signal) => [...(await listAll(signal)).values()].map(listedPod),
    restore: async (pod, signal) => restorePod(await read(pod, signal)),
    forget: (uid) => {
      pods.delete(uid);
    },
    lastRelist: () => relisted,
  };
}

interface Found {
  readonly pod: PodIdentity;
  readonly sandboxes: PodSandbox[];
  readonly containers: Container[];
}

function listedPod({ pod, sandboxes, containers }: Found): FoundPod {
  const alive =
    sandboxes.some(({ state }) => state === PodSandboxState.SANDBOX_READY) ||
    containers.some(({ state }) => runState(state) === 'running');
  return { ...pod, alive };
}

const hasStopped = ({ state }: PodSandbox): boolean => state === PodSandboxState.SANDBOX_NOTREADY;
const hasExited = ({ state }: Container): boolean => runState(state) === 'exited';

function newestFirst(a: { readonly createdAt: number }, b: { readonly createdAt: number }): number {
  return b.createdAt - a.createdAt;
}
