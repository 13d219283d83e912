/** The server: the ports 10250 and 10255 and what they show. */
import { type Config, renderArguments } from '../config/config.ts';
import { KUBERNETES_VERSION } from '../config/version.ts';
import type { Eviction } from '../eviction/eviction.ts';
import type { Kube } from '../kube/kube.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { Running } from '../runtime/running.ts';
import type { Explain } from '../server/explanations.ts';
import { askHealth } from '../server/health/ask.ts';
import type { HealthChecks } from '../server/health/checks.ts';
import { evictionRoutes } from '../server/pages/evictions.ts';
import { plainRoutes, type Statistics } from '../server/pages/plain.ts';
import { podRoutes } from '../server/pages/pods.ts';
import { profilingRoutes } from '../server/pages/profiling.ts';
import { zPageRoutes } from '../server/pages/z-pages.ts';
import { listPods, type PodsPort } from '../server/pods-port.ts';
import type { Route } from '../server/routes.ts';
import { createServer, type Server } from '../server/server.ts';
import { serverConfig, shownConfigz } from '../server/settings.ts';
import type { PartDeps } from './compose.ts';
import type { Meters } from './metrics.ts';
import { composeStreams } from './streams.ts';

/** What the pages show of the process that this kubelet lives in. */
export interface ProcessPort {
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
  readonly served: PodsPort;
  readonly running: Running;
  readonly explain: Explain;
  readonly meters: Meters;
  readonly statistics: Statistics;
  readonly health: HealthChecks;
  readonly eviction: Pick<Eviction, 'decisions'>;
  /** Where the certificate that the cluster signs is; undefined: it signs none. */
  readonly signedCertificate?: string | undefined;
  /** The configuration as it is after a reload. */
  readonly shown: () => Config;
}

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
      inotify: deps.host.files.inotify,
      giveBackMemory: deps.host.own.giveBackMemory,
    },
    serverConfig(config, {
      nodeName: deps.nodeName,
      isStandalone: kube === undefined,
      environment: deps.surroundings?.environment ?? {},
      signedCertificate: tools.signedCertificate,
    }),
  );
}

/** Every endpoint that there is: the tests of who may use them read it too. */
export function composeRoutes(config: Config, deps: PartDeps, tools: ServerTools): readonly Route[] {
  const { clock, log, process } = deps;
  const { meters, health } = tools;
  const asking = { clock, log: log.named('server/health'), checks: health, onResult: meters.onHealth };
  const startedAt = clock.now();
  return [
    ...composeStreams(config, deps, tools),
    ...podRoutes({ pods: () => listPods(tools.served), runningPods: tools.running.pods, explain: tools.explain }),
    ...evictionRoutes({ decisions: () => tools.eviction.decisions() }),
    ...plainRoutes({
      health: (path, query, signal) => askHealth(asking, { path, query }, signal),
      configz: (withOrigins) => shownConfigz(tools.shown(), withOrigins),
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
