/**
 * How Node runs the kubelet. Both were measured: one helper thread of the compiler is enough and saves memory; `node:ffi` works, and that it
 * is marked experimental is no news for the reader of a kubelet's log.
 */
export const NODE_OPTIONS: readonly string[] = ['--v8-pool-size=1', '--disable-warning=ExperimentalWarning'];
