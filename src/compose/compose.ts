/**
 * The composition root: builds every part of a kubelet from its configuration and the ports to the machine, top to bottom, and is
 * the only file that knows them all. Two kubelets can live in one process: everything they share is passed in.
 */
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { createLifecycle, type Part, type StopReport } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { createSupervisor, type Supervisor, type SupervisorDeps } from '../base/supervise.ts';
import type { Config } from '../config/config.ts';
import type { OwnProgram } from '../host/file-jobs.ts';
import type { Host } from '../host/ports.ts';
import type { Watchdog } from '../host/service-manager.ts';
import type { Surroundings } from '../images/ports.ts';
import type { Machine } from '../model/machine.ts';
import { createConfigReport } from '../node/config-report.ts';
import { createDataDirectories, type NodePlaces } from '../node/data-directories.ts';
import { createLock, createMachineCheck, createMemoryRelease } from '../node/machine.ts';
import { machineIdentityFiles, nodeNameOf } from '../node/settings.ts';
import { watchdogParts } from '../node/watchdog.ts';
import type { Pods } from '../pods/pods.ts';
import { createRunOnce } from '../pods/run-once.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import { createExplain, type Explain } from '../server/explanations.ts';
import { createHealthChecks, type HealthCheck, type HealthChecks } from '../server/health/checks.ts';
import { createHealthServer } from '../server/health/health.ts';
import type { PodsPort } from '../server/pods-port.ts';
import type { Route } from '../server/routes.ts';
import type { Stats } from '../stats/stats.ts';
import { createEventLoopLag, type EventLoopLag } from '../telemetry/event-loop-lag.ts';
import { composeServingCertificate } from './certificates.ts';
import { composeEviction } from './eviction.ts';
import { composeKube, type KubeParts } from './kube.ts';
import type { ComposeLocalApi, LocalApiParts } from './local-api.ts';
import { composeMetrics, type Meters } from './metrics.ts';
import { composeNetwork } from './network.ts';
import { composeOom } from './oom.ts';
import { composePage } from './page.ts';
import { composePodResources } from './pod-resources.ts';

import { composePods, type PodParts } from './pods.ts';
import { composeRuntime } from './runtime.ts';
import { composeServer, type ProcessPort } from './server.ts';
import { composeShutdown } from './shutdown.ts';
import { composeStats } from './stats.ts';
import { composeStreams } from './streams.ts';

export interface KubeletDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly host: Host;
  /** The container runtime, where it is not the one that listens on `containerRuntimeEndpoint`. */
  readonly runtime?: CriClient;
  /** What is wrong with the log's output, if anything: lines that no one reads. */
  readonly logProblem?: () => string | undefined;
  /** Fixed places of the node, for embedders that have no whole machine to themselves. */
  readonly places?: NodePlaces;
  /** The machine as the parts see it; read from the host by default. */
  readonly machine?: Machine;
  /** Where Docker's credential files are looked for, and what credential plugins inherit; nothing by default. */
  readonly surroundings?: Surroundings;
  /** What pages and metrics show of the process; nothing by default. */
  readonly process?: ProcessPort;
  /** How this program is started once more, for work on files that may hang; without it such work is done here. */
  readonly program?: OwnProgram;
  /** Builds the API of a node without a control plane. Passed in, so that a kubelet in a cluster does not load it; none by default. */
  readonly localApi?: ComposeLocalApi | undefined;
  /** systemd, where it has started this process and wants to be notified; nothing by default. */
  readonly serviceManager?: ServiceManager;
  /** A file of the page on port 4194; none by default. */
  readonly pageFile?: (name: string) => Promise<Uint8Array | undefined>;
  /** For tests that make loops fail. */
  readonly loops?: Pick<SupervisorDeps, 'beforeRound' | 'afterPass'>;
}

export interface ServiceManager {
  readonly watchdog: Watchdog;
  notify(state: string): void;
}

/** What the parts of the composition root are built with. */
export interface PartDeps extends KubeletDeps {
  readonly supervisor: Supervisor;
  readonly nodeName: string;
  readonly machine: Machine;
}

/** Why a running kubelet must end. */
export type Ending =
  | { readonly kind: 'handover'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface Kubelet {
  /** Resolves when every part is up. Rejects with the error of the part that can't start. */
  start(): Promise<void>;
  /** Stops every part in reverse order within the deadline. Running containers are never touched. */
  stop(): Promise<StopReport>;
  /** Resolves when the kubelet has found that it must end by itself; the first reason wins. The caller then calls `stop`. */
  readonly ending: Promise<Ending>;
  /** Later parts and embedders add their own checks here. */
  readonly health: HealthChecks;
  /** What `/configz` shows from now on: the configuration as it is after a reload. */
  show(config: Config): void;
  /** Changed files were refused: reported as an event and a condition of the node until `show` is called. */
  configRefused(problems: readonly string[]): void;
}

/** One second is promised for the whole process; the rest of it belongs to the log and the exit. */
const STOP_WITHIN_MS = 800;

export function createKubelet(config: Config, given: KubeletDeps): Kubelet {
  const { clock, log } = given;
  const supervisor = createSupervisor({
    clock,
    log: log.named('supervisor'),
    random: Math.random,
    onFailure: (loop) => meters.onLoopFailure(loop),
    onGuarded: (listener) => meters.onListenerFailure(listener),
    ...given.loops,
  });
  const machine = given.machine ?? given.host.machine.read(machineIdentityFiles(config));
  const deps: PartDeps = { ...given, supervisor, machine, nodeName: nodeNameOf(config, given.host.network.hostName()) };
  const ending = Promise.withResolvers<Ending>();
  const health = createHealthChecks();

  const eventLoopLag = createEventLoopLag();
  const meters: Meters = composeMeters(config, deps, eventLoopLag, () => podParts);
  const { cri, running, connection, health: runtimeHealth } = composeRuntime(config, deps, meters);
  const access = composeKube(config, deps, meters);
  const kube = access?.kube;
  const local = access === undefined ? deps.localApi?.(config, deps) : undefined;
  const network = composeNetwork(config, deps, { cri, isStandalone: kube === undefined });
  const podParts = composePods(config, deps, {
    ...{ cri, running },
    podNetwork: network.pods,
    kube: kube ?? local?.kube,
    isLocal: local !== undefined,
    meters,
    pressure: () => eviction.pressure(),
    shutdown: () => shutdown,
    nodeConditions: () => [...(servingCertificate?.conditions() ?? []), ...configReport.conditions()],
  });
  const { pods, statuses, cluster, resources, events, images, probes } = podParts;
  const configReport = createConfigReport(config, events.record);
  pods.subscribe('metrics', meters.follow);
  statuses.subscribe('metrics', meters.starts.statusChanged);
  const oomWatcher = composeOom(config, deps, { pods, resources, record: events.record });
  const statistics = composeStats(config, deps, { ...podParts, cri, oomWatcher });
  const servingCertificate = composeServingCertificate(config, deps, { meters, kube, cluster, record: events.record });
  const eviction = composeEviction(config, deps, { ...podParts, statistics, meters });
  const shutdown = composeShutdown(config, deps, { ...podParts, meters });
  const served = servedPods(podParts);
  const explain = createExplain({ clock, served, downloadsOf: images.downloadsOf, failedProbes: probes.failures });
  const shownParts = { ...podParts, cri, running, served, statistics, eviction, local, shown: configReport.inForce };
  const signedCertificate = servingCertificate?.path;
  const server = composeServer(config, deps, { ...shownParts, explain, kube, meters, health, signedCertificate });
  addHealthChecks(health, {
    log: () => deps.logProblem?.(),
    syncloop: () => startingReason(lifecycle.starting()) ?? pods.problem(),
    loops: supervisor.problem,
    'container-runtime': runtimeHealth.check,
    'device-plugin': podParts.devices.problem,
  });

  const parts: readonly Part[] = [
    createMachineCheck(deps, config),
    createLock(deps, config.settings.lock, (reason) => ending.resolve({ kind: 'handover', reason })),
    createDataDirectories(config, deps.places),
    ...[eventLoopLag, createMemoryRelease(deps), connection, runtimeHealth, ...network.parts],
    ...accessParts(access),
    ...localStores(local),
    statistics,
    server,
    shutdown,
    ...podParts.parts,
    composePodResources(config, deps, { ...podParts, metrics: meters.metrics }),
    ...localPorts(local, explain, statistics, () => composeStreams(config, deps, { served, cri, running })),
    oomWatcher,
    ...composePage(config, deps, shownParts),
    ...(servingCertificate === undefined ? [] : [servingCertificate.manager]),
    eviction,
    ...runOnceParts(config, clock, pods, ending.resolve),
    ...healthParts(config, deps, health),
  ];
  const lifecycle = createLifecycle(parts, { clock, stopWithinMs: STOP_WITHIN_MS });
  return {
    start: lifecycle.start,
    stop: () => lifecycle.stop(new CodedError('unavailable', 'the kubelet is stopping')),
    ending: ending.promise,
    health,
    configRefused: configReport.refused,
    show: configReport.accepted,
  };
}

const composeMeters = (config: Config, deps: PartDeps, eventLoopLag: EventLoopLag, parts: () => PodParts): Meters =>
  composeMetrics(config, deps, {
    pods: () => parts().pods,
    mirrorPods: () => parts().cluster?.mirrors.count() ?? 0,
    eventLoopLag,
    volumes: () => parts().volumes.counts(),
    orphans: () => parts().volumes.orphans(),
  });

/** Those who ask for the health of the kubelet, and are told: a page and systemd. */
function healthParts({ kubelet }: Config, deps: PartDeps, checks: HealthChecks): readonly Part[] {
  const { clock, log, supervisor, serviceManager } = deps;
  const listen = { address: kubelet.healthzBindAddress, port: kubelet.healthzPort };
  return [
    createHealthServer(listen, { clock, log: log.named('server/health'), supervisor, checks }),
    ...watchdogParts({ clock, log: log.named('watchdog'), supervisor, checks: checks.list }, serviceManager),
  ];
}

/** `ping` succeeds as long as the process answers at all. */
function addHealthChecks(health: HealthChecks, checks: Readonly<Record<string, HealthCheck['check']>>): void {
  health.add({ name: 'ping', check: () => undefined });
  for (const [name, check] of Object.entries(checks)) health.add({ name, check });
}

/** In the order in which they start. */
const accessParts = (access: KubeParts | undefined): readonly Part[] => {
  if (access === undefined) return [];
  const { kube, certificate } = access;
  return certificate === undefined ? [kube] : [certificate.preparation, kube, certificate.manager];
};

const localStores = (local: LocalApiParts | undefined): readonly Part[] => (local === undefined ? [] : [local.part]);

/** After the pods: who creates one there can use it at once. */
const localPorts = (
  local: LocalApiParts | undefined,
  explain: Explain,
  { summary }: Stats,
  endpoints: () => readonly Route[],
): readonly Part[] => {
  if (local === undefined) return [];
  return [local.port({ endpoints: endpoints(), explain, summary })];
};

const servedPods = ({ pods, statuses, cluster }: PodParts): PodsPort => ({
  pods,
  statuses,
  mirrorUid: (namespace, name) => cluster?.mirrors.uidOf(namespace, name),
});

/** With `--runonce` the kubelet ends by itself when every pod has been run. */
function runOnceParts(config: Config, clock: Clock, pods: Pods, end: (ending: Ending) => void): readonly Part[] {
  if (!config.kubelet.runOnce) return [];
  const onEnd = (error: unknown) =>
    end(error === undefined ? { kind: 'handover', reason: 'every pod was run once' } : { kind: 'failed', error });
  return [createRunOnce({ clock, pods, onEnd })];
}

const startingReason = (part: string | undefined): string | undefined =>
  part === undefined ? undefined : `the kubelet is starting: ${part}`;
