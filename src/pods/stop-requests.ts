/** The requests to stop the containers of one pod. They are not awaited: the worker stays free to learn that there is less time. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Observation } from '../model/observation.ts';
import type { Action } from '../model/plan.ts';
import type { Pass } from './pass.ts';

export interface StopRequests {
  /** `until`: when the grace is over, wall clock, ms. The same request again changes nothing. */
  send(pass: Pass, observation: Observation, actions: readonly Action[], until: number): void;
  /** The wake-up is about stops that are under way: another read of the runtime would show nothing that has to be acted on. */
  needsNoRead(pass: Pass, until: number): boolean;
  /** The sandboxes are stopped as soon as the containers are, without another pass. */
  includeSandboxes(): boolean;
}

export interface StopRequestsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly carryOut: (pass: Pass, observation: Observation, actions: readonly Action[]) => Promise<unknown>;
}

interface UnderWay {
  readonly until: number;
  readonly withSandboxes: boolean;
  /** When the pod is read although its stops go on; set by the first wake-up. */
  showAt: number | undefined;
}

const RETRY_MS = 1000;
/** A container that has ended is published after this time although its sandbox is still being stopped. */
const SHOW_AFTER_MS = 3000;

export function createStopRequests({ clock, log, carryOut }: StopRequestsDeps): StopRequests {
  let underWay: UnderWay | undefined;
  return {
    send: (pass, observation, actions, until) => {
      if (underWay?.until === until) return;
      const isRepeated = underWay !== undefined;
      // Of several containers each end is published: they are stopped first, and the sandboxes in a pass of their own.
      const withSandboxes = underWay?.withSandboxes ?? actions.filter(isContainerStop).length === 1;
      underWay = { until, withSandboxes, showAt: undefined };
      // A repeated request only shortens the grace: the first one goes on to the sandboxes.
      const requested = withSandboxes && !isRepeated ? actions : actions.filter(isContainerStop);
      const ended = () => {
        if (!isRepeated) underWay = undefined;
      };
      carryOut(pass, observation, requested).then(
        () => {
          ended();
          pass.wake();
        },
        (error) => {
          ended();
          if (pass.signal.aborted) return;
          log.warn('Failed to stop a pod, will retry', { err: error });
          pass.lookAgainAt(clock.now() + RETRY_MS);
        },
      );
    },
    needsNoRead: (pass, until) => {
      if (underWay === undefined || !underWay.withSandboxes || underWay.until !== until) return false;
      underWay.showAt ??= clock.now() + SHOW_AFTER_MS;
      if (clock.now() >= underWay.showAt) {
        underWay.showAt = undefined;
        return false;
      }
      pass.lookAgainAt(underWay.showAt);
      return true;
    },
    includeSandboxes: () => underWay?.withSandboxes === true,
  };
}

export function isContainerStop({ kind }: Action): boolean {
  return kind === 'container-stop';
}
