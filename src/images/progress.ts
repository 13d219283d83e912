/** Tells from time to time that a pull still goes on. */
import type { Clock } from '../base/clock.ts';
import { type Download, nextTelling, tellProgress } from './rules/progress.ts';

export interface PullProgress {
  /** Until it is disposed. */
  watch(image: string, tell: (message: string) => void): Disposable;
}

export interface PullProgressDeps {
  readonly clock: Clock;
  /** What the runtime downloads for this image now; undefined where it can't say. */
  readonly downloadsOf: (image: string, signal: AbortSignal) => Promise<readonly Download[] | undefined>;
}

const OVER = 'the pull is over';

export function createPullProgress({ clock, downloadsOf }: PullProgressDeps): PullProgress {
  const follow = async (image: string, tell: (message: string) => void, signal: AbortSignal) => {
    const started = clock.mono();
    for (let due = nextTelling(0); ; due = nextTelling(due)) {
      await clock.sleep(Math.max(due - (clock.mono() - started), 0), signal);
      const downloads = await downloadsOf(image, signal).catch(() => undefined);
      signal.throwIfAborted();
      tell(tellProgress(image, clock.mono() - started, downloads));
    }
  };
  return {
    watch: (image, tell) => {
      const controller = new AbortController();
      follow(image, tell, controller.signal).catch(() => undefined); // ends only by its signal
      return { [Symbol.dispose]: () => controller.abort(OVER) };
    },
  };
}
