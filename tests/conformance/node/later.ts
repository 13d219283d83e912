/**
 * Specs inside the sets of today that wait for parts which are still to be built. They are left out unless LATER=1; whoever builds the
 * part takes its line away.
 */
export interface LaterSpecs {
  /** A regular expression over full names of specs. */
  readonly specs: string;
  readonly reason: string;
}

export const LATER: readonly LaterSpecs[] = [
  {
    specs: 'ContainerMetrics',
    reason: 'fails under the reference too: containers do no block I/O that cgroup v1 counts in these worlds',
  },
  {
    specs: 'Summary API',
    reason:
      'fails under the reference too: no CPU time of the unit of the runtime, and no pressure figures of this kernel',
  },
  { specs: 'KubeletSeparateDiskGC', reason: 'needs a runtime with images apart from writable layers' },
  { specs: 'Device Plugin', reason: 'built; the set has not been run to its end yet, under neither kubelet' },
];
