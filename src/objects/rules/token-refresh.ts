/** When a token is replaced: well before it expires, and after a day at the latest. */
const LONGEST_USE_MS = 24 * 3600 * 1000;
/** Nodes that got their tokens at the same time must not all renew them at the same time. */
const MOST_JITTER_SECONDS = 10;

export interface TokenLife {
  /** Wall clock, milliseconds. */
  readonly expiresAt: number;
  /** Its whole lifetime. */
  readonly lifeSeconds: number;
  /** From 0 to below 1. */
  readonly random: number;
}

export function tokenRefreshAt({ expiresAt, lifeSeconds, random }: TokenLife): number {
  const jitter = Math.floor(random * MOST_JITTER_SECONDS) * 1000;
  const issuedAt = expiresAt - lifeSeconds * 1000;
  const fifth = Math.floor((lifeSeconds * 20) / 100) * 1000;
  return Math.min(issuedAt + LONGEST_USE_MS, expiresAt - fifth) - jitter;
}
