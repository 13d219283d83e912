/** Pods and containers of this node, counted from what is observed of them. */

import type { ContainerRunState } from '../model/observation.ts';
import type { PodStep } from '../model/pod-view.ts';
import type { Counter, Gauge, Metrics, Sample } from './metrics.ts';

export type ContainerType = 'container' | 'init_container' | 'ephemeral_container';

/** A pod as far as the numbers need it. */
export interface CountedPod {
  readonly uid: string;
  readonly isStatic: boolean;
  readonly step: PodStep;
  /** A source has it. */
  readonly isDesired: boolean;
  readonly hasRunningSandbox: boolean;
  readonly hasOwnNetwork: boolean;
  /** It has volumes that other components provide. */
  readonly isStateful: boolean;
  readonly ephemeralContainers: number;
  /** How many of its spec; 0 for a pod that only the runtime knows. */
  readonly wantedContainers: number;
  /** When this kubelet first had it, wall clock, ms. */
  readonly seenAt: number;
  /** Its creation timestamp, wall clock, ms; undefined where it has none. */
  readonly createdAt: number | undefined;
  /** Set when it was not admitted. */
  readonly rejection: string | undefined;
  readonly sandboxes: readonly { readonly id: string; readonly createdAt: number }[];
  readonly containers: readonly CountedContainer[];
}

export interface CountedContainer {
  readonly id: string;
  readonly type: ContainerType;
  readonly state: ContainerRunState;
  readonly createdAt: number;
  /** 0 while it has not ended. */
  readonly ranForMs: number;
  readonly exitCode: number;
  readonly reason: string;
}

export interface PodMetricsDeps {
  readonly nodeName: string;
  /** Of this kubelet, wall clock, ms: what is older was counted by the one before. */
  readonly startedAt: number;
  readonly now: () => number;
  readonly pods: () => readonly CountedPod[];
  /** How many pods the sources have, static ones and others. */
  readonly desired: () => { readonly fromFiles: number; readonly fromApi: number };
  readonly mirrorPods: () => number;
  readonly cgroupVersion: () => number;
}

export interface PodMetrics {
  /** Called with each new state of a pod. */
  follow(pod: CountedPod): void;
  /** An image was pulled for a pod. */
  pulled(uid: string, ms: number): void;
  forget(uid: string): void;
}

const START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];

/** How many pods that have gone are remembered, to know one that comes back under its UID. */
const MOST_GONE = 1000;

const STATIC = ['', 'true'];

export function createPodMetrics(metrics: Metrics, deps: PodMetricsDeps): PodMetrics {
  addPodGauges(metrics, deps);
  const counters = createPodCounters(metrics);
  const known = new Map<string, KnownPod>();
  const pullMs = new Map<string, number>();
  const gone = new Set<string>();
  const forget = (uid: string) => {
    known.delete(uid);
    pullMs.delete(uid);
    gone.delete(uid);
    gone.add(uid);
    for (const oldest of gone) {
      if (gone.size <= MOST_GONE) break;
      gone.delete(oldest);
    }
  };
  return {
    follow: (pod) => {
      const before = known.get(pod.uid);
      if (before === undefined && gone.delete(pod.uid)) counters.restartedPods.add(1, [pod.isStatic ? 'true' : '']);
      known.set(pod.uid, followPod(pod, before, { counters, deps, pullMs: pullMs.get(pod.uid) ?? 0 }));
      if (known.get(pod.uid)?.isCounted) pullMs.delete(pod.uid);
    },
    pulled: (uid, ms) => {
      if (!known.get(uid)?.isCounted) pullMs.set(uid, (pullMs.get(uid) ?? 0) + ms);
    },
    forget,
  };
}

interface KnownPod {
  readonly started: ReadonlySet<string>;
  readonly ended: ReadonlySet<string>;
  readonly isCounted: boolean;
  readonly isRejected: boolean;
}

type PodCounters = ReturnType<typeof createPodCounters>;

function createPodCounters(metrics: Metrics) {
  const start = (name: string, help: string) => metrics.histogram({ name, help, buckets: START_BUCKETS });
  return {
    startedPods: metrics.counter({ name: 'kubelet_started_pods_total', help: 'Pod sandboxes that were started.' }),
    startedContainers: metrics.counter({
      name: 'kubelet_started_containers_total',
      help: 'Containers that were started, by type.',
      labels: ['container_type'],
    }),
    endedContainers: metrics.counter({
      name: 'kubelet_terminated_containers_total',
      help: 'Containers that ended, by type, exit code and reason.',
      labels: ['container_type', 'exit_code', 'reason'],
    }),
    rejections: metrics.counter({
      name: 'kubelet_admission_rejections_total',
      help: 'Pods that were not admitted, by reason.',
      labels: ['reason'],
    }),
    containersPerPod: metrics.histogram({
      name: 'kubelet_containers_per_pod_count',
      help: 'Containers that pods have.',
      buckets: [1, 2, 4, 8, 16],
    }),
    startDuration: start(
      'kubelet_pod_start_duration_seconds',
      'Seconds from when the kubelet first had a pod until its containers ran.',
    ),
    sliDuration: start(
      'kubelet_pod_start_sli_duration_seconds',
      'Seconds from when a pod without foreign volumes was made until its containers ran, pulls and init containers left out.',
    ),
    firstNetworkStart: createFirst(
      metrics.gauge({
        name: 'kubelet_first_network_pod_start_sli_duration_seconds',
        help: 'The same of the first pod with a network of its own.',
      }),
    ),
    restartedPods: createZeroed(
      metrics.counter({
        name: 'kubelet_restarted_pods_total',
        help: 'Pods that came back under the UID of one that had gone.',
        labels: ['static'],
      }),
    ),
    orphans: metrics.counter({
      name: 'kubelet_orphaned_runtime_pods_total',
      help: 'Pods that only the runtime knew of.',
    }),
    totalDuration: start(
      'kubelet_pod_start_total_duration_seconds',
      'Seconds from when a pod was made until its containers ran, pulls and init containers included.',
    ),
  };
}

/** Keeps the first value. */
function createFirst(gauge: Gauge): (value: number) => void {
  let isSet = false;
  return (value) => {
    if (!isSet) gauge.set(value);
    isSet = true;
  };
}

/** Shown from the start, as in the reference. */
function createZeroed(counter: Counter): Counter {
  for (const label of STATIC) counter.add(0, [label]);
  return counter;
}

interface FollowTools {
  readonly counters: PodCounters;
  readonly deps: PodMetricsDeps;
  /** How long images were pulled for the pod. */
  readonly pullMs: number;
}

function followPod(pod: CountedPod, before: KnownPod | undefined, tools: FollowTools): KnownPod {
  const { counters, deps } = tools;
  const isNew = ({ createdAt }: { readonly createdAt: number }) => createdAt >= deps.startedAt;
  const started = new Set<string>();
  const ended = new Set<string>();
  for (const sandbox of pod.sandboxes) {
    started.add(sandbox.id);
    if (!before?.started.has(sandbox.id) && isNew(sandbox)) counters.startedPods.add(1);
  }
  for (const container of pod.containers) {
    const { id, type, state } = container;
    if (state === 'created') continue;
    started.add(id);
    if (!before?.started.has(id) && isNew(container)) counters.startedContainers.add(1, [type]);
    if (state !== 'exited') continue;
    ended.add(id);
    // What had ended when this kubelet came was counted by the one before.
    if (!before?.ended.has(id) && (before !== undefined || isNew(container)))
      counters.endedContainers.add(1, [type, String(container.exitCode), container.reason]);
  }
  if (before === undefined && pod.seenAt >= deps.startedAt && pod.wantedContainers > 0)
    counters.containersPerPod.observe(pod.wantedContainers);
  if (before === undefined && pod.wantedContainers === 0) counters.orphans.add(1);
  const isRejected = pod.rejection !== undefined;
  if (isRejected && !before?.isRejected) counters.rejections.add(1, [pod.rejection]);
  return { started, ended, isRejected, isCounted: before?.isCounted === true || countStart(pod, tools) };
}

/** Once, when every container runs that should; a pod that ran before this kubelet came has no start to measure. */
function countStart(pod: CountedPod, { counters, deps: { now, startedAt }, pullMs }: FollowTools): boolean {
  const running = pod.containers.filter(({ type, state }) => type === 'container' && state === 'running');
  if (pod.step !== 'syncing' || pod.wantedContainers === 0 || running.length < pod.wantedContainers) return false;
  if (running.some(({ createdAt }) => createdAt < startedAt)) return true;
  counters.startDuration.observe((now() - pod.seenAt) / 1000);
  if (pod.createdAt === undefined) return true;
  const total = now() - pod.createdAt;
  counters.totalDuration.observe(total / 1000);
  if (pod.isStateful) return true;
  const init = pod.containers.filter(({ type }) => type === 'init_container');
  const sli = (total - pullMs - init.reduce((sum, { ranForMs }) => sum + ranForMs, 0)) / 1000;
  counters.sliDuration.observe(sli);
  if (pod.hasOwnNetwork) counters.firstNetworkStart(sli);
  return true;
}

function addPodGauges(metrics: Metrics, deps: PodMetricsDeps): void {
  const gauge = (name: string, help: string, labels: readonly string[], collect: () => Iterable<Sample>) =>
    metrics.computed('gauge', { name: `kubelet_${name}`, help, labels }, collect);
  const count = (fits: (pod: CountedPod) => boolean) => deps.pods().filter(fits).length;
  const byStatic = (fits: (pod: CountedPod) => boolean) =>
    STATIC.map((label) => ({
      labels: [label],
      value: count((pod) => pod.isStatic === (label === 'true') && fits(pod)),
    }));
  gauge('node_name', "Always 1; its label is this node's name.", ['node'], () => [
    { labels: [deps.nodeName], value: 1 },
  ]);
  gauge('running_pods', 'Pods that have a running sandbox.', [], () => [
    { value: count((pod) => pod.hasRunningSandbox) },
  ]);
  gauge('running_containers', 'Containers, by their state.', ['container_state'], () => containerStates(deps.pods()));
  gauge('desired_pods', 'Pods that should run here; static ones are not from the API server.', ['static'], () => {
    const { fromApi, fromFiles } = deps.desired();
    return [
      { labels: [''], value: fromApi },
      { labels: ['true'], value: fromFiles },
    ];
  });
  gauge('active_pods', 'Pods that count when another one is admitted.', ['static'], () =>
    byStatic(({ step, rejection }) => step === 'syncing' && rejection === undefined),
  );
  gauge('mirror_pods', 'Pods of the API server that stand for static pods here.', [], () => [
    { value: deps.mirrorPods() },
  ]);
  gauge('managed_ephemeral_containers', 'Ephemeral containers of the pods here.', [], () => [
    { value: deps.pods().reduce((sum, { ephemeralContainers }) => sum + ephemeralContainers, 0) },
  ]);
  gauge(
    'working_pods',
    'Pods that have a worker, by its step, whether a source has them, and whether they are static.',
    ['lifecycle', 'config', 'static'],
    () => workingPods(deps.pods()),
  );
  gauge('cgroup_version', 'The version of cgroups here.', [], () => [{ value: deps.cgroupVersion() }]);
}

function* containerStates(pods: readonly CountedPod[]): Iterable<Sample> {
  const counts = new Map<string, number>();
  for (const { containers } of pods)
    for (const { state } of containers) counts.set(state, (counts.get(state) ?? 0) + 1);
  for (const [state, value] of counts) yield { labels: [state], value };
}

/** The reference's names for the steps of a worker. */
const LIFECYCLES: Readonly<Record<PodStep, string>> = {
  syncing: 'sync',
  terminating: 'terminating',
  terminated: 'terminated',
};

function* workingPods(pods: readonly CountedPod[]): Iterable<Sample> {
  for (const [step, lifecycle] of Object.entries(LIFECYCLES)) {
    for (const [config, isDesired] of [
      ['desired', true],
      ['orphan', false],
    ] as const) {
      for (const label of STATIC) {
        const fits = (pod: CountedPod) =>
          pod.step === step &&
          pod.isDesired === isDesired &&
          pod.isStatic === (label === 'true') &&
          pod.wantedContainers > 0;
        yield { labels: [lifecycle, config, label], value: pods.filter(fits).length };
      }
    }
    const unknown = pods.filter((pod) => pod.step === step && pod.wantedContainers === 0).length;
    yield { labels: [lifecycle, 'runtime_only', 'unknown'], value: unknown };
  }
}
