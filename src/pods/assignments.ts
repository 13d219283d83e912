/**
 * What arriving pods get assigned of the node's particular resources (devices, CPUs). It may take a while, since plugins are called: a pod whose
 * assignment is under way does not delay others, and is admitted again when the answer is there.
 */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import type { Assigned } from '../model/assignment.ts';
import type { PodEvent } from '../model/event.ts';
import { fullName } from './rules/full-name.ts';

export interface AssignPort {
  /** Whether the pod needs anything of the kind. */
  concerns(pod: Pod): boolean;
  assign(pod: Pod, signal: AbortSignal): Promise<Assigned>;
  release(uid: PodUid): void;
}

export interface Assignments {
  /** Undefined: it is under way, or the pod waits. Asking begins it. A final answer is given once. */
  of(pod: Pod, signal: AbortSignal): Exclude<Assigned, { kind: 'waiting' }> | undefined;
  /** The pods that have, or are about to have, their share of the node and no worker yet. */
  underWay(): readonly Pod[];
  /** All other pods do not arrive any more: what they got is free again. */
  keepOnly(pods: readonly Pod[]): void;
  /** What pods wait for may be there now. */
  changed(): void;
}

interface Entry {
  readonly pod: Pod;
  readonly parent: AbortSignal;
  readonly link: LinkedSignal;
  answer: Assigned | undefined;
  /** The message of the last event, which is not repeated. */
  reported: string;
}

interface AssignmentsDeps {
  readonly log: Logger;
  readonly record: (event: PodEvent) => void;
  readonly assigning: AssignPort | undefined;
  /** An answer is there: the pods are reconciled again. */
  readonly onAnswer: () => void;
}

const DONE = { kind: 'done' } as const;

export function createAssignments({ log, record, assigning, onAnswer }: AssignmentsDeps): Assignments {
  const entries = new Map<PodUid, Entry>();

  const forget = (uid: PodUid): void => {
    entries.get(uid)?.link[Symbol.dispose]();
    entries.delete(uid);
  };

  const reportWaiting = (entry: Entry, { reason, message }: Extract<Assigned, { kind: 'waiting' }>): void => {
    if (entry.reported === message) return;
    entry.reported = message;
    log.info('Pod waits for resources of the node', { pod: fullName(entry.pod.metadata), reason, message });
    record({ pod: entry.pod.metadata, type: 'Warning', reason, message });
  };

  const ask = async (port: AssignPort, uid: PodUid, entry: Entry): Promise<void> => {
    const { signal } = entry.link;
    const answer = await port.assign(entry.pod, signal).catch((error: unknown): Assigned => {
      const message = `Allocate failed due to ${describeError(error)}, which is unexpected`;
      return { kind: 'refused', reason: 'UnexpectedAdmissionError', message };
    });
    if (entries.get(uid) !== entry || signal.aborted) return;
    entry.answer = answer;
    if (answer.kind === 'waiting') reportWaiting(entry, answer);
    else onAnswer();
  };

  const begin = (port: AssignPort, pod: Pod, signal: AbortSignal, reported: string): void => {
    const uid = podUid(pod.metadata.uid);
    const entry: Entry = { pod, parent: signal, link: linkSignal(signal), answer: undefined, reported };
    entries.set(uid, entry);
    void ask(port, uid, entry);
  };

  return {
    of: (pod, signal) => {
      if (assigning?.concerns(pod) !== true) return DONE;
      const uid = podUid(pod.metadata.uid);
      const entry = entries.get(uid);
      if (entry === undefined) begin(assigning, pod, signal, '');
      const answer = entry?.answer;
      if (answer === undefined || answer.kind === 'waiting') return undefined;
      forget(uid);
      return answer;
    },
    underWay: () =>
      [...entries.values()]
        .filter(({ answer }) => answer === undefined || answer.kind === 'done')
        .map(({ pod }) => pod),
    keepOnly: (pods) => {
      const uids = new Set(pods.map(({ metadata }) => podUid(metadata.uid)));
      for (const [uid, { link }] of entries) {
        if (uids.has(uid)) continue;
        link.abort(new Error('the pod does not arrive any more'));
        forget(uid);
        assigning?.release(uid);
      }
    },
    changed: () => {
      const waiting = [...entries].filter(([, { answer }]) => answer?.kind === 'waiting');
      for (const [uid, { pod, parent, reported }] of waiting) {
        forget(uid);
        if (assigning !== undefined) begin(assigning, pod, parent, reported);
      }
    },
  };
}
