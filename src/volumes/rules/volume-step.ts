/**
 * What one volume needs next. A volume is asked for until it is ready; once it is, it is made again when something that it
 * shows has changed or when its time has come, and stays usable while that fails.
 *
 *            setUp fails: back-off                    stale, refreshAt, resync
 *   missing ───────────────► missing    ready ───────────────────────────────► ready (the old content until the new one is there)
 *      └────────── setUp ───────────────► │
 */

export interface VolumeState {
  readonly ready: { readonly refreshAt: number | undefined } | undefined;
  /** Something that it shows has changed since it was last made. */
  readonly stale: boolean;
  readonly busy: boolean;
  /** In a row. */
  readonly failures: number;
  /** Not before then, wall clock; undefined: at any time. */
  readonly retryAt: number | undefined;
}

export type VolumeStep =
  | { readonly kind: 'set-up' }
  /** Undefined: until something happens. */
  | { readonly kind: 'wait'; readonly until: number | undefined };

export const MISSING: VolumeState = { ready: undefined, stale: false, busy: false, failures: 0, retryAt: undefined };

export function nextStep({ ready, stale, busy, retryAt }: VolumeState, now: number): VolumeStep {
  if (busy) return { kind: 'wait', until: undefined };
  const due = ready === undefined || stale || (ready.refreshAt !== undefined && ready.refreshAt <= now);
  if (!due) return { kind: 'wait', until: ready?.refreshAt };
  return retryAt !== undefined && retryAt > now ? { kind: 'wait', until: retryAt } : { kind: 'set-up' };
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 122_000;

/** How long to wait after so many failures in a row. */
export function retryDelay(failures: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.max(failures - 1, 0), LONGEST_RETRY_MS);
}

export type VolumeChange =
  | { readonly kind: 'begun' }
  | { readonly kind: 'made'; readonly refreshAt: number | undefined }
  | { readonly kind: 'failed'; readonly now: number }
  | { readonly kind: 'cut-off' }
  /** What it shows has changed: worth a try at once, also where it failed before. */
  | { readonly kind: 'changed' };

export function reduceVolume(state: VolumeState, change: VolumeChange): VolumeState {
  switch (change.kind) {
    case 'begun':
      return { ...state, busy: true, stale: false, retryAt: undefined };
    case 'made':
      return { ...state, busy: false, failures: 0, ready: { refreshAt: change.refreshAt } };
    case 'failed': {
      const failures = state.failures + 1;
      // A change that came meanwhile is tried at once.
      const retryAt = state.stale ? undefined : change.now + retryDelay(failures);
      return { ...state, busy: false, stale: true, failures, retryAt };
    }
    case 'cut-off':
      return { ...state, busy: false, stale: true };
    case 'changed':
      return { ...state, stale: true, retryAt: undefined };
  }
}
