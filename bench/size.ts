/** How much is measured: the real thing, or so little that a test can afford it. */
export interface Size {
  /** How many pods instead of this many. */
  pods(count: number): number;
  /** How often something is repeated instead of this often. */
  times(count: number): number;
  /** How long is waited or watched instead of this long, in milliseconds. */
  period(ms: number): number;
}

export const FULL_SIZE: Size = { pods: (count) => count, times: (count) => count, period: (ms) => ms };

const SHORT_PODS = 3;
const SHORT_TIMES = 2;
const SHORT_PERIOD_MS = 500;

export const SHORT_SIZE: Size = {
  pods: (count) => Math.min(count, SHORT_PODS),
  times: (count) => Math.min(count, SHORT_TIMES),
  period: (ms) => Math.min(ms, SHORT_PERIOD_MS),
};
