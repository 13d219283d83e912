/**
 * The releases of containerd that the kubelet must work with. `make test` runs most tests on the newer one only, `make test-long` (LONG=1)
 * on both. Tests of what the releases do differently run on both every time, and the guest's node has the older one.
 */
import type { RuntimeName } from '../lab/supplies.ts';

export const BOTH_RUNTIMES: readonly RuntimeName[] = ['containerd-2.4', 'containerd-1.6'];

export const RUNTIMES: readonly RuntimeName[] = process.env['LONG'] === '1' ? BOTH_RUNTIMES : ['containerd-2.4'];
