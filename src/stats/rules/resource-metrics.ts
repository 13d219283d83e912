/** `/metrics/resource`: what autoscalers and `kubectl top` work with. */
import type { ResourceReading } from './reading.ts';
import type { StatsPod } from './targets.ts';

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly samples: readonly MetricSample[];
}

export interface MetricSample {
  /** In the order of their names. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
  /** Milliseconds since 1970; undefined: of the scrape. */
  readonly time?: number | undefined;
}

/** By cgroup. */
type Readings = ReadonlyMap<string, ResourceReading>;

const NS = 1e9;
const ELSEWHERE = 'Reported only on non-windows systems';

export function computeResourceMetrics(pods: readonly StatsPod[], readings: Readings): readonly MetricFamily[] {
  const inOrder = pods.toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
  return [
    ...containerFamilies(inOrder, readings),
    ...nodeFamilies(readings),
    ...podFamilies(inOrder, readings),
    {
      name: 'resource_scrape_error',
      help: '[STABLE] 1 if there was an error while getting container metrics, 0 otherwise',
      type: 'gauge',
      samples: [{ labels: [], value: readings.has('/') ? 0 : 1 }],
    },
  ];
}

type Values = (reading: ResourceReading) => number | undefined;

const cpuSeconds: Values = ({ cpu }) => cpu && cpu.usage / NS;
const workingSet: Values = ({ memory }) => memory?.workingSet;
const swapUsage: Values = ({ memory }) => memory?.swap;
const swapLimit: Values = ({ memory, spec }) =>
  memory === undefined || spec.memory === undefined || !Number.isFinite(spec.memory.swapLimit)
    ? undefined
    : Math.max(spec.memory.swapLimit, memory.swap);

interface Place {
  readonly labels: MetricSample['labels'];
  readonly cgroup: string;
}

function family(
  { name, help, type }: Omit<MetricFamily, 'samples'>,
  places: readonly Place[],
  readings: Readings,
  numberOf: Values,
): MetricFamily {
  const samples = places.flatMap(({ labels, cgroup }) => {
    const reading = readings.get(cgroup);
    const value = reading && numberOf(reading);
    return reading === undefined || value === undefined ? [] : [{ labels, value, time: reading.time }];
  });
  return { name, help, type, samples };
}

function containerFamilies(pods: readonly StatsPod[], readings: Readings): readonly MetricFamily[] {
  const all = pods.flatMap((pod) => pod.containers.map((container) => ({ pod, container })));
  // The name of the container is the first label, so it decides the order.
  const places = all
    .toSorted((a, b) => compare(a.container.name, b.container.name))
    .map(({ pod, container: { name, cgroup, createdAt } }) => ({
      labels: [
        ['container', name],
        ['namespace', pod.namespace],
        ['pod', pod.name],
      ] as const,
      cgroup,
      createdAt,
    }));
  const shown = places.filter(({ cgroup }) => readings.has(cgroup));
  const add = (head: Omit<MetricFamily, 'samples'>, numberOf: Values) => family(head, places, readings, numberOf);
  return [
    add(
      {
        name: 'container_cpu_usage_seconds_total',
        help: '[STABLE] Cumulative cpu time consumed by the container in core-seconds',
        type: 'counter',
      },
      cpuSeconds,
    ),
    add(
      {
        name: 'container_memory_working_set_bytes',
        help: '[STABLE] Current working set of the container in bytes',
        type: 'gauge',
      },
      workingSet,
    ),
    {
      name: 'container_start_time_seconds',
      help: '[STABLE] Start time of the container since unix epoch in seconds',
      type: 'gauge',
      samples: shown.map(({ labels, createdAt }) => ({ labels, value: createdAt / 1000 })),
    },
    add(
      {
        name: 'container_swap_limit_bytes',
        help: `[ALPHA] Current amount of the container swap limit in bytes. ${ELSEWHERE}`,
        type: 'gauge',
      },
      swapLimit,
    ),
    add(
      {
        name: 'container_swap_usage_bytes',
        help: `[ALPHA] Current amount of the container swap usage in bytes. ${ELSEWHERE}`,
        type: 'gauge',
      },
      swapUsage,
    ),
  ];
}

function nodeFamilies(readings: Readings): readonly MetricFamily[] {
  return levelFamilies(
    'node',
    `[ALPHA] Current swap usage of the node in bytes. ${ELSEWHERE}`,
    [{ labels: [], cgroup: '/' }],
    readings,
  );
}

function podFamilies(pods: readonly StatsPod[], readings: Readings): readonly MetricFamily[] {
  const places = pods.map(({ cgroup, name, namespace }) => ({
    labels: [
      ['namespace', namespace],
      ['pod', name],
    ] as const,
    cgroup,
  }));
  return levelFamilies('pod', `[ALPHA] Current amount of the pod swap usage in bytes. ${ELSEWHERE}`, places, readings);
}

function levelFamilies(
  level: 'node' | 'pod',
  swapHelp: string,
  places: readonly Place[],
  readings: Readings,
): readonly MetricFamily[] {
  const add = (name: string, help: string, type: 'counter' | 'gauge', numberOf: Values) =>
    family({ name: `${level}_${name}`, help, type }, places, readings, numberOf);
  return [
    add(
      'cpu_usage_seconds_total',
      `[STABLE] Cumulative cpu time consumed by the ${level} in core-seconds`,
      'counter',
      cpuSeconds,
    ),
    add('memory_working_set_bytes', `[STABLE] Current working set of the ${level} in bytes`, 'gauge', workingSet),
    add('swap_usage_bytes', swapHelp, 'gauge', swapUsage),
  ];
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
