/** Reports from time to time that a pull is still under way. */
import type { Clock } from '../base/clock.ts';
import type { Supervisor } from '../base/supervise.ts';
import { type Download, describeProgress, nextReport } from './rules/progress.ts';

export interface PullProgress {
  /** Until it is disposed. */
  watch(image: string, report: (message: string) => void): Disposable;
}

export interface PullProgressDeps {
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  /** What the runtime downloads for this image now; undefined where it does not report that. */
  readonly downloadsOf: (image: string, signal: AbortSignal) => Promise<readonly Download[] | undefined>;
}

const ENDED = 'the pull has ended';

export function createPullProgress({ clock, supervisor, downloadsOf }: PullProgressDeps): PullProgress {
  const follow = (image: string, report: (message: string) => void, signal: AbortSignal): Promise<void> => {
    const started = clock.mono();
    let due = nextReport(0);
    const rest = () => clock.sleep(Math.max(due - (clock.mono() - started), 0), signal);
    const pass = async (): Promise<void> => {
      const downloads = await downloadsOf(image, signal).catch(() => undefined);
      signal.throwIfAborted();
      report(describeProgress(image, clock.mono() - started, downloads));
      due = nextReport(due);
    };
    return supervisor.run(
      { name: 'pull progress', about: { image }, oneOfMany: true, restFirst: true, pass, rest },
      signal,
    );
  };
  return {
    watch: (image, report) => {
      const controller = new AbortController();
      void follow(image, report, controller.signal);
      return { [Symbol.dispose]: () => controller.abort(ENDED) };
    },
  };
}
