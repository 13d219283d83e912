/** The part of the composition root that lets others in: the ports 10250 and 10255 and what they show. */
import { join } from 'node:path';
import type { Pod } from '../api/pod.ts';
import { type Config, renderArguments, renderConfigz } from '../config/config.ts';
import { KUBERNETES_VERSION } from '../config/version.ts';
import type { Kube } from '../kube/kube.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import { CONTAINER_NAME, POD_NAME, POD_NAMESPACE, POD_UID } from '../runtime/spec/labels.ts';
import { askHealth } from '../server/health/ask.ts';
import type { HealthChecks } from '../server/health/checks.ts';
import { plainRoutes, type Statistics } from '../server/pages/plain.ts';
import { podRoutes, type RunningPod } from '../server/pages/pods.ts';
import { profilingRoutes } from '../server/pages/profiling.ts';
import { zPageRoutes } from '../server/pages/z-pages.ts';
import type { Route } from '../server/routes.ts';
import { decideServing } from '../server/rules/serving.ts';
import { createServer, type Server, type ServerConfig } from '../server/server.ts';
import { ContainerState, PodSandboxState } from '../wire/gen/cri-runtime-v1.ts';
import type { PartDeps } from './compose.ts';
import type { Meters } from './metrics.ts';
import { nodeNameOf } from './node.ts';
import type { PodParts } from './pods.ts';
import { composeStreams } from './streams.ts';

/** What the pages show of the process that this kubelet lives in. */
export interface ProcessDoor {
  readonly argv: readonly string[];
  /** `node v26.1.0` */
  readonly runtime: string;
  /** `linux/amd64` */
  readonly platform: string;
  memoryUsage(): { readonly heapUsed: number; readonly heapTotal: number; readonly external: number };
  activeResources(): readonly string[];
  setVerbosity(level: number): void;
}

export interface ServerTools {
  readonly kube: Kube | undefined;
  readonly cri: CriClient;
  readonly parts: Pick<PodParts, 'pods' | 'statuses'>;
  /** Under which the API server knows a static pod. */
  readonly mirrorUid: (namespace: string, name: string) => string | undefined;
  readonly meters: Meters;
  readonly statistics: Statistics;
  readonly health: HealthChecks;
  /** The configuration as it is after a reload. */
  readonly shown: () => Config;
}

/** The reference lets in whoever may `get` when a stream is asked for by GET, as every WebSocket is; this brings that back. */
const STREAMS_BY_METHOD = 'KUBELET_TS_STREAMS_BY_METHOD';
/** A heap snapshot has the secrets of every pod in it, so it takes more than the reference's switch for profiles. */
const HEAP_SNAPSHOTS = 'KUBELET_TS_HEAP_SNAPSHOTS';

export function composeServer(config: Config, deps: PartDeps, tools: ServerTools): Server {
  const { kube } = tools;
  const log = deps.log.named('server');
  return createServer(
    {
      clock: deps.clock,
      log,
      supervisor: deps.supervisor,
      metrics: tools.meters.metrics,
      routes: composeRoutes(config, deps, tools),
      request: kube && ((request, signal) => kube.reviews.request(request, signal)),
      onWebSocket: tools.meters.onWebSocket,
      inotify: deps.host.inotify,
      giveBackMemory: deps.host.giveBackMemory,
    },
    serverConfig(config, deps, kube === undefined),
  );
}

function serverConfig(config: Config, { surroundings }: PartDeps, isStandalone: boolean): ServerConfig {
  const { kubelet, settings, listen, origins } = config;
  const { authentication, authorization } = kubelet;
  const serving = decideServing({
    isStandalone,
    secure: listen.server,
    readOnly: listen.readOnly,
    anonymous: authentication.anonymous.enabled,
    isAddressGiven: listen.isAddressGiven,
    isAnonymousGiven: origins.of('authentication.anonymous.enabled') !== 'default',
  });
  const { cacheAuthorizedTTL, cacheUnauthorizedTTL } = authorization.webhook;
  return {
    secure: serving.secure,
    readOnly: serving.readOnly,
    nodeName: nodeNameOf(config),
    files: {
      certificate: kubelet.tlsCertFile,
      key: kubelet.tlsPrivateKeyFile,
      clientCa: authentication.x509.clientCAFile,
    },
    certificateFolder: settings.directories.certificates,
    tls: {
      minVersion: kubelet.tlsMinVersion,
      cipherSuites: kubelet.tlsCipherSuites,
      curves: kubelet.tlsCurvePreferences,
    },
    anonymous: serving.anonymous,
    tokenReviews: authentication.webhook.enabled ? { cacheTtlMs: authentication.webhook.cacheTTL } : undefined,
    authorization:
      authorization.mode === 'AlwaysAllow'
        ? 'AlwaysAllow'
        : { authorizedTtlMs: cacheAuthorizedTTL, unauthorizedTtlMs: cacheUnauthorizedTTL },
    streamsByMethod: surroundings?.environment[STREAMS_BY_METHOD] === 'true',
    streamIdleMs: kubelet.streamingConnectionIdleTimeout,
    switches: {
      debugging: kubelet.enableDebuggingHandlers,
      systemLogs: kubelet.enableSystemLogHandler,
      profiling: kubelet.enableProfilingHandler,
      debugFlags: kubelet.enableDebugFlagsHandler,
      heapSnapshots: kubelet.enableProfilingHandler && surroundings?.environment[HEAP_SNAPSHOTS] === 'true',
    },
    nodeTokenFile: serving.nodeToken ? join(settings.directories.root, 'server-token') : undefined,
  };
}

/** Every endpoint that there is: the tests of who may use them read it too. */
export function composeRoutes(config: Config, deps: PartDeps, tools: ServerTools): readonly Route[] {
  const { clock, log, process } = deps;
  const { meters, health } = tools;
  const asking = { clock, log: log.named('server/health'), checks: health, onResult: meters.onHealth };
  const startedAt = clock.now();
  return [
    ...composeStreams(config, deps, tools),
    ...podRoutes({ pods: () => servedPods(tools.parts), runningPods: (signal) => runningPods(tools.cri, signal) }),
    ...plainRoutes({
      health: (path, query, signal) => askHealth(asking, { path, query }, signal),
      configz: () => shownConfigz(tools.shown()),
      metrics: meters.metrics,
      probeMetrics: meters.probeMetrics,
      healthMetrics: meters.healthMetrics,
      statistics: tools.statistics,
      setVerbosity: process?.setVerbosity,
    }),
    ...profilingRoutes({
      argv: renderArguments(process?.argv ?? []),
      sleep: clock.sleep,
      activeResources: process?.activeResources ?? (() => []),
      log: log.named('server'),
    }),
    ...zPageRoutes({
      flags: config.features.enabled('ComponentFlagz') ? config.flagValues : undefined,
      status: config.features.enabled('ComponentStatusz')
        ? {
            startedAt,
            now: clock.now,
            runtime: process?.runtime ?? 'node',
            version: KUBERNETES_VERSION.slice(1),
            paths: ['/configz', '/debug', '/flagz', '/healthz', '/metrics'],
          }
        : undefined,
    }),
  ];
}

/** As the sources want them, with what is known of them here. */
function servedPods({ pods, statuses }: ServerTools['parts']): readonly Pod[] {
  return pods
    .views()
    .filter(({ pod }) => pod.spec.containers.length > 0)
    .map(({ uid, pod, asked = pod }) => ({ ...asked, status: statuses.get(uid) ?? pod.status ?? {} }) as Pod);
}

async function runningPods(cri: CriClient, signal: AbortSignal): Promise<readonly RunningPod[]> {
  const [sandboxes, containers] = await Promise.all([
    cri.sandboxes.list({ state: { state: PodSandboxState.SANDBOX_READY } }, signal),
    cri.containers.list({ state: { state: ContainerState.CONTAINER_RUNNING } }, signal),
  ]);
  const found = new Map<string, RunningPod & { containers: { name: string; image: string }[] }>();
  const podOf = (labels: Readonly<Record<string, string>>) => {
    const uid = labels[POD_UID] ?? '';
    const known = found.get(uid) ?? {
      uid,
      name: labels[POD_NAME] ?? '',
      namespace: labels[POD_NAMESPACE] ?? '',
      containers: [],
    };
    found.set(uid, known);
    return known;
  };
  for (const { labels } of sandboxes) podOf(labels);
  for (const { labels, image, imageRef } of containers)
    podOf(labels).containers.push({ name: labels[CONTAINER_NAME] ?? '', image: image?.image || imageRef });
  return [...found.values()];
}

/** A pair that was made for want of another is shown as the reference does. */
function shownConfigz(config: Config): unknown {
  const shown = renderConfigz(config) as { readonly kubeletconfig: object };
  if (config.kubelet.tlsCertFile !== '') return shown;
  const { certificates } = config.settings.directories;
  const pair = { tlsCertFile: join(certificates, 'kubelet.crt'), tlsPrivateKeyFile: join(certificates, 'kubelet.key') };
  return { kubeletconfig: { ...shown.kubeletconfig, ...pair } };
}
