/**
 * Follows the runtime's events for as long as the kubelet lives: CRI's, and beside them containerd's own, which report an end
 * some 50 ms sooner. Either is enough alone. The reader waits for nothing; a worker that is woken reads the state itself.
 */
import type { PodUid } from '../../api/ids.ts';
import { podUid } from '../../api/ids.ts';
import type { Clock } from '../../base/clock.ts';
import { codeOf, isClassified } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { linkSignal } from '../../base/signal.ts';
import type { Supervisor } from '../../base/supervise.ts';
import { isLastWord } from '../../plan/plan-ahead.ts';
import { type ContainerEventResponse, ContainerEventType } from '../../wire/gen/cri-runtime-v1.ts';
import type { ContainerdEvent } from '../containerd-events.ts';
import type { AnnouncedEnds } from './announced-ends.ts';

export interface EventStreams {
  watchEvents(onEvent: (event: ContainerEventResponse) => void, signal: AbortSignal): Promise<void>;
  watchContainerdEvents(onEvent: (event: ContainerdEvent) => void, signal: AbortSignal): Promise<void>;
}

export interface EventFollowerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly runtime: EventStreams;
  /** Finds what happened while no stream was open. */
  readonly relist: (signal: AbortSignal) => Promise<void>;
  readonly owner: (id: string) => PodUid | undefined;
  /** Where ends are kept that the runtime's status does not show yet. */
  readonly ends: Pick<AnnouncedEnds, 'note' | 'noteDeleted'>;
  readonly wake: (uid: PodUid) => void;
  /** An end was announced that a plan may go by. */
  readonly exitAnnounced: (uid: PodUid) => void;
}

export interface EventFollower {
  /** Returns when `signal` aborts. */
  follow(signal: AbortSignal): Promise<void>;
  /** CRI reports when its status has changed. */
  criReports(): boolean;
}

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1000;
/** A subscription that was asked for a moment before the relist may have begun a moment after it: list once more. */
const SECOND_RELIST_MS = 1000;

interface Source {
  readonly name: string;
  missing: boolean;
  readonly watch: (signal: AbortSignal) => Promise<void>;
}

export function createEventFollower(deps: EventFollowerDeps): EventFollower {
  const { clock, log, runtime, relist, owner, ends, wake, exitAnnounced } = deps;

  const onCriEvent = (event: ContainerEventResponse): void => {
    if (!reportsEnd(event)) return;
    const uid = event.podSandboxStatus?.metadata?.uid ?? '';
    const known = uid === '' ? owner(event.containerId) : podUid(uid);
    if (known !== undefined) wake(known);
  };

  const onContainerdEvent = ({ kind, containerId, execId, exitStatus, at }: ContainerdEvent): void => {
    if (execId !== undefined) return;
    const uid = owner(containerId);
    if (kind === 'deleted') {
      if (!cri.missing) return;
      ends.noteDeleted(containerId);
      if (uid !== undefined) wake(uid);
      return;
    }
    const end = { exitCode: exitStatus ?? -1, finishedAt: Number(at / 1_000_000n) };
    // Kept also while no one has seen the container yet: it may end before its start was answered.
    ends.note(containerId, end);
    if (uid === undefined) return;
    if (isLastWord(end)) exitAnnounced(uid);
    else if (cri.missing) wake(uid);
  };

  const cri: Source = {
    name: 'CRI events',
    missing: false,
    watch: (signal) => runtime.watchEvents(onCriEvent, signal),
  };
  const containerd: Source = {
    name: "containerd's own events",
    missing: false,
    watch: (signal) => runtime.watchContainerdEvents(onContainerdEvent, signal),
  };

  /** Ends with the first stream that ends; a stream that the runtime does not have ends nothing as long as there is another. */
  const listen = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const present = [cri, containerd].filter(({ missing }) => !missing);
      if (present.length === 0) resolve();
      for (const source of present) {
        source.watch(signal).then(resolve, (error) => {
          if (codeOf(error) !== 'unsupported') return reject(error);
          log.info('The container runtime does not have all kinds of events', { missing: source.name });
          source.missing = true;
          if (cri.missing && containerd.missing) resolve();
        });
      }
    });

  /** Listens until a stream ends; what happened before it began is listed. */
  const round = async (signal: AbortSignal): Promise<void> => {
    using current = linkSignal(signal);
    const listening = listen(current.signal);
    // An error of the stream is handled where it is awaited; until then it must not count as unhandled.
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

  const follow = (signal: AbortSignal): Promise<void> => {
    let wait = FIRST_RETRY_MS;
    const pass = async (): Promise<void> => {
      const began = clock.mono();
      try {
        await round(signal);
      } catch (error) {
        if (signal.aborted || !isClassified(error)) throw error;
        log.v(2)?.info('Events of the container runtime ended', { err: error });
      }
      // A stream that ends as soon as it is opened must not be opened all the time.
      wait = clock.mono() - began > SECOND_RELIST_MS ? FIRST_RETRY_MS : Math.min(wait * 2, LONGEST_RETRY_MS);
    };
    return deps.supervisor.run({ name: 'runtime events', pass, rest: () => clock.sleep(wait, signal) }, signal);
  };

  return { follow, criReports: () => !cri.missing };
}

/** Container starts wake no worker: the kubelet itself started them. */
function reportsEnd({ containerEventType }: ContainerEventResponse): boolean {
  return (
    containerEventType === ContainerEventType.CONTAINER_STOPPED_EVENT ||
    containerEventType === ContainerEventType.CONTAINER_DELETED_EVENT
  );
}
