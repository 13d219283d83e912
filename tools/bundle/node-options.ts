/**
 * How Node runs the kubelet, each measured:
 * - one helper thread of the compiler is enough and saves memory;
 * - a small space for young objects holds 11 MB less with 50 pods (97 to 86 MB) at the same CPU;
 * - `node:ffi` works, and that it is marked experimental need not be in a kubelet's log.
 * Options of the compiler itself do not belong here: with any of them, V8 refuses the compiled code of Node's own modules, which
 * costs 40 ms at each start. The kubelet sets them when it has loaded what it needs (src/main.ts).
 */
export const NODE_OPTIONS: readonly string[] = [
  '--v8-pool-size=1',
  '--max-semi-space-size=2',
  '--disable-warning=ExperimentalWarning',
];
