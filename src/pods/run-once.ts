/** Waits until every pod of the sources has been run once, then reports it. Running containers are left running. */
import { podUid } from '../api/ids.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Pods } from './pods.ts';
import { judgeRunOnce } from './rules/run-once.ts';

export interface RunOnceDeps {
  readonly clock: Clock;
  readonly pods: Pick<Pods, 'desired' | 'view' | 'subscribe'>;
  /** Undefined: every pod has been run. Called once. */
  readonly onEnd: (error: CodedError | undefined) => void;
}

/** A pod that has not started by then is reported as failed. */
const RUN_ONCE_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 1000;

export function createRunOnce({ clock, pods, onEnd }: RunOnceDeps): Part {
  let unsubscribe: (() => void) | undefined;
  let until = 0;
  let over = false;

  const end = (error: CodedError | undefined) => {
    if (over) return;
    over = true;
    unsubscribe?.();
    alarm.clear();
    onEnd(error);
  };

  const look = () => {
    const desired = pods.desired();
    const verdicts = (desired?.pods ?? []).map((pod) => ({
      name: `${pod.metadata.namespace}/${pod.metadata.name}`,
      verdict: judgeRunOnce(pods.view(podUid(pod.metadata.uid))),
    }));
    const late = clock.now() >= until;
    const waiting = verdicts.filter(({ verdict }) => verdict.kind === 'waiting');
    const heard = desired?.everySourceHeard === true;
    if (!late && (!heard || waiting.length > 0)) {
      alarm.ringAt(clock.now() + LOOK_EVERY_MS);
      return;
    }
    const failed = verdicts.filter(({ verdict }) => verdict.kind !== 'done');
    const texts = failed.map(({ name, verdict }) => `${name} (${reasonOf(verdict)})`);
    if (!heard) texts.push('not every source of pods answered');
    end(texts.length === 0 ? undefined : new CodedError('deadline', `pods that could not be run: ${texts.join(', ')}`));
  };
  const alarm = createAlarm(clock, look);

  return {
    name: 'run once',
    start: () => {
      until = clock.now() + RUN_ONCE_WITHIN_MS;
      unsubscribe = pods.subscribe('run once', look);
      look();
    },
    stop: () => {
      over = true;
      unsubscribe?.();
      alarm.clear();
    },
  };
}

function reasonOf(verdict: ReturnType<typeof judgeRunOnce>): string {
  if (verdict.kind === 'done') return '';
  return verdict.reason === '' ? `not up within ${RUN_ONCE_WITHIN_MS / 1000} s` : verdict.reason;
}
