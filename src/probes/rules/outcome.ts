/** The outcome of one check, and how it is shown in events and in the log. */
import type { ProbeType } from './verdict.ts';

export type Outcome =
  | { readonly kind: 'success'; readonly output: string }
  /** `answered`: the container itself reported it, by an exit code or a status; without it there was no answer in time. */
  | { readonly kind: 'failure'; readonly output: string; readonly answered?: true }
  /** It counts as a success, with a warning: a redirect that was not followed. */
  | { readonly kind: 'warning'; readonly output: string }
  /** The check itself failed to run. That is no verdict on the container, so it is not counted. */
  | { readonly kind: 'error'; readonly state: 'unknown' | 'failure'; readonly message: string };

export const success = (output = ''): Outcome => ({ kind: 'success', output });
export const failure = (output: string): Outcome => ({ kind: 'failure', output });
export const refusal = (output: string): Outcome => ({ kind: 'failure', output, answered: true });

/** Whether a stall of this process may be the only cause. An answer of the container counts also if it is read late. */
export function mayBeOurs(outcome: Outcome): boolean {
  return outcome.kind === 'error' || (outcome.kind === 'failure' && outcome.answered !== true);
}

/** The reference's words and verbosity. */
export function logLineOf({ kind }: Outcome): { readonly level: number; readonly message: string } {
  switch (kind) {
    case 'success':
      return { level: 3, message: 'Probe succeeded' };
    case 'warning':
      return { level: 3, message: 'Probe succeeded with a warning' };
    case 'failure':
      return { level: 1, message: 'Probe failed' };
    case 'error':
      return { level: 1, message: 'Probe errored' };
  }
}

export interface ProbeEvent {
  readonly type: 'Warning';
  readonly reason: 'Unhealthy' | 'ProbeWarning';
  readonly message: string;
}

const TITLES = { startup: 'Startup', readiness: 'Readiness', liveness: 'Liveness' } as const;

export function probeTitle(type: ProbeType): string {
  return TITLES[type];
}

export function eventOf(type: ProbeType, outcome: Outcome): ProbeEvent | undefined {
  const probe = `${TITLES[type]} probe`;
  switch (outcome.kind) {
    case 'success':
      return undefined;
    case 'warning':
      return { type: 'Warning', reason: 'ProbeWarning', message: `${probe} warning: ${outcome.output}` };
    case 'failure':
      return { type: 'Warning', reason: 'Unhealthy', message: `${probe} failed: ${outcome.output}` };
    case 'error':
      return {
        type: 'Warning',
        reason: 'Unhealthy',
        message: `${probe} errored and resulted in ${outcome.state} state: ${outcome.message}`,
      };
  }
}
