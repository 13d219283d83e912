/**
 * Follows the runtime's events for as long as the kubelet lives: CRI's where the runtime has them, else containerd's own.
 * The reader waits for nothing; whatever an event tells is found out by whoever it wakes.
 */
import type { PodUid } from '../../api/ids.ts';
import { podUid } from '../../api/ids.ts';
import type { Clock } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { linkSignal } from '../../base/signal.ts';
import { type ContainerEventResponse, ContainerEventType } from '../../wire/gen/cri-runtime-v1.ts';
import type { ContainerdEvent } from '../containerd-events.ts';

export interface EventStreams {
  watchEvents(onEvent: (event: ContainerEventResponse) => void, signal: AbortSignal): Promise<void>;
  watchContainerdEvents(onEvent: (event: ContainerdEvent) => void, signal: AbortSignal): Promise<void>;
}

export interface EventFollowerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly runtime: EventStreams;
  /** Finds what happened while nobody listened. */
  readonly relist: (signal: AbortSignal) => Promise<void>;
  readonly owner: (id: string) => PodUid | undefined;
  readonly wake: (uid: PodUid) => void;
}

export interface EventFollower {
  /** Returns when `signal` aborts. */
  follow(signal: AbortSignal): Promise<void>;
  /** An event has said that this container ended, and no reading has shown it yet. */
  announced(id: string): boolean;
  forget(ids: readonly string[]): void;
}

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1000;
/** A subscription that was asked for a moment before the relist may have begun a moment after it: list once more. */
const SECOND_RELIST_MS = 1000;
/** An announcement that no reading has asked for is forgotten: nobody owns that container. */
const ANNOUNCED_FOR_MS = 5000;

export function createEventFollower(deps: EventFollowerDeps): EventFollower {
  const { clock, log, runtime, relist, owner, wake } = deps;
  const ended = new Map<string, number>();
  let criHasEvents = true;

  const onCriEvent = (event: ContainerEventResponse): void => {
    if (!tellsOfAnEnd(event)) return;
    const uid = event.podSandboxStatus?.metadata?.uid ?? '';
    const known = uid === '' ? owner(event.containerId) : podUid(uid);
    if (known !== undefined) wake(known);
  };

  const onContainerdEvent = (event: ContainerdEvent): void => {
    if (event.execId !== undefined || (event.kind !== 'exited' && event.kind !== 'deleted')) return;
    // Kept also while nobody has seen the container yet: it may end before its start was answered.
    if (event.kind === 'exited') {
      const now = clock.mono();
      for (const [id, at] of ended) if (now - at > ANNOUNCED_FOR_MS) ended.delete(id);
      ended.set(event.containerId, now);
    }
    const uid = owner(event.containerId);
    if (uid !== undefined) wake(uid);
  };

  const listen = async (signal: AbortSignal): Promise<void> => {
    if (!criHasEvents) return await runtime.watchContainerdEvents(onContainerdEvent, signal);
    try {
      await runtime.watchEvents(onCriEvent, signal);
    } catch (error) {
      if (codeOf(error) !== 'unsupported') throw error;
      log.info("The container runtime has no CRI events: following containerd's own");
      criHasEvents = false;
    }
  };

  /** Listens until the stream ends; what happened before it began is listed. */
  const round = async (signal: AbortSignal): Promise<void> => {
    using current = linkSignal(signal);
    const listening = listen(current.signal);
    // An error of the stream is told where it is awaited; until then nobody else may take it for unhandled.
    listening.catch(() => undefined);
    try {
      await relist(current.signal);
      const stays = clock.sleep(SECOND_RELIST_MS, current.signal).then(() => true);
      if (await Promise.race([listening.then(() => false), stays])) await relist(current.signal);
      await listening;
    } finally {
      current.abort('the stream has ended');
    }
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    let wait = FIRST_RETRY_MS;
    while (!signal.aborted) {
      const began = clock.mono();
      try {
        await round(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.v(2)?.info('Events of the container runtime ended', { err: error });
      }
      // A stream that ends as soon as it is opened must not be opened all the time.
      wait = clock.mono() - began > SECOND_RELIST_MS ? FIRST_RETRY_MS : Math.min(wait * 2, LONGEST_RETRY_MS);
      await clock.sleep(wait, signal).catch(() => undefined);
    }
  };

  return {
    follow,
    announced: (id) => ended.has(id),
    forget: (ids) => {
      for (const id of ids) ended.delete(id);
    },
  };
}

/** Containers begin only because we asked for it, and whoever asked looks by himself. */
function tellsOfAnEnd({ containerEventType }: ContainerEventResponse): boolean {
  return (
    containerEventType === ContainerEventType.CONTAINER_STOPPED_EVENT ||
    containerEventType === ContainerEventType.CONTAINER_DELETED_EVENT
  );
}
