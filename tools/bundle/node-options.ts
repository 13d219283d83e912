/**
 * How Node runs the kubelet, each measured:
 * - one helper thread of the compiler is enough and saves memory;
 * - a small space for young objects holds 11 MB less with 50 pods (97 to 86 MB) at the same CPU;
 * - functions are optimised only when they are called very often. The usual 400 and 3,000 calls are reached while pods start, when the
 *   runtime needs the processor more than the compiler does: so it holds 8 MB less with 50 pods (90 to 82 MB), and what streams a log is
 *   still optimised (7 times the reference's speed; with no compiler at all 3.6 times);
 * - `node:ffi` works, and that it is marked experimental is no news for the reader of a kubelet's log.
 */
export const NODE_OPTIONS: readonly string[] = [
  '--v8-pool-size=1',
  '--max-semi-space-size=2',
  '--invocation-count-for-maglev=20000',
  '--invocation-count-for-turbofan=100000',
  '--disable-warning=ExperimentalWarning',
];
