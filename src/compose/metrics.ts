/** The part of the composition root that counts: the registry, and what the parts are given to tell it. */
import { isStaticPod } from '../api/pod-traits.ts';
import { parseTimestamp } from '../api/timestamp.ts';
import type { Config } from '../config/config.ts';
import { KUBERNETES_VERSION, PROGRAM_VERSION } from '../config/version.ts';
import { cgroupVersion } from '../host/machine.ts';
import { readOwnProcess } from '../host/own-process.ts';
import type { PodNews, PodView } from '../model/pod-view.ts';
import type { Pods } from '../pods/pods.ts';
import type { EventLoopLag } from '../telemetry/event-loop-lag.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { createLoopMetrics } from '../telemetry/metrics-loops.ts';
import { type CountedPod, createPodMetrics } from '../telemetry/metrics-pods.ts';
import { createProbeMetrics, type ProbeCounts } from '../telemetry/metrics-probes.ts';
import { addBuildMetrics, addProcessMetrics, addRegistryMetrics, addStartTime } from '../telemetry/metrics-process.ts';
import {
  type ApiRequest,
  createApiMetrics,
  createRelistMetrics,
  createRuntimeMetrics,
  createWebSocketMetrics,
  type RelistReport,
  type RuntimeCall,
} from '../telemetry/metrics-runtime.ts';
import { createStartupMetrics, type StartupStep } from '../telemetry/metrics-startup.ts';
import { type CountedOperation, type CountedVolumes, createVolumeMetrics } from '../telemetry/metrics-volumes.ts';
import { createWorkMetrics, type WantedImage, type WorkMetrics } from '../telemetry/metrics-work.ts';
import type { PartDeps } from './compose.ts';
import { containerType } from './counted.ts';
import { nodeNameOf } from './node.ts';

export interface Meters {
  /** `/metrics` */
  readonly metrics: Metrics;
  /** `/metrics/probes` */
  readonly probeMetrics: Metrics;
  /** `/metrics/slis` */
  readonly healthMetrics: Metrics;
  readonly probes: ProbeCounts;
  onRuntimeCall(call: RuntimeCall): void;
  onApiRequest(request: ApiRequest): void;
  onVolumeOperation(operation: CountedOperation): void;
  readonly work: WorkMetrics;
  /** An image was wanted for a pod. */
  onImage(image: WantedImage & PulledImage): void;
  onNodeStep(step: StartupStep): void;
  onHealth(result: { readonly name: string; readonly reason: string | undefined }): void;
  onRelist(report: RelistReport): void;
  /** A WebSocket for `exec`, `attach` or `portforward` was asked for. */
  onWebSocket(subresource: string): void;
  onLoopFailure(loop: string): void;
  onListenerFailure(listener: string): void;
  /** To be told of what becomes of pods. */
  follow(news: PodNews): void;
}

export interface MeterTools {
  readonly pods: () => Pods;
  readonly mirrorPods: () => number;
  readonly eventLoopLag: EventLoopLag;
  readonly volumes?: () => readonly CountedVolumes[];
}

export function composeMetrics(
  config: Config,
  { clock, log, process, supervisor }: PartDeps,
  tools: MeterTools,
): Meters {
  const registry = () =>
    createMetrics({
      version: KUBERNETES_VERSION.slice(1),
      showHiddenFor: config.kubelet.showHiddenMetricsForVersion,
      onError: (family, err) => log.named('telemetry/metrics').error('Failed to collect a metric', { family, err }),
    });
  const [metrics, probeMetrics, healthMetrics] = [registry(), registry(), registry()];
  const heap = process?.memoryUsage ?? (() => ({ heapUsed: 0, heapTotal: 0, external: 0 }));
  addProcessMetrics(metrics, { read: () => readOwnProcess(), eventLoopLag: tools.eventLoopLag.read, heap });
  addRegistryMetrics(metrics);
  addStartTime(probeMetrics, () => readOwnProcess().startedAtSeconds);
  addBuildMetrics(
    metrics,
    {
      gitVersion: KUBERNETES_VERSION,
      runtime: process?.runtime ?? '',
      compiler: `kubelet-ts ${PROGRAM_VERSION}`,
      platform: process?.platform ?? '',
    },
    // Where the reference shows how each gate is switched, also those of other components, this shows what is there.
    config.features
      .list()
      .map(({ name, stage, enabled, built }) => ({ name, stage: STAGES[stage] ?? '', enabled: enabled && built })),
  );
  const startedAt = clock.now();
  const pods = createPodMetrics(metrics, {
    nodeName: nodeNameOf(config),
    startedAt,
    now: clock.now,
    // One pod that can't be counted must not cost the others.
    pods: () =>
      tools
        .pods()
        .views()
        .flatMap((view) => supervisor.value('metrics', { podUID: view.uid }, () => countedPod(view)) ?? []),
    desired: () => desiredPods(tools.pods()),
    mirrorPods: tools.mirrorPods,
    cgroupVersion,
  });
  const work = createWorkMetrics(metrics);
  const loops = createLoopMetrics(metrics);
  return {
    metrics,
    probeMetrics,
    healthMetrics,
    probes: createProbeMetrics(probeMetrics),
    onRuntimeCall: createRuntimeMetrics(metrics),
    onApiRequest: createApiMetrics(metrics),
    onVolumeOperation: createVolumeMetrics(metrics, tools.volumes ?? (() => [])),
    work,
    onImage: (image) => {
      work.imageWanted(image);
      if (image.pulled !== undefined) pods.pulled(image.podUid, image.pulled.to - image.pulled.from);
    },
    onNodeStep: createStartupMetrics(metrics, {
      now: clock.now,
      startedAt,
      bootedAt: () => readOwnProcess().bootedAtSeconds * 1000,
    }),
    onHealth: createHealthCounts(healthMetrics),
    onRelist: createRelistMetrics(metrics, clock.now),
    onWebSocket: createWebSocketMetrics(metrics),
    ...loops,
    follow: (news) => (news.kind === 'gone' ? pods.forget(news.uid) : pods.follow(countedPod(news.view))),
  };
}

const STAGES: Readonly<Record<string, string>> = { alpha: 'ALPHA', beta: 'BETA', deprecated: 'DEPRECATED' };

function desiredPods(pods: Pods) {
  const wanted = pods.desired()?.pods ?? [];
  const fromFiles = wanted.filter(isStaticPod).length;
  return { fromFiles, fromApi: wanted.length - fromFiles };
}

interface PulledImage {
  readonly podUid: string;
  readonly pulled: { readonly from: number; readonly to: number } | undefined;
}

/** Volumes that come and go with their pod and need nobody else. */
const STATELESS = ['secret', 'configMap', 'downwardAPI', 'emptyDir', 'projected'] as const;

function countedPod({ uid, pod, step, observation, startedAt, ended, deleted }: PodView): CountedPod {
  const { spec, metadata } = pod;
  const created = metadata.creationTimestamp;
  return {
    uid,
    isStatic: isStaticPod(pod),
    step,
    isDesired: !deleted,
    hasRunningSandbox: observation.sandboxes.some(({ ready }) => ready),
    ephemeralContainers: spec.ephemeralContainers?.length ?? 0,
    wantedContainers: spec.containers.length,
    seenAt: startedAt,
    createdAt: created === undefined || created === null ? undefined : parseTimestamp(created),
    rejection: ended?.rejected ? ended.reason : undefined,
    hasOwnNetwork: spec.hostNetwork !== true,
    isStateful: (spec.volumes ?? []).some((volume) => STATELESS.every((kind) => volume[kind] === undefined)),
    sandboxes: observation.sandboxes,
    containers: observation.containers.map(
      ({ id, name, state, createdAt, startedAt: from, finishedAt, exitCode, reason }) => ({
        id,
        type: containerType(pod, name),
        state,
        createdAt,
        ranForMs: state === 'exited' && finishedAt > from ? finishedAt - from : 0,
        exitCode,
        reason,
      }),
    ),
  };
}

function createHealthCounts(metrics: Metrics): Meters['onHealth'] {
  const last = metrics.gauge({
    name: 'kubernetes_healthcheck',
    help: 'Whether a health check went well when it was last made.',
    labels: ['name', 'type'],
    stability: 'STABLE',
  });
  const total = metrics.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Health checks that were made, by how they went.',
    labels: ['name', 'type', 'status'],
    stability: 'STABLE',
  });
  return ({ name, reason }) => {
    last.set(reason === undefined ? 1 : 0, [name, 'healthz']);
    total.add(1, [name, 'healthz', reason === undefined ? 'success' : 'error']);
  };
}
