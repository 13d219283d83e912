/** Ends the pods of a node that is shut down or drained, group by group. What it has begun is on disk before it is carried out. */
import type { PodUid } from '../api/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal, withDeadline } from '../base/signal.ts';
import type { WakeBit } from '../base/wake.ts';
import type { PodEnding, PodView } from '../model/pod-view.ts';
import type { PodsOfNode } from './ports.ts';
import { type ClosingPod, type ClosingStep, nextClosingStep } from './rules/closing.ts';
import type { ClosingCause, ClosingRecord } from './rules/record.ts';

export interface ClosingDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly pods: PodsOfNode;
  /** Woken by each change of a pod. */
  readonly changed: WakeBit;
  isUnmounted(uid: PodUid): boolean;
  /** Resolves when the API server has the last status of each; undefined: there is none. */
  readonly untilSent: ((uids: readonly PodUid[], signal: AbortSignal) => Promise<void>) | undefined;
  save(record: ClosingRecord): Promise<void>;
}

const MESSAGES: Readonly<Record<ClosingCause, string>> = {
  shutdown: 'Pod was terminated in response to imminent node shutdown.',
  drain: 'Pod was terminated because the node is being drained.',
};
/** A kubelet that has just started knows its pods after this time at the latest, or goes on with those that it knows. */
const PODS_KNOWN_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 50;
/** The machine is not kept from going down because the API server does not answer. */
const SENT_WITHIN_MS = 5_000;

/** Rejects with the signal's reason where it is cancelled in between; pods that were told to end do so all the same. */
export async function closeNode(deps: ClosingDeps, initial: ClosingRecord, signal: AbortSignal): Promise<void> {
  const { clock, log, pods } = deps;
  await untilPodsAreKnown(deps, signal);
  const ended = new Set<PodUid>();
  let record = initial;
  let isRequested = false;
  const decide = (): ClosingStep => {
    signal.throwIfAborted();
    const { periods, group } = record;
    return nextClosingStep({ periods, group, isRequested, pods: closingPods(deps), now: clock.now() });
  };
  for (let step = decide(); step.kind !== 'over'; step = decide()) {
    if (step.kind === 'begin') {
      record = { ...record, group: step.group };
      isRequested = false;
      await deps.save(record);
    } else if (step.kind === 'end') {
      const end = endingOf(record.cause);
      for (const { uid, graceSeconds } of step.pods) {
        ended.add(uid);
        log.v(1)?.info('Shutdown manager killing pod with gracePeriod', { podUID: uid, gracePeriod: graceSeconds });
        pods.end(uid, { end, graceSeconds, eventType: undefined });
      }
      isRequested = true;
    } else await untilChanged(deps, step.until, signal);
  }
  await untilSent(deps, [...ended], signal);
  await deps.save({ ...record, endedAt: clock.now() });
}

function endingOf(cause: ClosingCause): PodEnding {
  const message = MESSAGES[cause];
  const disruption = { reason: 'TerminationByKubelet', message };
  return { phase: 'Failed', reason: 'Terminated', message, disruption, whileClosed: true };
}

/** Pods that are over by themselves are none of them. */
function closingPods({ pods, isUnmounted }: ClosingDeps): readonly ClosingPod[] {
  const isOut = ({ uid, step, ended }: PodView) => step === 'terminated' && (ended?.rejected || isUnmounted(uid));
  return pods.views().map((view) => ({ uid: view.uid, pod: view.pod, isOut: isOut(view) === true }));
}

async function untilPodsAreKnown({ clock, pods }: ClosingDeps, signal: AbortSignal): Promise<void> {
  const until = clock.mono() + PODS_KNOWN_WITHIN_MS;
  while (pods.desired()?.everySourceHeard !== true && clock.mono() < until) await clock.sleep(LOOK_EVERY_MS, signal);
}

async function untilChanged({ clock, changed }: ClosingDeps, time: number, signal: AbortSignal): Promise<void> {
  using wait = linkSignal(signal);
  const waits = [clock.sleep(Math.max(time - clock.now(), 0), wait.signal), changed.wait(wait.signal)];
  await Promise.race(waits.map((one) => one.catch(() => undefined)));
  wait.abort('one of the two has come');
  await Promise.allSettled(waits);
}

async function untilSent({ clock, log, untilSent: sent }: ClosingDeps, uids: readonly PodUid[], signal: AbortSignal) {
  if (sent === undefined || uids.length === 0) return;
  using deadline = withDeadline(clock, SENT_WITHIN_MS, 'the last statuses of pods', signal);
  await sent(uids, deadline.signal).catch((err: unknown) => {
    signal.throwIfAborted();
    log.warn('The API server lacks the last status of pods', { err });
  });
}
