/** Workers and the set of pods for tests: over a node in memory, with a clock that the test moves, and nothing on disk. */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger, type Logger } from '../base/logger.ts';
import { createManualClock, type ManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { PodEvent } from '../model/event.ts';
import type { PodEnding, PodUpdate, PodView } from '../model/pod-view.ts';
import type { Allocations } from './allocations.ts';
import type { EndingStore } from './endings.ts';
import { createTestNode, hashOf, type TestNode } from './node-testing.ts';
import { createPodSet, type PodSet } from './pod-set.ts';
import type { Admission, Desired, PodsDeps } from './pods.ts';
import { createRemovals } from './removals.ts';
import type { PassReport, WorkerDeps } from './worker-deps.ts';

export const START = 1_000_000;

export function makePod(uid: string, spec: Partial<Pod['spec']> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    metadata: { name: uid, namespace: 'default', uid, ...metadata },
    spec: {
      terminationGracePeriodSeconds: 30,
      restartPolicy: 'Always',
      containers: [{ name: 'c', image: 'image' }],
      ...spec,
    },
  };
}

/** Lets all work run that does not wait for the clock. */
export async function settle(clock: ManualClock): Promise<void> {
  for (let times = 0; times < 10; times += 1) {
    await clock.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Endings as on disk: they outlive a kubelet. */
export type EndingsOnDisk = Map<PodUid, { readonly end: PodEnding | undefined }>;

function createEndings(known: EndingsOnDisk): EndingStore {
  return {
    load: () => Promise.resolve(),
    of: (uid) => known.get(uid),
    uids: () => [...known.keys()],
    write: ({ uid }, end) => {
      if (!known.has(uid)) known.set(uid, { end });
      return Promise.resolve();
    },
    remove: (uid) => {
      known.delete(uid);
      return Promise.resolve();
    },
  };
}

const NO_ALLOCATIONS: Allocations = {
  load: () => Promise.resolve(),
  withAllocated: (pod) => pod,
  requested: () => undefined,
  grant: () => undefined,
  allocate: () => undefined,
  reserved: (pod) => pod,
  inForce: () => undefined,
  begin: () => Promise.resolve(),
  done: () => Promise.resolve(),
  starting: () => Promise.resolve(),
  forget: () => undefined,
  uids: () => [],
  save: () => Promise.resolve(),
};

export interface WorkerWorld {
  readonly clock: ManualClock;
  readonly node: TestNode;
  readonly deps: WorkerDeps;
  readonly events: PodEvent[];
  readonly views: PodView[];
  readonly passes: PassReport[];
  readonly endings: EndingsOnDisk;
  /** The kubelet's life. */
  readonly life: AbortController;
}

export function createWorkerWorld(earlier?: Pick<WorkerWorld, 'clock' | 'node' | 'endings'>): WorkerWorld {
  const clock = earlier?.clock ?? createManualClock(START);
  const node = earlier?.node ?? createTestNode(clock);
  const endings: EndingsOnDisk = earlier?.endings ?? new Map();
  const events: PodEvent[] = [];
  const views: PodView[] = [];
  const passes: PassReport[] = [];
  const deps: WorkerDeps = {
    ...{ clock, log: createSilentLogger(), supervisor: createTestSupervisor(clock) },
    ...{ act: node.act, observe: node.observe, endings: createEndings(endings) },
    record: (event) => events.push(event),
    publish: (view) => views.push(view),
    explain: () => undefined,
    removals: createRemovals(clock, 4),
    onPass: (pass) => passes.push(pass),
    takeTurn: () => Promise.resolve({ [Symbol.dispose]: () => undefined }),
    nextTicket: () => 1,
    resizes: { observed: () => undefined, failed: () => undefined },
    inForce: () => undefined,
    decisions: {
      backOff: { initialMs: 10_000, maxMs: 300_000, resetAfterMs: 600_000 },
      probes: () => ({ startup: new Map(), liveness: new Map(), readiness: new Map() }),
      hashes: ({ spec }) => new Map(spec.containers.map(({ name, image }) => [name, hashOf(image)])),
      isShortOfDisk: () => false,
      restartCounts: () => Promise.resolve(new Map()),
      garbage: () => ({ actions: [], retryAt: undefined }),
    },
  };
  return { clock, node, deps, events, views, passes, endings, life: new AbortController() };
}

export interface SetWorld extends Omit<WorkerWorld, 'views' | 'deps'> {
  readonly set: PodSet;
  readonly updates: PodUpdate[];
  /** Sets the desired pods, and reconciles until nothing is left to do without the clock. */
  desire(pods: readonly Pod[], everySourceHeard?: boolean, heard?: ReadonlySet<string>): Promise<void>;
  advance(ms: number): Promise<void>;
  step(uid: string): PodView['step'] | undefined;
  /** Ends this kubelet; the node and the disk stay for the next one. */
  stop(): Promise<void>;
}

export interface SetOptions {
  readonly earlier?: Pick<WorkerWorld, 'clock' | 'node' | 'endings'>;
  readonly admit?: (pod: Pod, admitted: readonly Pod[]) => Admission;
  readonly restorePod?: PodsDeps['restorePod'];
  readonly allocations?: Allocations;
  readonly resizeMeter?: PodsDeps['resizeMeter'];
  readonly log?: Logger;
  readonly isClosed?: () => boolean;
}

export function createSetWorld(options: SetOptions = {}): SetWorld {
  const world = createWorkerWorld(options.earlier);
  const { clock, node, deps, endings, events, passes, life } = world;
  const updates: PodUpdate[] = [];
  let desired: Desired | undefined;
  let isDue = false;
  const {
    publish: _publish,
    nextTicket: _next,
    endings: _endings,
    explain: _explain,
    takeTurn,
    removals,
    ...rest
  } = deps;
  const set = createPodSet(
    {
      ...rest,
      log: options.log ?? rest.log,
      listNode: () => Promise.resolve(node.list()),
      admit: options.admit ?? (() => ({ kind: 'admitted' })),
      isClosed: options.isClosed ?? (() => false),
      restorePod: options.restorePod ?? (({ uid }) => Promise.resolve(makePod(uid))),
    },
    {
      endings: createEndings(endings),
      allocations: options.allocations ?? NO_ALLOCATIONS,
      podLevel: true,
      takeTurn,
      removals,
      requestReconcile: () => {
        isDue = true;
      },
    },
  );
  set.subscribe('test', (one) => updates.push(one));
  set.found(node.list());

  const reconcile = async (): Promise<void> => {
    isDue = true;
    while (isDue && desired !== undefined) {
      isDue = false;
      const done = set.reconcile(desired, life.signal);
      await settle(clock);
      await done;
      await settle(clock);
    }
  };

  return {
    ...{ clock, node, endings, events, passes, life, set, updates },
    desire: async (pods, everySourceHeard = true, heard = new Set()) => {
      desired = { pods, everySourceHeard, heard };
      await reconcile();
    },
    advance: async (ms) => {
      await clock.advance(ms);
      await settle(clock);
      if (isDue) await reconcile();
    },
    step: (uid) => set.view(podUid(uid))?.step,
    stop: async () => {
      life.abort('the kubelet stops');
      await set.stopped();
    },
  };
}
