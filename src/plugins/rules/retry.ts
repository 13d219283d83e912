const FIRST_MS = 500;
const LONGEST_MS = 122_000;

/** How long to wait after so many failures in a row: a plugin makes its socket before it serves. */
export function retryDelay(failures: number): number {
  return Math.min(FIRST_MS * 2 ** Math.max(failures - 1, 0), LONGEST_MS);
}
