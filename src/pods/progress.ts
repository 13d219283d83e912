/** How far the steps of one pod are: follows plans and reports, and passes on the explanation that they make. */
import type { Clock } from '../base/clock.ts';
import { codeOf, describeError } from '../base/errors.ts';
import type { PodExplanation } from '../model/explanation.ts';
import type { PodStep } from '../model/pod-view.ts';
import type { ReportStep, StepSubject } from '../model/step.ts';
import { type ExplainInput, explainPod } from '../plan/explain.ts';
import { EMPTY_JOURNAL, interruptJournal, type Journal, noteReport, noteRetry, planJournal } from '../plan/journal.ts';
import type { PlannedStep } from '../plan/steps.ts';

export interface Progress {
  /** What the pass that begins now is going to do. */
  plan(step: PodStep, planned: readonly PlannedStep[]): void;
  readonly report: ReportStep;
  /** The failed steps that match are tried again at this time. */
  retryAt(matches: (subject: StepSubject) => boolean, time: number): void;
  /** The pass ended with an error. */
  interrupted(error: unknown, retryAt: number): void;
  /** Something has changed that is not reported here, such as how far a volume is. */
  refresh(): void;
  explanation(): PodExplanation;
}

export interface ProgressDeps {
  readonly clock: Clock;
  /** What else an explanation is made of, as it is now. */
  readonly about: () => Omit<ExplainInput, 'journal'>;
  readonly onChange: (explanation: PodExplanation) => void;
}

export function createProgress({ clock, about, onChange }: ProgressDeps): Progress {
  let journal: Journal = EMPTY_JOURNAL;
  let planned: PodStep | undefined;
  const explanation = () => explainPod({ ...about(), journal });
  const change = (next: Journal): void => {
    journal = next;
    onChange(explanation());
  };
  return {
    plan: (step, steps) => {
      // Published with the view of the pass. What was done to start a pod does not explain why it ends.
      journal = planJournal(journal, steps, { now: clock.now(), keepDone: planned === step });
      planned = step;
    },
    report: (report) => change(noteReport(journal, report, clock.now())),
    retryAt: (matches, time) => change(noteRetry(journal, matches, time)),
    interrupted: (error, retryAt) => {
      const actor = codeOf(error) === 'unavailable' ? ({ actor: 'runtime' } as const) : {};
      const failure = { reason: 'FailedSync', message: describeError(error), ...actor };
      change(interruptJournal(journal, failure, retryAt, clock.now()));
    },
    refresh: () => onChange(explanation()),
    explanation,
  };
}
