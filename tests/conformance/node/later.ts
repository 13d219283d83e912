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
  { specs: 'ContainerMetrics', reason: 'no /metrics/cadvisor yet (the suite waits for it without end)' },
  { specs: 'ResourceMetricsAPI', reason: 'no /metrics/resource yet (the suite waits for it without end)' },
  { specs: 'Summary API', reason: 'no /stats/summary yet' },
  { specs: 'KubeletSeparateDiskGC', reason: 'no /stats/summary yet' },
  { specs: '\\] Swap ', reason: 'swap of pods comes with cgroup v2' },
  { specs: 'MemoryQoS', reason: 'memory protection comes with cgroup v2' },
  { specs: 'Device Plugin', reason: 'device plugins are not built' },
];
