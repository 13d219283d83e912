/**
 * What the runtime has of pods, as observations, and which pods must be read again. Events only wake a worker, which then reads fresh state. Where the
 * runtime's status is behind its events, the ends that events announced stand beside it. Every reading is a pair of filtered lists plus the statuses of
 * what has changed; a slow relist of everything finds what no event reported.
 */
import { type ContainerId, containerId, type PodUid } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Part } from '../../base/lifecycle.ts';
import type { Logger } from '../../base/logger.ts';
import type { Supervisor } from '../../base/supervise.ts';
import type { AnnouncedEnd, Observation } from '../../model/observation.ts';
import type { FoundPod, PodIdentity } from '../../model/pod-identity.ts';
import { type Container, type PodSandbox, PodSandboxState } from '../../wire/gen/cri-runtime-v1.ts';
import { type AnnouncedEnds, createAnnouncedEnds } from './announced-ends.ts';
import { createEventFollower, type EventStreams } from './events.ts';
import { createKnownPods, type KnownPods } from './known-pods.ts';
import { foundPod, idsOf, type ListCalls, type Listed, listPod, listPods } from './lists.ts';
import { createRelisting } from './relist.ts';
import { runState } from './rules/reading.ts';
import { restorePod } from './rules/restore-pod.ts';
import type { MessageFiles, StatusCalls } from './status-cache.ts';

export interface ObservedRuntime extends EventStreams {
  readonly sandboxes: ListCalls['sandboxes'] & {
    status(id: string, options: object, signal: AbortSignal): ReturnType<StatusCalls['sandbox']>;
  };
  readonly containers: ListCalls['containers'] & {
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
  readonly exitAnnounced: (uid: PodUid) => void;
  /** How often everything is listed while the node is idle, ms; `RELIST_MS` by default. */
  readonly relistMs?: number;
  /** Everything was listed. */
  readonly onList: (pods: readonly FoundPod[]) => void;
  /** How long a list of everything took, and how long after the previous one it was made: for metrics. */
  readonly onRelist?: ((report: { readonly tookMs: number; readonly sinceMs: number | undefined }) => void) | undefined;
}

export interface Observe extends Part {
  /** Everything the runtime has of this pod now. Nothing that happened before the call is missing. */
  read(pod: PodIdentity, signal: AbortSignal): Promise<Observation>;
  /** Every pod that the runtime has something of. */
  list(signal: AbortSignal): Promise<readonly FoundPod[]>;
  /** Drops what is kept of a pod that no longer exists. */
  forget(uid: PodUid): void;
  /** A pod that no source has any more, as far as the runtime knows it. */
  restore(pod: PodIdentity, signal: AbortSignal): Promise<Pod>;
  /** When everything was last listed without an error (monotonic ms), undefined before the first time. */
  lastRelist(): number | undefined;
}

const RELIST_MS = 60_000;

export function createObserve(deps: ObserveDeps): Observe {
  const { clock, log, supervisor, runtime } = deps;
  const known = createKnownPods({
    sandbox: (id, signal) => runtime.sandboxes.status(id, {}, signal),
    container: (id, signal) => runtime.containers.status(id, {}, signal),
    messages: deps.messages,
  });
  const ends = createAnnouncedEnds(clock);
  let relisted: number | undefined;
  let following: Promise<unknown> = Promise.resolve();

  const relist = async (signal: AbortSignal): Promise<void> => {
    const began = clock.mono();
    const found = await listPods(runtime, signal);
    for (const uid of known.noteList(found)) deps.wake(uid);
    deps.onRelist?.({
      tookMs: clock.mono() - began,
      sinceMs: relisted === undefined ? undefined : clock.mono() - relisted,
    });
    relisted = clock.mono();
    deps.onList([...found.values()].map(foundPod));
  };

  const relisting = createRelisting({ clock, log, supervisor, relist, longestMs: deps.relistMs ?? RELIST_MS });
  const follower = createEventFollower({ ...deps, relist, owner: known.owner, ends });
  const read = async (pod: PodIdentity, signal: AbortSignal): Promise<Observation> => {
    relisting.noteActivity();
    return await readPod({ clock, runtime, known, ends, criReports: follower.criReports }, pod, signal);
  };
  return {
    name: 'runtime events',
    start: (signal) => {
      following = Promise.all([follower.follow(signal), relisting.run(signal)]);
    },
    stop: async () => {
      await following;
    },
    read,
    list: async (signal) => [...(await listPods(runtime, signal)).values()].map(foundPod),
    restore: async (pod, signal) => restorePod(await read(pod, signal)),
    forget: known.forget,
    lastRelist: () => relisted,
  };
}

interface ReadTools {
  readonly clock: Clock;
  readonly runtime: ListCalls;
  readonly known: KnownPods;
  readonly ends: AnnouncedEnds;
  /** CRI reports when its status has changed. */
  readonly criReports: () => boolean;
}

async function readPod(tools: ReadTools, pod: PodIdentity, signal: AbortSignal): Promise<Observation> {
  const takenAt = tools.clock.mono();
  const listed = await listPod(tools.runtime, pod.uid, signal);
  const cache = tools.known.cacheOf(pod.uid);
  const [sandboxes, containers] = await Promise.all([
    Promise.all(listed.sandboxes.map((one) => cache.sandbox(one, signal))),
    Promise.all(listed.containers.map((one) => cache.container(one, signal))),
  ]);
  tools.known.noteRead(pod.uid, listed);
  return {
    ...pod,
    takenAt,
    sandboxes: sandboxes.filter((sandbox) => sandbox !== undefined).sort(newestFirst),
    containers: containers.filter((container) => container !== undefined).sort(newestFirst),
    ...announcedBeyond(tools, listed),
  };
}

/** Where events are ahead of these lists. */
function announcedBeyond({ clock, ends, criReports }: ReadTools, listed: Listed) {
  const { sandboxes, containers } = listed;
  ends.forget([...sandboxes.filter(hasStopped), ...containers.filter(hasExited)].map(({ id }) => id));
  const announced = new Map<ContainerId, AnnouncedEnd>();
  for (const { id } of containers) {
    const end = ends.get(id);
    if (end !== undefined) announced.set(containerId(id), end);
  }
  const wait = ends.lookAgainIn(idsOf(listed), criReports());
  return {
    ...(announced.size === 0 ? {} : { announced }),
    ...(wait === undefined ? {} : { lookAgainAt: clock.now() + wait }),
  };
}

const hasStopped = ({ state }: PodSandbox): boolean => state === PodSandboxState.SANDBOX_NOTREADY;
const hasExited = ({ state }: Container): boolean => runState(state) === 'exited';

function newestFirst(a: { readonly createdAt: number }, b: { readonly createdAt: number }): number {
  return b.createdAt - a.createdAt;
}
