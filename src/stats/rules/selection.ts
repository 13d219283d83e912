/** Which families of `/metrics/cadvisor` are shown, and of which cgroups: everything as in the reference, or as little as dashboards need. */
import type { Target } from './targets.ts';

export interface Selection {
  /** `lean`: what the usual dashboards, alerts and autoscalers read. */
  readonly profile: 'full' | 'lean';
  /** Not empty: these families instead of those of the profile. A name may end in `*`. */
  readonly allow: readonly string[];
  /** Left out in any case. */
  readonly deny: readonly string[];
}

export const EVERYTHING: Selection = { profile: 'full', allow: [], deny: [] };

const LEAN: readonly string[] = [
  'cadvisor_version_info',
  'container_cpu_cfs_periods_total',
  'container_cpu_cfs_throttled_periods_total',
  'container_cpu_usage_seconds_total',
  'container_fs_reads_bytes_total',
  'container_fs_usage_bytes',
  'container_fs_writes_bytes_total',
  'container_memory_cache',
  'container_memory_rss',
  'container_memory_usage_bytes',
  'container_memory_working_set_bytes',
  'container_network_receive_bytes_total',
  'container_network_receive_packets_dropped_total',
  'container_network_transmit_bytes_total',
  'container_network_transmit_packets_dropped_total',
  'container_oom_events_total',
  'container_pressure_*',
  'container_scrape_error',
  'container_spec_cpu_quota',
  'container_spec_memory_limit_bytes',
  'container_start_time_seconds',
  'machine_cpu_cores',
  'machine_memory_bytes',
  'machine_scrape_error',
];

/** What can only be read from each process, or from a file of its own. */
const NEEDS_PROCESSES = [
  'container_file_descriptors',
  'container_sockets',
  'container_threads',
  'container_threads_max',
  'container_ulimits_soft',
];

export function isSelected({ profile, allow, deny }: Selection, family: string): boolean {
  const shown = allow.length > 0 ? allow : profile === 'lean' ? LEAN : undefined;
  return (shown === undefined || matches(shown, family)) && !matches(deny, family);
}

/** Whether a cgroup has samples of this family. In the lean profile a sandbox counts for its network, and a pod not beside its containers. */
export function isShown({ profile }: Selection, { kind }: Pick<Target, 'kind'>, family: string): boolean {
  if (profile === 'full') return true;
  if (kind === 'sandbox') return family.startsWith('container_network_');
  return kind !== 'pod';
}

export function needsProcesses(selection: Selection): boolean {
  return NEEDS_PROCESSES.some((name) => isSelected(selection, name));
}

function matches(patterns: readonly string[], name: string): boolean {
  return patterns.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : one === name));
}
