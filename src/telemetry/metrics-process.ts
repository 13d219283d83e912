/** What this process is and uses. */
import type { OwnProcess } from '../host/own-process.ts';
import type { Metrics } from './metrics.ts';

export interface ProcessMetricsDeps {
  read(): OwnProcess;
  readonly eventLoopLag: () => { readonly max: number; readonly p99: number };
  readonly heap: () => { readonly heapUsed: number; readonly heapTotal: number; readonly external: number };
}

export function addProcessMetrics(metrics: Metrics, { read, eventLoopLag, heap }: ProcessMetricsDeps): void {
  // All families of one scrape show the same moment.
  let use: OwnProcess | undefined;
  const reading = () => {
    use ??= read();
    queueMicrotask(() => {
      use = undefined;
    });
    return use;
  };
  const add = (type: 'counter' | 'gauge', name: string, help: string, value: (use: OwnProcess) => number) =>
    metrics.computed(type, { name, help, stability: 'none' }, () => [{ value: value(reading()) }]);
  add(
    'counter',
    'process_cpu_seconds_total',
    'Processor time of user and system, in seconds.',
    ({ cpuSeconds }) => cpuSeconds,
  );
  add('gauge', 'process_max_fds', 'Most file descriptors that may be open.', ({ openFilesLimit }) => openFilesLimit);
  add(
    'counter',
    'process_network_receive_bytes_total',
    'Bytes that came in over the network.',
    ({ receivedBytes }) => receivedBytes,
  );
  add(
    'counter',
    'process_network_transmit_bytes_total',
    'Bytes that went out over the network.',
    ({ sentBytes }) => sentBytes,
  );
  add('gauge', 'process_open_fds', 'File descriptors that are open.', ({ openFiles }) => openFiles);
  add('gauge', 'process_resident_memory_bytes', 'Memory in use, in bytes.', ({ residentBytes }) => residentBytes);
  add('gauge', 'process_virtual_memory_bytes', 'Address space in use, in bytes.', ({ virtualBytes }) => virtualBytes);
  add(
    'gauge',
    'process_virtual_memory_max_bytes',
    'Most address space that may be used, in bytes.',
    ({ virtualLimitBytes }) => (Number.isFinite(virtualLimitBytes) ? virtualLimitBytes : 2 ** 64),
  );
  addStartTime(metrics, () => reading().startedAtSeconds);
  const own = (name: string, help: string, value: () => number) =>
    metrics.computed('gauge', { name: `kubelet_ts_${name}`, help, stability: 'none' }, () => [{ value: value() }]);
  own(
    'event_loop_lag_max_seconds',
    'The latest that the event loop ran since the start.',
    () => eventLoopLag().max / 1000,
  );
  own(
    'event_loop_lag_p99_seconds',
    'The lateness that 99 of 100 turns of the event loop stayed below.',
    () => eventLoopLag().p99 / 1000,
  );
  own('heap_used_bytes', 'Bytes of the JavaScript heap in use.', () => heap().heapUsed);
  own('heap_total_bytes', 'Bytes that the JavaScript heap has taken.', () => heap().heapTotal);
  own('external_memory_bytes', 'Bytes of buffers outside the JavaScript heap.', () => heap().external);
}

/** On the page of probes too. */
export function addStartTime(metrics: Metrics, seconds: () => number): void {
  const help = 'When the process started, in seconds since 1970.';
  metrics.computed('gauge', { name: 'process_start_time_seconds', help }, () => [{ value: seconds() }]);
}

/** Who reads what pods use: this kubelet, which does the work of cAdvisor, or the runtime. */
export function addProvider(metrics: Metrics, provider: 'cadvisor' | 'cri'): void {
  const help = "Metrics provider used by kubelet to collect container stats. Values can be 'cadvisor' and 'cri'";
  metrics.computed('gauge', { name: 'kubelet_metrics_provider', help, labels: ['provider'] }, () => [
    { labels: [provider], value: 1 },
  ]);
}

/** The registry about itself. */
export function addRegistryMetrics(metrics: Metrics): void {
  const counter = (name: string, help: string, value: () => number) =>
    metrics.computed('counter', { name, help, stability: 'BETA' }, () => [{ value: value() }]);
  counter('hidden_metrics_total', 'Metrics that are hidden since they are on their way out.', metrics.hidden);
  counter('disabled_metrics_total', 'Metrics that were switched off.', () => 0);
  metrics.computed(
    'counter',
    {
      name: 'registered_metrics_total',
      help: 'Metrics that there are, by how stable they are and since when they are on their way out.',
      labels: ['deprecated_version', 'stability_level'],
      stability: 'BETA',
    },
    () => {
      const counts = new Map<string, { readonly labels: readonly string[]; value: number }>();
      for (const { stability, deprecatedSince = '' } of metrics.families()) {
        if (stability === 'none') continue;
        const known = counts.get(`${stability} ${deprecatedSince}`) ?? {
          labels: [deprecatedSince, stability],
          value: 0,
        };
        known.value += 1;
        counts.set(`${stability} ${deprecatedSince}`, known);
      }
      return counts.values();
    },
  );
}

export interface BuildFacts {
  readonly gitVersion: string;
  readonly runtime: string;
  readonly compiler: string;
  readonly platform: string;
}

export interface FeatureFact {
  readonly name: string;
  readonly stage: string;
  readonly enabled: boolean;
}

/** The label of a gate's stage; empty for what is there to stay. */
const STAGES: Readonly<Record<string, string>> = { alpha: 'ALPHA', beta: 'BETA', deprecated: 'DEPRECATED' };

export function addBuildMetrics(metrics: Metrics, build: BuildFacts, features: readonly FeatureFact[]): void {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(build.gitVersion) ?? [];
  const info = {
    major,
    minor,
    git_version: build.gitVersion,
    git_commit: '',
    git_tree_state: '',
    build_date: '1970-01-01T00:00:00Z',
    go_version: build.runtime,
    compiler: build.compiler,
    platform: build.platform,
  };
  metrics.computed(
    'gauge',
    {
      name: 'kubernetes_build_info',
      help: 'Always 1; its labels say what this program is.',
      labels: Object.keys(info),
      isConstant: true,
    },
    () => [{ labels: Object.values(info), value: 1 }],
  );
  metrics.computed(
    'gauge',
    {
      name: 'kubernetes_feature_enabled',
      help: 'Whether a feature gate is on.',
      labels: ['name', 'stage'],
      stability: 'BETA',
      isConstant: true,
    },
    () => features.map(({ name, stage, enabled }) => ({ labels: [name, STAGES[stage] ?? ''], value: enabled ? 1 : 0 })),
  );
}
