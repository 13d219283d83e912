/** So many at once, and so many a second after that. Time is passed in, so that the same bucket serves rules and effects. */
export interface TokenBucket {
  /** Takes one if there is one. */
  take(now: number): boolean;
  /** Milliseconds until there is one; 0 if there is. */
  waitMs(now: number): number;
}

export interface BucketSize {
  readonly burst: number;
  readonly perSecond: number;
}

export function createTokenBucket({ burst, perSecond }: BucketSize, start: number): TokenBucket {
  let tokens = burst;
  let filledAt = start;
  const fill = (now: number) => {
    // A clock that was set back neither fills nor empties the bucket.
    tokens = Math.min(burst, tokens + (Math.max(now - filledAt, 0) / 1000) * perSecond);
    filledAt = now;
  };
  return {
    take: (now) => {
      fill(now);
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
    waitMs: (now) => {
      fill(now);
      return tokens >= 1 ? 0 : ((1 - tokens) / perSecond) * 1000;
    },
  };
}
