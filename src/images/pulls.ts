/** Pulls under way: as many at once as allowed, in order of priority, not faster than allowed, and each image only once. */

import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';
import { createTurns } from '../base/turns.ts';
import { isInterruption } from '../model/runtime-failure.ts';
import type { Image } from '../wire/gen/cri-runtime-v1.ts';
import { runtimeText } from './failures.ts';
import type { ImageRuntime, PullRequest } from './ports.ts';
import { joinErrors } from './rules/texts.ts';
import { fullBucket, returnToken, takeToken } from './rules/token-bucket.ts';
import { createSharedWork } from './shared-work.ts';

export interface PullSettings {
  /** How many may be pulled at the same time; undefined for any number. */
  readonly atOnce: number | undefined;
  readonly qps: number;
  readonly burst: number;
}

export interface PullAuth {
  readonly username: string;
  readonly password: string;
}

export interface PullJob {
  /** Pulls with the same key are one. */
  readonly key: string;
  readonly image: PullRequest['image'];
  readonly sandboxConfig: PullRequest['sandboxConfig'];
  /** Tried one after the other; empty: pulled without credentials. */
  readonly logins: readonly PullAuth[];
  /** The smaller one is pulled first. */
  readonly rank: number;
}

export type PullOutcome =
  | {
      readonly kind: 'pulled';
      readonly image: Image;
      /** Without the time it waited for its turn. */
      readonly pullMs: number;
      /** Which of the logins gave access; undefined where none was needed. */
      readonly login: number | undefined;
    }
  | PullFailed;

interface PullFailed {
  readonly kind: 'failed';
  readonly message: string;
  /** There was no space for it. */
  readonly diskFull: boolean;
}

export interface Pulls {
  /** Rejects with the signal's reason as soon as it aborts, and where the runtime does not answer. */
  pull(job: PullJob, signal: AbortSignal): Promise<PullOutcome>;
  /** How many pulls are under way or wait for their turn. */
  underWay(): number;
}

export function createPulls(
  { runtime, clock }: { readonly runtime: Pick<ImageRuntime, 'pull' | 'status'>; readonly clock: Clock },
  settings: PullSettings,
): Pulls {
  const turns = createTurns(settings.atOnce ?? Infinity);
  const shared = createSharedWork<PullOutcome>();
  let bucket = fullBucket(settings, clock.mono());

  const awaitToken = async (signal: AbortSignal) => {
    const taken = takeToken(bucket, settings, clock.mono());
    bucket = taken.bucket;
    if (taken.waitMs === 0) return;
    try {
      await clock.sleep(taken.waitMs, signal);
    } catch (error) {
      bucket = returnToken(bucket, settings);
      throw error;
    }
  };

  const run = async (job: PullJob, signal: AbortSignal): Promise<PullOutcome> => {
    using _turn = await turns.take([job.rank], signal);
    await awaitToken(signal);
    const started = clock.mono();
    const tried = await tryLogins(runtime, job, signal);
    if (tried.kind === 'failed') return tried;
    const { image } = await runtime.status({ image: tried.imageRef }, {}, signal);
    if (image === undefined) {
      return { kind: 'failed', message: `the runtime pulled ${tried.imageRef} and does not have it`, diskFull: false };
    }
    return { kind: 'pulled', image, pullMs: clock.mono() - started, login: tried.login };
  };

  return {
    pull: (job, signal) => shared.join(job.key, (own) => run(job, own), signal),
    underWay: shared.size,
  };
}

type Attempt = { readonly kind: 'pulled'; readonly imageRef: string; readonly login: number | undefined } | PullFailed;

async function tryLogins(runtime: Pick<ImageRuntime, 'pull'>, job: PullJob, signal: AbortSignal): Promise<Attempt> {
  const { image, sandboxConfig, logins } = job;
  const errors: unknown[] = [];
  const attempts = logins.length === 0 ? [undefined] : logins.keys();
  for (const login of attempts) {
    const auth = login === undefined ? undefined : logins[login];
    try {
      const imageRef = await runtime.pull({ image, sandboxConfig, ...(auth === undefined ? {} : { auth }) }, signal);
      return { kind: 'pulled', imageRef, login };
    } catch (error) {
      if (isInterruption(error, signal)) throw error;
      errors.push(error);
    }
  }
  return {
    kind: 'failed',
    message: joinErrors(errors.map(runtimeText)),
    diskFull: errors.some((error) => codeOf(error) === 'exhausted'),
  };
}
