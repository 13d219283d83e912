/** `registryPullQPS` and `registryBurst`: how soon the next pull may begin. */
export interface BucketSettings {
  /** Tokens a second; 0 for no limit. */
  readonly qps: number;
  /** Most tokens that can be saved up. */
  readonly burst: number;
}

export interface Bucket {
  /** Negative where pulls that took a token still wait for it. */
  readonly tokens: number;
  /** Monotonic milliseconds. */
  readonly at: number;
}

export function fullBucket({ burst }: BucketSettings, now: number): Bucket {
  return { tokens: Math.max(burst, 1), at: now };
}

/** Takes one token; it is available after `waitMs`. A later caller waits longer, so the order is kept. */
export function takeToken(
  bucket: Bucket,
  { qps, burst }: BucketSettings,
  now: number,
): { readonly bucket: Bucket; readonly waitMs: number } {
  if (qps === 0) return { bucket, waitMs: 0 };
  const grown = Math.min(bucket.tokens + (Math.max(now - bucket.at, 0) * qps) / 1000, Math.max(burst, 1));
  const tokens = grown - 1;
  return { bucket: { tokens, at: now }, waitMs: tokens >= 0 ? 0 : (-tokens * 1000) / qps };
}

/** Gives back the token of one that left while it waited. */
export function returnToken(bucket: Bucket, { burst }: BucketSettings): Bucket {
  return { ...bucket, tokens: Math.min(bucket.tokens + 1, Math.max(burst, 1)) };
}
