/** The results of actions that a worker remembers: made by `act/`, read by `pods/` and the metrics. */
import type { ContainerId } from '../api/ids.ts';
import type { StepSubject } from './step.ts';

export type StartOutcome =
  | { readonly kind: 'started'; readonly id: ContainerId }
  | {
      readonly kind: 'waiting';
      readonly reason: string;
      readonly message: string;
      /** Wall clock, ms. */
      readonly retryAt: number | undefined;
    }
  /** It was created and did not run: its end can be observed, and counts as a crash. */
  | { readonly kind: 'not-run'; readonly reason: string; readonly message: string }
  | { readonly kind: 'hook-failed'; readonly id: ContainerId; readonly message: string };

/** An action that succeeded and has nothing to report has none. */
export type Outcome =
  | { readonly kind: 'start'; readonly name: string; readonly outcome: StartOutcome }
  /** The pod was resized; or why not. */
  | { readonly kind: 'resize'; readonly problem: string | undefined; readonly tookMs: number }
  /** The pod as a whole can't go on: no sandbox, no volumes. */
  | { readonly kind: 'blocked'; readonly subject: StepSubject; readonly message: string };
