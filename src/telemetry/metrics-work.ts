/** What the kubelet does for pods, counted and timed: sandboxes, containers that would not start, passes over pods, images, cgroups. */
import type { Metrics } from './metrics.ts';

export interface SandboxRun {
  readonly runtimeHandler: string;
  readonly ms: number;
  readonly failed: boolean;
}

export interface WantedImage {
  readonly policy: string;
  /** Undefined where it ended before that was known. */
  readonly present: boolean | undefined;
  readonly pullRequired: boolean | undefined;
  /** Why a pod may use an image that was present, or that it may not; undefined where that was not checked. */
  readonly check: string | undefined;
}

export interface WorkMetrics {
  sandboxRun(run: SandboxRun): void;
  /** A pod with a user namespace is being started; or that failed, in its sandbox or in the containers started with it. */
  userNamespacedPod(what: 'started' | 'failed'): void;
  /** The Kubernetes version from which on this runtime is too old. */
  runtimeLosesSupport(version: string): void;
  containerFailed(failure: { readonly reason: string; readonly type: string }): void;
  /** `create`, `update`, `sync` or `terminated`; with the first pass, how long its worker waited for it since the pod was first seen. */
  workerPass(pass: { readonly kind: string; readonly ms: number; readonly waitedMs: number | undefined }): void;
  podRead(ms: number): void;
  cgroup(operation: 'create' | 'update' | 'destroy', ms: number): void;
  statusSynced(ms: number): void;
  imageWanted(image: WantedImage): void;
  imageVolumes(what: 'requested' | 'mounted' | 'failed', count: number): void;
  sleepCutShort(): void;
  /** An HTTPS hook succeeded over plain HTTP. */
  hookFellBack(): void;
  /** The runtime was asked for its events. */
  eventsAsked(): void;
  eventsFailed(): void;
  /** How long after it happened. */
  eventSeen(ms: number): void;
}

export function createWorkMetrics(metrics: Metrics): WorkMetrics {
  return {
    ...sandboxMetrics(metrics),
    ...workerMetrics(metrics),
    ...imageMetrics(metrics),
    ...actionMetrics(metrics),
    ...eventMetrics(metrics),
  };
}

function sandboxMetrics(
  metrics: Metrics,
): Pick<WorkMetrics, 'sandboxRun' | 'userNamespacedPod' | 'runtimeLosesSupport'> {
  const labels = ['runtime_handler'];
  const duration = metrics.histogram({
    name: 'kubelet_run_podsandbox_duration_seconds',
    help: 'Seconds that the runtime took to run sandboxes, by handler.',
    labels,
  });
  const errors = metrics.counter({
    name: 'kubelet_run_podsandbox_errors_total',
    help: 'Sandboxes that the runtime could not run, by handler.',
    labels,
  });
  const failedPods = metrics.counter({
    name: 'kubelet_started_pods_errors_total',
    help: 'Pods whose sandbox could not be started.',
  });
  const userNamespaced = metrics.counter({
    name: 'kubelet_started_user_namespaced_pods_total',
    help: 'Pods with a user namespace that were to be started.',
  });
  const userNamespacedFailed = metrics.counter({
    name: 'kubelet_started_user_namespaced_pods_errors_total',
    help: 'Pods with a user namespace whose sandbox or containers could not be started.',
  });
  const losing = metrics.gauge({
    name: 'kubelet_cri_losing_support',
    help: 'The Kubernetes version from which on the container runtime is too old.',
    labels: ['version'],
  });
  return {
    sandboxRun: (run) => {
      duration.observe(run.ms / 1000, [run.runtimeHandler]);
      if (!run.failed) return;
      errors.add(1, [run.runtimeHandler]);
      failedPods.add(1);
    },
    userNamespacedPod: (what) => (what === 'failed' ? userNamespacedFailed : userNamespaced).add(1),
    runtimeLosesSupport: (version) => losing.set(1, [version]),
  };
}

function workerMetrics(metrics: Metrics): Pick<WorkMetrics, 'workerPass' | 'podRead'> {
  const duration = metrics.histogram({
    name: 'kubelet_pod_worker_duration_seconds',
    help: 'Seconds that one pass over a pod took, by what it was for.',
    labels: ['operation_type'],
  });
  const start = metrics.histogram({
    name: 'kubelet_pod_worker_start_duration_seconds',
    help: 'Seconds from when a pod was first seen until its first pass began.',
  });
  const read = metrics.histogram({
    name: 'kubelet_pleg_pod_relist_duration_seconds',
    help: 'Seconds that it took to read what the runtime has of one pod.',
  });
  return {
    workerPass: ({ kind, ms, waitedMs }) => {
      duration.observe(ms / 1000, [kind]);
      if (waitedMs !== undefined) start.observe(waitedMs / 1000);
    },
    podRead: (ms) => read.observe(ms / 1000),
  };
}

function imageMetrics(metrics: Metrics): Pick<WorkMetrics, 'imageWanted' | 'imageVolumes'> {
  const wanted = metrics.counter({
    name: 'kubelet_image_manager_ensure_image_requests_total',
    help: 'Images that containers needed, by pull policy, whether they were present, and whether they had to be pulled.',
    labels: ['present_locally', 'pull_policy', 'pull_required'],
  });
  const checks = metrics.counter({
    name: 'kubelet_imagemanager_image_mustpull_checks_total',
    help: 'Checks whether a pod may use an image that is present, by result.',
    labels: ['result'],
  });
  const counter = (name: string, help: string) => metrics.counter({ name: `kubelet_image_volume_${name}`, help });
  const volumes = {
    requested: counter('requested_total', 'Images that were requested as volumes.'),
    mounted: counter('mounted_succeed_total', 'Images that were mounted as volumes.'),
    failed: counter('mounted_errors_total', 'Images that could not be mounted as volumes.'),
  };
  return {
    imageWanted: ({ policy, present, pullRequired, check }) => {
      if (check !== undefined) checks.add(1, [check]);
      wanted.add(1, [String(present ?? 'unknown'), policy.toLowerCase(), String(pullRequired ?? 'unknown')]);
    },
    imageVolumes: (what, count) => {
      if (count > 0) volumes[what].add(count);
    },
  };
}

function actionMetrics(
  metrics: Metrics,
): Pick<WorkMetrics, 'containerFailed' | 'cgroup' | 'statusSynced' | 'sleepCutShort' | 'hookFellBack'> {
  const failed = metrics.counter({
    name: 'kubelet_started_containers_errors_total',
    help: 'Containers that could not be started, by type and reason.',
    labels: ['code', 'container_type'],
  });
  const cgroups = metrics.histogram({
    name: 'kubelet_cgroup_manager_duration_seconds',
    help: 'Seconds that operations on cgroups of pods took, by operation.',
    labels: ['operation_type'],
  });
  const synced = metrics.histogram({
    name: 'kubelet_pod_status_sync_duration_seconds',
    help: 'Seconds from when a status was new until the API server had it.',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60],
  });
  const cutShort = metrics.counter({
    name: 'kubelet_sleep_action_terminated_early_total',
    help: 'Sleep hooks that ended before their time.',
  });
  const fellBack = metrics.counter({
    name: 'kubelet_lifecycle_handler_http_fallbacks_total',
    help: 'HTTPS hooks that were answered in plain HTTP and succeeded over it.',
  });
  return {
    containerFailed: ({ reason, type }) => failed.add(1, [reason, type]),
    cgroup: (operation, ms) => cgroups.observe(ms / 1000, [operation]),
    statusSynced: (ms) => synced.observe(ms / 1000),
    sleepCutShort: () => cutShort.add(1),
    hookFellBack: () => fellBack.add(1),
  };
}

function eventMetrics(metrics: Metrics): Pick<WorkMetrics, 'eventsAsked' | 'eventsFailed' | 'eventSeen'> {
  const counter = (name: string, help: string) =>
    metrics.counter({ name: `kubelet_evented_pleg_connection_${name}`, help });
  const asked = counter('success_count', 'How often the runtime was asked for a stream of its events.');
  const failed = counter('error_count', "Streams of the runtime's events that ended with an error.");
  const latency = metrics.histogram({
    name: 'kubelet_evented_pleg_connection_latency_seconds',
    help: 'Seconds from what happened in the runtime until its event came.',
  });
  // Events only say which pod to observe again, so none is ever discarded.
  metrics.counter({ name: 'kubelet_pleg_discard_events', help: 'Events of the runtime that were discarded.' });
  return {
    eventsAsked: () => asked.add(1),
    eventsFailed: () => failed.add(1),
    eventSeen: (ms) => latency.observe(ms / 1000),
  };
}
