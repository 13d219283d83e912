/**
 * Brings the statuses of pods to the API server: for each pod the latest wins, one write at a time, and none where the API server
 * says the same already. What it says is known from the watch and from the answers to our own writes, so nothing is ever read.
 * A pod that is being deleted goes with its last status told and nothing of it left here.
 */
import { apiPath, apiPathBelow } from '../api/api-path.ts';
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { PodStatus } from '../api/pod-status.ts';
import { CONFIG_MIRROR, isMirrorPod } from '../api/pod-traits.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { mayAnswerAt, noteAnswer, type Standoff } from '../base/standoff.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { KubeClient, WatchListener } from '../kube/kube.ts';
import { createRetries } from './retries.ts';
import { isOlder } from './rules/resource-version.ts';
import { planStatusPatch, type StatusPatch, sameOwnStatus } from './rules/status-patch.ts';
import { judgeFailure } from './rules/write-failure.ts';
import type { PodStatusChange } from './status.ts';

export interface Publisher extends Part {
  /** Takes note and returns at once. */
  publish(change: Pick<PodStatusChange, 'uid' | 'status'>): void;
  /** Nothing of the pod is left on the node: its object may go. */
  finish(uid: PodUid): void;
  /** What the API server has of this node's pods, mirror pods too. */
  readonly listener: WatchListener<Pod>;
  /** An answer of the API server that the watch has yet to tell of. */
  learn(object: Pod): void;
  /** The API server answers again: whoever waits for it need not any longer. */
  retry(): void;
}

export interface PublisherDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Pick<Supervisor, 'guard'>;
  readonly client: KubeClient;
  /** 0 to below 1. */
  readonly random: () => number;
  /** Told how long it took from a new status until the API server had it: for metrics. */
  readonly onSynced?: ((ms: number) => void) | undefined;
}

interface Entry {
  readonly uid: PodUid;
  wanted: PodStatus | undefined;
  /** Monotonic: since when the API server lacks the newest status; undefined where it has it. */
  newSince: number | undefined;
  /** What the API server made of `wanted` when it took it. */
  accepted: { readonly wanted: PodStatus; readonly answer: PodStatus } | undefined;
  /** Somebody else has written over what was accepted. */
  overruled: Standoff | undefined;
  finished: boolean;
  busy: boolean;
  /** The UID of the object whose deletion was finished. */
  deleted: string | undefined;
}

/** As much of an object as is needed here. */
type Target = Pick<Pod, 'metadata' | 'status'>;

type Work =
  /** `again`: the API server had taken just this before. */
  | { readonly kind: 'patch'; readonly patch: StatusPatch; readonly wanted: PodStatus; readonly again: boolean }
  | { readonly kind: 'delete' };

const WRITE_WITHIN_MS = 15_000;
/** That a new pod waits is news to no one, and to write it keeps the API server from what the pod waits for: its token, its objects. */
const FIRST_WORD_MS = 30;

export function createPublisher(deps: PublisherDeps): Publisher {
  const { clock, log, client, random, onSynced, supervisor } = deps;
  const entries = new Map<PodUid, Entry>();
  const objects = new Map<string, Target>();
  /** UID of a static pod to that of its mirror. */
  const mirrors = new Map<string, string>();
  const underWay = new Set<Promise<void>>();
  let signal: AbortSignal | undefined;

  const targetOf = (uid: string): Target | undefined => objects.get(uid) ?? objects.get(mirrors.get(uid) ?? '');

  const entryOf = (uid: PodUid): Entry => {
    const known = entries.get(uid);
    if (known !== undefined) return known;
    const entry: Entry = {
      uid,
      wanted: undefined,
      newSince: undefined,
      accepted: undefined,
      overruled: undefined,
      finished: false,
      busy: false,
      deleted: undefined,
    };
    entries.set(uid, entry);
    return entry;
  };

  const workOf = (entry: Entry, target: Target): Work | undefined => {
    const { wanted, accepted } = entry;
    if (entry.deleted === target.metadata.uid) return undefined;
    if (wanted !== undefined) {
      // What the API server made of it is as near as it gets: asking again would change nothing.
      const again = accepted?.wanted === wanted;
      const isAccepted = again && sameOwnStatus(target.status, accepted.answer);
      const patch = isAccepted ? undefined : planStatusPatch(target.status, wanted);
      if (patch !== undefined) return { kind: 'patch', patch, wanted, again };
    }
    const isGoing = target.metadata.deletionTimestamp !== undefined && !isMirrorPod(target);
    return entry.finished && isGoing ? { kind: 'delete' } : undefined;
  };

  const carryOut = async (entry: Entry, target: Target, work: Work, stopping: AbortSignal): Promise<void> => {
    const { uid, name, namespace } = target.metadata;
    const path = apiPath`/api/v1/namespaces/${namespace}/pods/${name}`;
    if (work.kind === 'delete') {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } };
      await client.request({ method: 'DELETE', path, body, timeoutMs: WRITE_WITHIN_MS }, stopping);
      entry.deleted = uid;
      log
        .v(2)
        ?.info('Pod fully terminated and removed from the API server', { pod: `${namespace}/${name}`, podUID: uid });
      return;
    }
    const body = { metadata: { uid }, status: work.patch };
    const asked = {
      method: 'PATCH',
      path: apiPathBelow(path, 'status'),
      patch: 'strategic',
      body,
      timeoutMs: WRITE_WITHIN_MS,
      // That a pod waits is news to no one; in a burst, those that run must not stand behind all that are yet to start.
      ...(work.wanted.phase === 'Pending' ? {} : { urgent: true }),
    } as const;
    const answer = await client.request<Pod>(asked, stopping);
    if (work.again) noteOverruled(entry, target);
    entry.accepted = { wanted: work.wanted, answer: answer.status ?? {} };
    if (entry.newSince !== undefined) onSynced?.(clock.mono() - entry.newSince);
    entry.newSince = entry.wanted === work.wanted ? undefined : clock.mono();
    // Versions may go back where the API server's store was restored: an answer to what is known counts in any case.
    if (objects.get(uid) === target) keep(answer);
    else learn(answer);
    log.v(3)?.info('Patch status for pod', { pod: `${namespace}/${name}`, podUID: uid, patch: work.patch });
  };

  const noteOverruled = (entry: Entry, { metadata: { namespace, name, uid } }: Target): void => {
    entry.overruled = noteAnswer(entry.overruled, clock.now());
    // Once may be somebody's hand; the second time it is a quarrel.
    if (entry.overruled.times !== 2) return;
    const hint = 'is there another kubelet with the name of this node?';
    log.error('Somebody else keeps writing the status of a pod', { pod: `${namespace}/${name}`, podUID: uid, hint });
  };

  const write = async (entry: Entry, target: Target, work: Work, stopping: AbortSignal): Promise<void> => {
    entry.busy = true;
    try {
      await carryOut(entry, target, work, stopping);
      retries.succeeded(entry.uid);
    } catch (error) {
      if (stopping.aborted) return;
      const { name, namespace, uid } = target.metadata;
      const failure = judgeFailure(error);
      log[failure === 'replaced' ? 'info' : 'warn']('Failed to write the status of a pod', {
        pod: `${namespace}/${name}`,
        podUID: uid,
        what: work.kind,
        err: error,
      });
      if (failure === 'replaced') {
        retries.succeeded(entry.uid);
        // The watch will tell of it; until then nothing can be written.
        if (objects.get(uid) === target) drop(target);
      } else retries.failed(entry.uid, failure);
    } finally {
      entry.busy = false;
    }
    pump(entry);
  };

  /** Behind a guard: a status that can't be compared is that pod's trouble, and it is tried again later. */
  const pump = (entry: Entry): void => {
    const isDone = supervisor.guard('status publisher', { podUID: entry.uid }, () => begin(entry));
    if (!isDone) retries.failed(entry.uid, 'refused');
  };

  const begin = (entry: Entry): void => {
    if (signal === undefined || signal.aborted || entry.busy || entries.get(entry.uid) !== entry) return;
    const target = targetOf(entry.uid);
    const work = target === undefined ? undefined : workOf(entry, target);
    if (target !== undefined && work?.kind !== 'patch') entry.newSince = undefined;
    if (target === undefined || work === undefined) {
      if (entry.finished && target === undefined) forget(entry);
      return;
    }
    const notBefore = work.kind === 'patch' ? earliestWrite(entry, work) : 0;
    if (notBefore > clock.now()) retries.putOff(entry.uid, notBefore);
    if (retries.mustWait(entry.uid)) return;
    const running = write(entry, target, work, signal).finally(() => underWay.delete(running));
    underWay.add(running);
  };

  const earliestWrite = (entry: Entry, { wanted, again }: Extract<Work, { kind: 'patch' }>): number => {
    if (again) return mayAnswerAt(entry.overruled);
    const isFirst = entry.accepted === undefined && wanted.phase === 'Pending';
    return isFirst ? clock.now() - (clock.mono() - (entry.newSince ?? 0)) + FIRST_WORD_MS : 0;
  };

  const forget = (entry: Entry): void => {
    entries.delete(entry.uid);
    retries.forget(entry.uid);
  };

  const pumpUid = (uid: string): void => {
    const entry = entries.get(uid as PodUid);
    if (entry !== undefined) pump(entry);
  };
  const retries = createRetries({ clock, random, retry: pumpUid });

  /** The pod here that this object stands for. */
  const ownerOf = (object: Target): string => object.metadata.annotations?.[CONFIG_MIRROR] ?? object.metadata.uid;

  const keep = (object: Pod): void => {
    objects.set(object.metadata.uid, slim(object));
    if (isMirrorPod(object)) mirrors.set(ownerOf(object), object.metadata.uid);
  };

  const drop = (object: Target): void => {
    const { uid } = object.metadata;
    objects.delete(uid);
    if (mirrors.get(ownerOf(object)) === uid) mirrors.delete(ownerOf(object));
    pumpUid(ownerOf(object));
  };

  const learn = (object: Pod): void => {
    const known = objects.get(object.metadata.uid);
    if (known !== undefined && isOlder(object.metadata.resourceVersion, known.metadata.resourceVersion)) return;
    keep(object);
    pumpUid(ownerOf(object));
  };

  const listener: WatchListener<Pod> = {
    replaced: (list) => {
      const before = [...objects.values()];
      objects.clear();
      mirrors.clear();
      for (const object of list) keep(object);
      for (const object of before) if (!objects.has(object.metadata.uid)) pumpUid(ownerOf(object));
      // The API server answers again: no one has to wait for it any longer.
      retries.release();
      for (const object of list) pumpUid(ownerOf(object));
    },
    changed: learn,
    removed: drop,
  };

  return {
    name: 'status publisher',
    listener,
    learn,
    retry: retries.release,
    start: (given) => {
      signal = given;
      for (const entry of entries.values()) pump(entry);
    },
    stop: async () => {
      retries.stop();
      await Promise.all(underWay);
    },
    publish: ({ uid, status }) => {
      const entry = entryOf(uid);
      entry.wanted = status;
      // A static pod that was removed and written again is spoken of again after its end.
      entry.finished = false;
      entry.newSince ??= clock.mono();
      retries.renewed(uid);
      pump(entry);
    },
    finish: (uid) => {
      const entry = entryOf(uid);
      entry.finished = true;
      pump(entry);
    },
  };
}

function slim({ metadata, status }: Pod): Target {
  const { uid, name, namespace, resourceVersion, deletionTimestamp, annotations = {} } = metadata;
  const mirrored = annotations[CONFIG_MIRROR];
  return {
    metadata: {
      uid,
      name,
      namespace,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(mirrored === undefined ? {} : { annotations: { [CONFIG_MIRROR]: mirrored } }),
    },
    ...(status === undefined ? {} : { status }),
  };
}
