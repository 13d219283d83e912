/**
 * The composition root: builds every part of a kubelet from its configuration and the doors to the machine, top to bottom, and is
 * the only file that knows them all. Two kubelets can live in one process: everything they share is passed in.
 */
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { createLifecycle, type Part, type StopReport } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { createSupervisor, type Supervisor, type SupervisorDeps } from '../base/supervise.ts';
import type { Config } from '../config/config.ts';
import type { OwnProgram } from '../host/file-jobs.ts';
import type { Host } from '../host/host.ts';
import type { FileLock } from '../host/lock-file.ts';
import type { Surroundings } from '../images/ports.ts';
import { CONTAINER_LOGS_DIRECTORY, DEVICE_PLUGINS_DIRECTORY, ensureDataDirectories } from '../node/data-directories.ts';
import { refuseMachine } from '../node/rules/machine.ts';
import type { Pods } from '../pods/pods.ts';
import { createRunOnce } from '../pods/run-once.ts';
import { createCriClient } from '../runtime/cri/client.ts';
import { DEFAULT_CRI_TIMEOUTS } from '../runtime/cri/timeouts.ts';
import { createRuntimeHealth } from '../runtime/health.ts';
import { createHealthChecks, type HealthChecks } from '../server/health/checks.ts';
import { createHealthServer } from '../server/health/health.ts';
import { createEventLoopLag } from '../telemetry/event-loop-lag.ts';
import { composeKube } from './kube.ts';
import { composeMetrics, type Meters } from './metrics.ts';
import { composePods } from './pods.ts';
import { composeServer, type ProcessDoor } from './server.ts';
import { composeStats } from './stats.ts';

export interface KubeletDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly host: Host;
  /** What is wrong with the log's output, if anything: lines that nobody takes. */
  readonly logProblem?: () => string | undefined;
  /** Fixed places of the node, for embedders that have no whole machine to themselves. */
  readonly places?: { readonly devicePlugins: string; readonly containerLogs: string };
  /** Where Docker's credential files are looked for, and what credential plugins inherit; nothing unless told. */
  readonly surroundings?: Surroundings;
  /** What pages and metrics show of the process; nothing unless told. */
  readonly process?: ProcessDoor;
  /** How this program is started once more, for work on files that may hang; without it such work is done here. */
  readonly program?: OwnProgram;
  /** For tests that make loops fail. */
  readonly loops?: Pick<SupervisorDeps, 'beforeRound' | 'afterPass'>;
}

/** What the parts of the composition root are built with. */
export interface PartDeps extends KubeletDeps {
  readonly supervisor: Supervisor;
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
  /** Resolves when the kubelet has found that it must end by itself; the first reason wins. Whoever waits then calls `stop`. */
  readonly ending: Promise<Ending>;
  /** Later parts and embedders add their own checks here. */
  readonly health: HealthChecks;
  /** What `/configz` shows from now on: the configuration as it is after a reload. */
  show(config: Config): void;
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
  const deps: PartDeps = { ...given, supervisor };
  const ending = Promise.withResolvers<Ending>();
  const health = createHealthChecks();
  let shown = config;

  health.add({ name: 'ping', check: () => undefined });
  health.add({ name: 'log', check: () => deps.logProblem?.() });

  const eventLoopLag = createEventLoopLag();
  const meters: Meters = composeMetrics(config, deps, {
    pods: () => looksAfterPods.pods,
    mirrorPods: () => looksAfterPods.cluster?.mirrorPods() ?? 0,
    eventLoopLag,
    volumes: () => looksAfterPods.volumes.counts(),
  });
  const runtime = createRuntime(config, deps, meters);
  const kube = composeKube(config, deps, meters.onApiRequest);
  const looksAfterPods = composePods(config, deps, {
    cri: runtime.cri,
    kube,
    probeCounts: meters.probes,
    onRelist: meters.onRelist,
    onVolumeOperation: meters.onVolumeOperation,
    work: meters.work,
    onImage: meters.onImage,
    onNodeStep: meters.onNodeStep,
  });
  looksAfterPods.pods.subscribe('metrics', meters.follow);
  const statistics = composeStats(config, deps, { cri: runtime.cri, parts: looksAfterPods });
  const server = composeServer(config, deps, {
    kube,
    cri: runtime.cri,
    parts: looksAfterPods,
    mirrorUid: (namespace, name) => looksAfterPods.cluster?.mirrorUid(namespace, name),
    meters,
    statistics,
    health,
    shown: () => shown,
  });
  health.add({
    name: 'syncloop',
    check: () => startingReason(lifecycle.starting()) ?? looksAfterPods.pods.problem(),
  });
  health.add({ name: 'loops', check: supervisor.problem });
  health.add({ name: 'container-runtime', check: runtime.health.check });

  const parts: readonly Part[] = [
    createMachinePart(config, deps),
    createLockPart(config, deps, ending.resolve),
    createDirectoriesPart(config, deps),
    eventLoopLag,
    createMemoryPart(deps),
    runtime.connection,
    runtime.health,
    ...(kube === undefined ? [] : [kube]),
    statistics,
    server,
    ...looksAfterPods.parts,
    ...runOnceParts(config, clock, looksAfterPods.pods, ending.resolve),
    createHealthServer(
      { address: config.kubelet.healthzBindAddress, port: config.kubelet.healthzPort },
      { clock, log: log.named('server/health'), supervisor, checks: health },
    ),
  ];
  const lifecycle = createLifecycle(parts, { clock, stopWithinMs: STOP_WITHIN_MS });
  return {
    start: lifecycle.start,
    stop: () => lifecycle.stop(new CodedError('unavailable', 'the kubelet is stopping')),
    ending: ending.promise,
    health,
    show: (next) => {
      shown = next;
    },
  };
}

/** With `--runonce` the kubelet ends by itself when every pod has been run. */
function runOnceParts(config: Config, clock: Clock, pods: Pods, end: (ending: Ending) => void): readonly Part[] {
  if (!config.kubelet.runOnce) return [];
  const onEnd = (error: unknown) =>
    end(error === undefined ? { kind: 'handover', reason: 'every pod was run once' } : { kind: 'failed', error });
  return [createRunOnce({ clock, pods, onEnd })];
}

const startingReason = (part: string | undefined): string | undefined =>
  part === undefined ? undefined : `the kubelet is starting: ${part}`;

/** The client of the container runtime, which connects when it is first used, and what tells whether it answers. */
function createRuntime({ kubelet }: Config, { clock, log, supervisor }: PartDeps, meters: Meters) {
  const endpoint = kubelet.containerRuntimeEndpoint;
  const cri = createCriClient({
    endpoint,
    ...(kubelet.imageServiceEndpoint === '' ? {} : { imageEndpoint: kubelet.imageServiceEndpoint }),
    clock,
    timeouts: { ...DEFAULT_CRI_TIMEOUTS, request: kubelet.runtimeRequestTimeout },
    onCall: meters.onRuntimeCall,
  });
  const connection: Part = { name: 'runtime connection', start: () => undefined, stop: cri.close };
  return {
    cri,
    connection,
    health: createRuntimeHealth({
      clock,
      log: log.named('runtime/health'),
      supervisor,
      endpoint,
      version: cri.version,
    }),
  };
}

/** May a kubelet run here, and with the limits that it wants? */
function createMachinePart({ kubelet }: Config, { host, log }: KubeletDeps): Part {
  return {
    name: 'machine',
    start: () => {
      const refusal = refuseMachine(kubelet, { swapAreas: host.swapAreas() });
      if (refusal !== undefined) throw new CodedError('unsupported', refusal);
      const files = host.raiseOpenFiles(BigInt(kubelet.maxOpenFiles));
      if (files.shortfall !== undefined) {
        log.warn('Fewer files may be open than maxOpenFiles asks for', {
          wish: kubelet.maxOpenFiles,
          limit: files.limit,
          reason: files.shortfall,
        });
      }
      const refused = host.setOwnOomScore(kubelet.oomScoreAdj);
      if (refused !== undefined)
        log.warn('Failed to set own oomScoreAdj', { oomScoreAdj: kubelet.oomScoreAdj, err: refused });
    },
  };
}

/** After the start, and after what usually follows it. Releasing costs a few milliseconds of page faults, so it is not done all the time. */
const RELEASE_PAGES_AFTER_MS: readonly number[] = [10_000, 60_000, 600_000];

function createMemoryPart({ host, log, clock }: KubeletDeps): Part {
  return {
    name: 'memory',
    start: (signal) => {
      const release = async () => {
        for (const delay of RELEASE_PAGES_AFTER_MS) {
          await clock.sleep(delay, signal);
          await host.releaseProgramPages();
        }
      };
      release().catch((err) => {
        if (!signal.aborted) log.warn('Failed to release pages of the program file', { err });
      });
    },
  };
}

function createLockPart({ settings }: Config, { host, log, clock }: KubeletDeps, end: (ending: Ending) => void): Part {
  const { file, exitOnContention } = settings.lock;
  let lock: FileLock | undefined;
  return {
    name: 'lock file',
    start: async (signal) => {
      if (file === '') return;
      log.info('Acquiring file lock', { path: file });
      const waiting = () => log.info('Another process holds the lock file: waiting for it', { path: file });
      lock = await host.acquireFileLock(file, clock, signal, waiting);
      if (!exitOnContention) return;
      log.info('Watching for inotify events', { path: file });
      lock.onContention((reason) => end({ kind: 'handover', reason: `lock file ${file} was ${reason}` }));
    },
    stop: () => lock?.release(),
  };
}

function createDirectoriesPart(config: Config, { places }: KubeletDeps): Part {
  return {
    name: 'data directories',
    start: () =>
      ensureDataDirectories({
        root: config.settings.directories.root,
        podLogs: config.kubelet.podLogsDir,
        devicePlugins: places?.devicePlugins ?? DEVICE_PLUGINS_DIRECTORY,
        containerLogs: places?.containerLogs ?? CONTAINER_LOGS_DIRECTORY,
      }),
  };
}
