/** Pods, actions and observation as they are, over a runtime in memory: everything but the machine. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type ActDeps, createAct } from '../../src/act/act.ts';
import { createPodDirectories } from '../../src/act/pod-directories.ts';
import type { HooksPort, ImagesPort } from '../../src/act/ports.ts';
import type { Container } from '../../src/api/container.ts';
import type { Pod } from '../../src/api/pod.ts';
import { createSystemClock } from '../../src/base/clock.ts';
import { createSilentLogger } from '../../src/base/logger.ts';
import type { SupervisorDeps } from '../../src/base/supervise.ts';
import { createTestSupervisor } from '../../src/base/supervise-testing.ts';
import { createFileCalls } from '../../src/host/file-calls.ts';
import { createGuardedFiles } from '../../src/host/guarded-files.ts';
import type { PodEvent } from '../../src/model/event.ts';
import { createAllocations } from '../../src/pods/allocations.ts';
import { type Admission, createPods, type Pods, type PodsDeps } from '../../src/pods/pods.ts';
import { createObserve } from '../../src/runtime/observe/observe.ts';
import { restorePod } from '../../src/runtime/observe/rules/restore-pod.ts';
import { findGarbage } from '../../src/runtime/rules/garbage.ts';
import { containerAnnotations, containerLabels, sandboxLabels } from '../../src/runtime/spec/labels.ts';
import { createFakeRuntime, type FakeRuntime } from './fake-runtime.ts';

export interface PodWorld extends AsyncDisposable {
  readonly runtime: FakeRuntime;
  readonly pods: Pods;
  readonly events: PodEvent[];
  /** Ends this kubelet; the runtime and the disk stay for the next one. */
  stop(): Promise<void>;
}

export interface PodWorldOptions {
  readonly runtime?: FakeRuntime;
  readonly directory?: string;
  readonly images?: Pick<ImagesPort, 'ensure'>;
  readonly hooks?: HooksPort;
  readonly admit?: (pod: Pod, admitted: readonly Pod[]) => Admission;
  readonly startsAtOnce?: number;
  readonly relistMs?: number;
  readonly identify?: PodsDeps['identify'];
  /** Told of each container that is to be made, as its pod has it then. */
  readonly onContainer?: (container: Container) => void;
  readonly hashes?: PodsDeps['decisions']['hashes'];
  readonly beforeRound?: SupervisorDeps['beforeRound'];
}

const files = createGuardedFiles(createFileCalls());
const NOTHING = { startup: new Map(), liveness: new Map(), readiness: new Map() };

export async function podDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pods-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

export async function podWorld(t: TestContext, options: PodWorldOptions = {}): Promise<PodWorld> {
  const clock = createSystemClock();
  const log = createSilentLogger();
  const supervisor = createTestSupervisor(clock, { beforeRound: options.beforeRound });
  const runtime = options.runtime ?? createFakeRuntime();
  const directory = options.directory ?? (await podDirectory(t));
  const events: PodEvent[] = [];
  const record = (event: PodEvent) => events.push(event);
  const observe = createObserve({
    clock,
    supervisor,
    log,
    runtime,
    messages: { files, pods: join(directory, 'pods'), podLogs: directory },
    relistMs: options.relistMs ?? 60_000,
    wake: (uid) => pods.wake(uid, 'runtime-changed'),
    exitAnnounced: (uid) => pods.wake(uid, 'exit-announced'),
    onList: (listed) => pods.found(listed),
  });
  const allocations = createAllocations(log, { directory, podLevel: true });
  const act = createAct({ ...actDeps(runtime, directory, options), clock, record, inForce: allocations });
  const pods: Pods = createPods(
    {
      clock,
      supervisor,
      log,
      act,
      observe,
      record,
      decisions: {
        backOff: { initialMs: 20, maxMs: 100, resetAfterMs: 600_000 },
        resize: { podLevel: true, initContainers: true },
        probes: () => NOTHING,
        hashes: options.hashes ?? (() => new Map()),
        isShortOfDisk: () => false,
        restartCounts: () => Promise.resolve(new Map()),
        garbage: (observation, now) => findGarbage(observation, { minimumAge: 0, perContainer: 1 }, now),
      },
      listNode: observe.list,
      admit: options.admit ?? (() => ({ kind: 'admitted' })),
      restorePod: async (found, signal) => restorePod(await observe.read(found, signal)),
      ...(options.identify === undefined ? {} : { identify: options.identify }),
    },
    allocations,
    {
      startsAtOnce: options.startsAtOnce ?? 4,
      endingsDirectory: join(directory, 'ended'),
      podLevel: true,
      resyncMs: 60_000,
    },
  );
  const living = new AbortController();
  await observe.start(living.signal);
  await pods.start(living.signal);
  const stop = async () => {
    living.abort(new Error('stopped'));
    await pods.stop?.();
    await observe.stop?.();
  };
  return { runtime, pods, events, stop, [Symbol.asyncDispose]: stop };
}

function actDeps(
  runtime: FakeRuntime,
  directory: string,
  options: PodWorldOptions,
): Omit<ActDeps, 'clock' | 'record' | 'inForce'> {
  const nothing = () => Promise.resolve();
  const ready = () => Promise.resolve({ kind: 'ready', imageRef: 'image', user: { uid: 0, username: '' } } as const);
  return {
    runtime,
    requests: {
      sandbox: (pod, attempt) => {
        const { name, namespace, uid } = pod.metadata;
        const config = { metadata: { name, namespace, uid, attempt }, labels: sandboxLabels(pod) };
        return Promise.resolve({ kind: 'ready', config, runtimeHandler: '', warnings: [] });
      },
      container: ({ pod, container, attempt }) => {
        options.onContainer?.(container);
        const annotations = containerAnnotations({ pod, container, attempt, extra: {} });
        const metadata = { name: container.name, attempt };
        return Promise.resolve({
          kind: 'ready',
          config: { metadata, labels: containerLabels(pod, container), annotations },
        });
      },
      hostsFile: () => Promise.resolve({ ok: true, value: '' }),
      containerResources: () => ({}),
      sandboxResources: () => ({}),
    },
    images: { ensure: ready, ensureVolume: ready, ...options.images },
    hooks: options.hooks ?? { run: () => Promise.resolve(undefined) },
    directories: createPodDirectories({
      root: directory,
      randomName: () => Math.random().toString(16).slice(2, 10),
      files,
      removeTree: (path) => rm(path, { recursive: true, force: true }),
    }),
    logs: { ensurePod: nothing, ensureContainer: nothing, link: nothing, removeContainer: nothing, removePod: nothing },
    cgroups: { ensure: nothing, remove: nothing },
    limits: {
      planPodResize: () => ({ grow: undefined, shrink: undefined, shrinksTo: undefined }),
      memoryUsage: () => Promise.resolve(0n),
    },
    volumes: {
      prefetch: () => undefined,
      ensure: () => Promise.resolve({ kind: 'ready', mounts: new Map() }),
      cleanUp: nothing,
    },
    sandboxIps: () => Promise.resolve(['10.0.0.1']),
  };
}

export function makePod(name: string, more: { uid?: string; spec?: object; container?: Partial<Container> } = {}): Pod {
  return {
    metadata: { name, namespace: 'default', uid: more.uid ?? `uid-${name}` },
    spec: {
      terminationGracePeriodSeconds: 30,
      restartPolicy: 'Always',
      containers: [{ name: 'c', image: 'image', terminationMessagePath: '', ...more.container }],
      ...more.spec,
    },
  };
}
