/** The metrics: the registry, and what the parts are given to count with. */
import type { Config } from '../config/config.ts';
import { KUBERNETES_VERSION, PROGRAM_VERSION } from '../config/version.ts';
import { countDesired, countedPod, countResizes } from '../metering/counted-pod.ts';
import { createPodStarts, type PodStarts } from '../metering/pod-starts.ts';
import type { PodUpdate } from '../model/pod-view.ts';
import type { Pods } from '../pods/pods.ts';
import { metricsProvider } from '../stats/settings.ts';
import type { EventLoopLag } from '../telemetry/event-loop-lag.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { type CertificateMetrics, createCertificateMetrics } from '../telemetry/metrics-certificates.ts';
import { createEvictionMetrics, type EvictionMetrics } from '../telemetry/metrics-eviction.ts';
import { createHealthMetrics, type HealthResult } from '../telemetry/metrics-health.ts';
import { createLoopMetrics } from '../telemetry/metrics-loops.ts';
import { createPodMetrics } from '../telemetry/metrics-pods.ts';
import { createProbeMetrics, type ProbeCounts } from '../telemetry/metrics-probes.ts';
import {
  addBuildMetrics,
  addProcessMetrics,
  addProvider,
  addRegistryMetrics,
  addStartTime,
} from '../telemetry/metrics-process.ts';
import { createResizeMetrics, type ResizeMetrics } from '../telemetry/metrics-resize.ts';
import {
  type ApiRequest,
  createApiMetrics,
  createRelistMetrics,
  createRuntimeMetrics,
  createWebSocketMetrics,
  type RelistReport,
  type RuntimeCall,
} from '../telemetry/metrics-runtime.ts';
import { createShutdownMetrics, type ShutdownMetrics } from '../telemetry/metrics-shutdown.ts';
import { createStartupMetrics, type StartupStep } from '../telemetry/metrics-startup.ts';
import {
  type CountedOperation,
  type CountedOrphans,
  type CountedVolumes,
  createVolumeMetrics,
} from '../telemetry/metrics-volumes.ts';
import { createWorkMetrics, type WantedImage, type WorkMetrics } from '../telemetry/metrics-work.ts';
import type { PartDeps } from './compose.ts';

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
  readonly resizes: ResizeMetrics;
  readonly starts: PodStarts;
  /** An image was wanted for a pod. */
  onImage(image: WantedImage & PulledImage): void;
  onNodeStep(step: StartupStep): void;
  onHealth(result: HealthResult): void;
  onRelist(report: RelistReport): void;
  /** A WebSocket for `exec`, `attach` or `portforward` was asked for. */
  onWebSocket(subresource: string): void;
  readonly certificates: CertificateMetrics;
  readonly eviction: EvictionMetrics;
  readonly shutdown: ShutdownMetrics;
  onLoopFailure(loop: string): void;
  onListenerFailure(listener: string): void;
  /** To be called with what workers publish. */
  follow(update: PodUpdate): void;
}

export interface MeterTools {
  readonly pods: () => Pods;
  readonly mirrorPods: () => number;
  readonly eventLoopLag: EventLoopLag;
  readonly volumes?: () => readonly CountedVolumes[];
  readonly orphans?: () => CountedOrphans;
}

export function composeMetrics(
  config: Config,
  { clock, log, process, supervisor, nodeName, host }: PartDeps,
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
  addProcessMetrics(metrics, { read: host.own.usage, eventLoopLag: tools.eventLoopLag.read, heap });
  addRegistryMetrics(metrics);
  addProvider(metrics, metricsProvider(config));
  addStartTime(probeMetrics, () => host.own.usage().startedAtSeconds);
  addBuildMetrics(
    metrics,
    {
      gitVersion: KUBERNETES_VERSION,
      runtime: process?.runtime ?? '',
      compiler: `kubelet-ts ${PROGRAM_VERSION}`,
      platform: process?.platform ?? '',
    },
    // Where the reference shows how each gate is switched, also those of other components, this shows what is there.
    config.features.list().map(({ name, stage, enabled, built }) => ({ name, stage, enabled: enabled && built })),
  );
  const startedAt = clock.now();
  const pods = createPodMetrics(metrics, {
    nodeName,
    startedAt,
    now: clock.now,
    // One pod that can't be counted must not cost the others.
    pods: () =>
      tools
        .pods()
        .views()
        .flatMap((view) => supervisor.value('metrics', { podUID: view.uid }, () => countedPod(view)) ?? []),
    desired: () => countDesired(tools.pods().desired()?.pods ?? []),
    mirrorPods: tools.mirrorPods,
    cgroupVersion: host.cgroups.version,
  });
  const work = createWorkMetrics(metrics);
  const resizes = createResizeMetrics(metrics, () => countResizes(tools.pods().views()));
  const starts = createPodStarts(metrics, clock.now);
  const loops = createLoopMetrics(metrics);
  return {
    metrics,
    probeMetrics,
    healthMetrics,
    probes: createProbeMetrics(probeMetrics),
    onRuntimeCall: createRuntimeMetrics(metrics),
    onApiRequest: createApiMetrics(metrics),
    onVolumeOperation: createVolumeMetrics(
      metrics,
      tools.volumes ?? (() => []),
      tools.orphans ?? (() => ({ orphans: 0, failed: 0 })),
    ),
    work,
    resizes,
    starts,
    onImage: (image) => {
      work.imageWanted(image);
      if (image.pulled === undefined) return;
      const ms = image.pulled.to - image.pulled.from;
      pods.pulled(image.podUid, ms);
      starts.spent(image.podUid, 'pull', ms);
    },
    onNodeStep: createStartupMetrics(metrics, {
      now: clock.now,
      startedAt,
      bootedAt: () => host.own.usage().bootedAtSeconds * 1000,
    }),
    onHealth: createHealthMetrics(healthMetrics),
    onRelist: createRelistMetrics(metrics, clock.now),
    onWebSocket: createWebSocketMetrics(metrics),
    certificates: createCertificateMetrics(metrics, clock.now),
    eviction: createEvictionMetrics(metrics),
    shutdown: createShutdownMetrics(metrics),
    ...loops,
    follow: (update) => {
      starts.follow(update);
      if (update.kind === 'gone') pods.forget(update.uid);
      else pods.follow(countedPod(update.view));
    },
  };
}

interface PulledImage {
  readonly podUid: string;
  readonly pulled: { readonly from: number; readonly to: number } | undefined;
}
