/** `/metrics/cadvisor` as a table: each family, and its values for one cgroup. Names, types, labels and help texts are cAdvisor's. */
import { diskFamilies } from './cadvisor-disk.ts';
import { type CadvisorFamily, counter, gauge, type Seen, spec } from './cadvisor-family.ts';
import type { Pressure } from './kernel-text.ts';
import type { CpuSample, MemorySample } from './sample.ts';

/** The one family that has samples of containers that have ended, too. */
export const OOM_EVENTS = 'container_oom_events_total';

const SECOND_NS = 1e9;
const SECOND_US = 1e6;

const cpu = (of: (sample: CpuSample) => number) => (seen: Seen) => seen.reading.cpu && of(seen.reading.cpu);
const memory = (of: (sample: MemorySample) => number) => (seen: Seen) => seen.reading.memory && of(seen.reading.memory);
/** Shown only of what has a quota. */
const throttling = (of: (sample: CpuSample) => number) => (seen: Seen) =>
  seen.reading.spec.cpu?.quota === undefined ? undefined : cpu(of)(seen);

const cpuFamilies: readonly CadvisorFamily[] = [
  counter(
    'container_cpu_user_seconds_total',
    'Cumulative user cpu time consumed in seconds.',
    cpu(({ user }) => user / SECOND_NS),
  ),
  counter(
    'container_cpu_system_seconds_total',
    'Cumulative system cpu time consumed in seconds.',
    cpu(({ system }) => system / SECOND_NS),
  ),
  {
    name: 'container_cpu_usage_seconds_total',
    help: 'Cumulative cpu time consumed in seconds.',
    type: 'counter',
    extra: ['cpu'],
    values: ({ reading }) => {
      const usage = reading.cpu?.usage ?? 0;
      return usage === 0 ? [] : [{ extra: ['total'], value: usage / SECOND_NS }];
    },
  },
  counter(
    'container_cpu_cfs_periods_total',
    'Number of elapsed enforcement period intervals.',
    throttling(({ periods }) => periods),
  ),
  counter(
    'container_cpu_cfs_throttled_periods_total',
    'Number of throttled period intervals.',
    throttling(({ throttledPeriods }) => throttledPeriods),
  ),
  counter(
    'container_cpu_cfs_throttled_seconds_total',
    'Total time duration the container has been throttled.',
    throttling(({ throttled }) => throttled / SECOND_NS),
  ),
  counter(
    'container_cpu_cfs_burst_periods_total',
    'Number of periods when burst occurs.',
    throttling(({ burstPeriods }) => burstPeriods),
  ),
  counter(
    'container_cpu_cfs_burst_seconds_total',
    'Total time duration the container has been bursted.',
    throttling(({ burst }) => burst / SECOND_NS),
  ),
  // Load is read by cAdvisor's load reader alone, which the reference has off: 0 there too.
  gauge('container_cpu_load_average_10s', 'Value of container cpu load average over the last 10 seconds.', () => 0),
  gauge('container_cpu_load_d_average_10s', 'Value of container cpu load.d average over the last 10 seconds.', () => 0),
  {
    name: 'container_tasks_state',
    help: 'Number of tasks in given state',
    type: 'gauge',
    extra: ['state'],
    values: () => TASK_STATES.map((state) => ({ extra: [state], value: 0 })),
  },
];

const TASK_STATES = ['iowaiting', 'running', 'sleeping', 'stopped', 'uninterruptible'] as const;

const memoryFamilies: readonly CadvisorFamily[] = [
  gauge(
    'container_memory_cache',
    'Number of bytes of page cache memory.',
    memory((one) => one.cache),
  ),
  gauge(
    'container_memory_rss',
    'Size of RSS in bytes.',
    memory((one) => one.rss),
  ),
  gauge(
    'container_memory_kernel_usage',
    'Size of kernel memory allocated in bytes.',
    memory((one) => one.kernel),
  ),
  gauge(
    'container_memory_mapped_file',
    'Size of memory mapped files in bytes.',
    memory((one) => one.mappedFile),
  ),
  gauge(
    'container_memory_swap',
    'Container swap usage in bytes.',
    memory((one) => one.swap),
  ),
  counter(
    'container_memory_failcnt',
    'Number of memory usage hits limits',
    memory((one) => one.failures),
  ),
  gauge(
    'container_memory_usage_bytes',
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
    memory((one) => one.usage),
  ),
  gauge(
    'container_memory_max_usage_bytes',
    'Maximum memory usage recorded in bytes',
    memory((one) => one.peak),
  ),
  gauge(
    'container_memory_working_set_bytes',
    'Current working set in bytes.',
    memory((one) => one.workingSet),
  ),
  gauge(
    'container_memory_total_active_file_bytes',
    'Current total active file in bytes.',
    memory((one) => one.activeFile),
  ),
  gauge(
    'container_memory_total_inactive_file_bytes',
    'Current total inactive file in bytes.',
    memory((one) => one.inactiveFile),
  ),
  {
    name: 'container_memory_failures_total',
    help: 'Cumulative count of memory allocation failures.',
    type: 'counter',
    extra: ['failure_type', 'scope'],
    values: ({ reading: { memory: sample } }) =>
      sample === undefined
        ? []
        : ['container', 'hierarchy'].flatMap((scope) => [
            { extra: ['pgfault', scope], value: sample.pageFaults },
            { extra: ['pgmajfault', scope], value: sample.majorPageFaults },
          ]),
  },
  counter(OOM_EVENTS, 'Count of out of memory events observed for the container', ({ oomKills }) => oomKills),
];

type Counters = NonNullable<Seen['reading']['interfaces']>[number];

function network(name: string, help: string, of: (counters: Counters) => number): CadvisorFamily {
  return {
    name: `container_network_${name}`,
    help,
    type: 'counter',
    extra: ['interface'],
    values: ({ reading: { interfaces = [] } }) =>
      interfaces.map((counters) => ({ extra: [counters.name], value: of(counters) })),
  };
}

const networkFamilies: readonly CadvisorFamily[] = [
  network('receive_bytes_total', 'Cumulative count of bytes received', (one) => one.rxBytes),
  network('receive_packets_total', 'Cumulative count of packets received', (one) => one.rxPackets),
  network(
    'receive_packets_dropped_total',
    'Cumulative count of packets dropped while receiving',
    (one) => one.rxDropped,
  ),
  network('receive_errors_total', 'Cumulative count of errors encountered while receiving', (one) => one.rxErrors),
  network('transmit_bytes_total', 'Cumulative count of bytes transmitted', (one) => one.txBytes),
  network('transmit_packets_total', 'Cumulative count of packets transmitted', (one) => one.txPackets),
  network(
    'transmit_packets_dropped_total',
    'Cumulative count of packets dropped while transmitting',
    (one) => one.txDropped,
  ),
  network('transmit_errors_total', 'Cumulative count of errors encountered while transmitting', (one) => one.txErrors),
];

const processFamilies: readonly CadvisorFamily[] = [
  gauge('container_processes', 'Number of processes running inside the container.', (seen) => seen.reading.processes),
  gauge(
    'container_file_descriptors',
    'Number of open file descriptors for the container.',
    (seen) => seen.reading.files,
  ),
  gauge('container_sockets', 'Number of open sockets for the container.', (seen) => seen.reading.sockets),
  gauge(
    'container_threads_max',
    'Maximum number of threads allowed inside the container, infinity if value is zero',
    (seen) => (seen.reading.tasks === undefined ? 0 : seen.reading.spec.tasks),
  ),
  gauge('container_threads', 'Number of threads running inside the container', (seen) => seen.reading.tasks ?? 0),
  {
    name: 'container_ulimits_soft',
    help: 'Soft ulimit values for the container root process. Unlimited if -1, except priority and nice',
    type: 'gauge',
    extra: ['ulimit'],
    values: ({ reading: { openFilesLimit } }) =>
      openFilesLimit === undefined ? [] : [{ extra: ['max_open_files'], value: openFilesLimit }],
  },
];

/** Infinity is shown as 0. */
const limit = (value: number | undefined) => (value === undefined || Number.isFinite(value) ? value : 0);

const specFamilies: readonly CadvisorFamily[] = [
  spec('container_start_time_seconds', 'Start time of the container since unix epoch in seconds.', (seen) =>
    Math.floor(seen.reading.createdAt / 1000),
  ),
  spec('container_spec_cpu_period', 'CPU period of the container.', (seen) => seen.reading.spec.cpu?.period),
  spec('container_spec_cpu_quota', 'CPU quota of the container.', (seen) => seen.reading.spec.cpu?.quota),
  spec('container_spec_cpu_shares', 'CPU share of the container.', (seen) => seen.reading.spec.cpu?.shares),
  spec('container_spec_memory_limit_bytes', 'Memory limit for the container.', (seen) =>
    limit(seen.reading.spec.memory?.limit),
  ),
  spec('container_spec_memory_swap_limit_bytes', 'Memory swap limit for the container.', (seen) =>
    limit(seen.reading.spec.memory?.swapLimit),
  ),
  spec('container_spec_memory_reservation_limit_bytes', 'Memory reservation limit for the container.', (seen) =>
    limit(seen.reading.spec.memory?.reservation),
  ),
];

const lifeFamilies: readonly CadvisorFamily[] = [
  gauge('container_last_seen', 'Last time a container was seen by the exporter', (seen) =>
    Math.floor(seen.reading.time / 1000),
  ),
  // Health checks of images are Docker's: there are none here.
  gauge('container_health_state', "The result of the container's health check", () => -1),
];

function pressure(resource: string, text: string, of: (seen: Seen) => Pressure | undefined): readonly CadvisorFamily[] {
  const seconds = (kind: keyof Pressure) => (seen: Seen) => {
    const line = of(seen)?.[kind];
    return line && line.total / SECOND_US;
  };
  return [
    counter(
      `container_pressure_${resource}_stalled_seconds_total`,
      `Total time duration no tasks in the container could make progress due to ${text} congestion.`,
      seconds('full'),
    ),
    counter(
      `container_pressure_${resource}_waiting_seconds_total`,
      `Total time duration tasks in the container have waited due to ${text} congestion.`,
      seconds('some'),
    ),
  ];
}

const pressureFamilies: readonly CadvisorFamily[] = [
  ...pressure('cpu', 'CPU', ({ reading }) => reading.cpu?.pressure),
  ...pressure('memory', 'memory', ({ reading }) => reading.memory?.pressure),
  ...pressure('io', 'IO', ({ reading }) => reading.io?.pressure),
];

/** Every family of cgroups, by name. Pressure is left out where the kernel does not measure it. */
export function cadvisorFamilies({ hasPressure }: { readonly hasPressure: boolean }): readonly CadvisorFamily[] {
  return [
    ...lifeFamilies,
    ...cpuFamilies,
    ...memoryFamilies,
    ...diskFamilies,
    ...networkFamilies,
    ...processFamilies,
    ...specFamilies,
    ...(hasPressure ? pressureFamilies : []),
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
