/** A node in memory for tests of workers: what is started is observed at once, and time passes only when the test moves the clock. */
import type { Act, ActContext } from '../act/act.ts';
import { type ContainerId, type PodUid, podUid, type SandboxId } from '../api/ids.ts';
import { allContainers } from '../api/pod-traits.ts';
import type { ManualClock } from '../base/manual-clock.ts';
import { emptyObservation, type ObservedContainer, type ObservedSandbox } from '../model/observation.ts';
import type { Action } from '../model/plan.ts';
import type { FoundPod } from '../model/pod-identity.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface TestNode {
  readonly act: Act;
  readonly observe: WorkerDeps['observe'];
  /** What was done, such as `start uid/c`, `stop uid/c 30`. */
  readonly calls: string[];
  /** Starts of containers wait for this, or until their pod must end. */
  holdStarts(until: Promise<void>): void;
  /** A container of this name ends only when its grace is over. */
  ignoreStops(container: string): void;
  /** From now on each read of this pod throws the error; undefined: none. */
  failReads(uid: string, error: Error | undefined): void;
  exit(uid: string, container: string, exitCode: number): void;
  running(uid: string): readonly string[];
  list(): readonly FoundPod[];
}

interface TestPod {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  sandboxes: readonly ObservedSandbox[];
  containers: readonly ObservedContainer[];
}

interface Faults {
  gate: Promise<void>;
  readonly deaf: Set<string>;
  readonly reads: Map<string, Error>;
}

export const hashOf = (image: string | undefined): string => `hash of ${image}`;

export function createTestNode(clock: ManualClock): TestNode {
  const pods = new Map<string, TestPod>();
  const calls: string[] = [];
  const faults: Faults = { gate: Promise.resolve(), deaf: new Set(), reads: new Map() };
  const carryOut = createCarryOut({ clock, pods, calls, faults });

  return {
    calls,
    act: {
      carryOut: async (actions, context) => {
        for (const action of actions) {
          context.wanted.throwIfAborted();
          await carryOut(action, context);
        }
        return [];
      },
      // The worker only passes it on to the function above, which has no use for it.
      createStops: () => ({}) as never,
      cleanUp: ({ uid }) => {
        calls.push(`clean up ${uid}`);
        pods.delete(uid);
        return Promise.resolve();
      },
      release: ({ uid }) => {
        calls.push(`release ${uid}`);
        return Promise.resolve();
      },
    },
    observe: {
      read: ({ uid, name, namespace }) => {
        calls.push(`read ${uid}`);
        const error = faults.reads.get(uid);
        if (error !== undefined) return Promise.reject(error);
        const { sandboxes = [], containers = [] } = pods.get(uid) ?? {};
        return Promise.resolve({
          ...emptyObservation(uid, name, namespace, clock.mono()),
          sandboxes,
          containers,
        });
      },
      forget: () => undefined,
    },
    holdStarts: (until) => {
      faults.gate = until;
    },
    ignoreStops: (container) => faults.deaf.add(container),
    failReads: (uid, error) => {
      if (error === undefined) faults.reads.delete(uid);
      else faults.reads.set(uid, error);
    },
    exit: (uid, container, exitCode) => end(pods.get(uid), ({ name }) => name === container, exitCode, clock.now()),
    running: (uid) =>
      (pods.get(uid)?.containers ?? []).filter(({ state }) => state === 'running').map(({ name }) => name),
    list: () =>
      [...pods.values()].map(({ uid, name, namespace, sandboxes }) => ({
        ...{ uid, name, namespace },
        alive: sandboxes.some(({ ready }) => ready),
      })),
  };
}

function end(
  pod: TestPod | undefined,
  isMeant: (container: ObservedContainer) => boolean,
  exitCode: number,
  now: number,
): void {
  if (pod === undefined) return;
  pod.containers = pod.containers.map((container) =>
    container.state === 'running' && isMeant(container)
      ? { ...container, state: 'exited', exitCode, finishedAt: now, reason: exitCode === 0 ? 'Completed' : 'Error' }
      : container,
  );
}

interface NodeState {
  readonly clock: ManualClock;
  readonly pods: Map<string, TestPod>;
  readonly calls: string[];
  readonly faults: Faults;
}

function createCarryOut({ clock, pods, calls, faults }: NodeState) {
  let serial = 0;
  const stopping = new Map<ContainerId, PromiseWithResolvers<void>>();
  const podOf = ({ pod: { metadata } }: ActContext): TestPod => {
    const { name, namespace } = metadata;
    const uid = podUid(metadata.uid);
    const known = pods.get(uid) ?? { uid, name, namespace, sandboxes: [], containers: [] };
    pods.set(uid, known);
    return known;
  };

  const start = async (action: Extract<Action, { kind: 'container-start' }>, context: ActContext): Promise<void> => {
    const pod = podOf(context);
    calls.push(`pull ${pod.uid}/${action.name}`);
    await untilAborted(faults.gate, context.wanted);
    calls.push(`start ${pod.uid}/${action.name}`);
    serial += 1;
    const image = allContainers(context.pod).find(({ name }) => name === action.name)?.image ?? '';
    const made = { id: `c${serial}` as ContainerId, sandboxId: pod.sandboxes[0]?.id ?? ('' as SandboxId), image };
    const times = { createdAt: clock.now(), startedAt: clock.now(), finishedAt: 0 };
    pod.containers = [
      {
        ...{
          ...made,
          ...times,
          name: action.name,
          state: 'running',
          hash: hashOf(image),
          restartCount: action.attempt,
        },
        ...{ exitCode: 0, reason: '', message: '', imageId: '', imageRef: '', annotations: {}, logPath: '' },
        ...{ user: undefined, stopSignal: '' },
      },
      ...pod.containers,
    ];
  };

  const stop = async (action: Extract<Action, { kind: 'container-stop' }>, context: ActContext): Promise<void> => {
    const pod = podOf(context);
    const grace = action.graceSeconds ?? 0;
    calls.push(`stop ${pod.uid}/${action.name} ${grace}`);
    const ended = stopping.get(action.id) ?? Promise.withResolvers<void>();
    stopping.set(action.id, ended);
    // As in the real actions, every request for one container ends when the container does.
    if (faults.deaf.has(action.name)) await Promise.race([clock.sleep(grace * 1000, context.signal), ended.promise]);
    ended.resolve();
    end(pod, ({ id }) => id === action.id, faults.deaf.has(action.name) ? 137 : 0, clock.now());
  };

  return async (action: Action, context: ActContext): Promise<void> => {
    const pod = podOf(context);
    if (action.kind === 'container-start') return await start(action, context);
    if (action.kind === 'container-stop') return await stop(action, context);
    if (action.kind === 'container-remove') pod.containers = pod.containers.filter(({ id }) => id !== action.id);
    if (action.kind === 'sandbox-remove') pod.sandboxes = pod.sandboxes.filter(({ id }) => id !== action.id);
    if (action.kind === 'sandbox-stop')
      pod.sandboxes = pod.sandboxes.map((one) => (one.id === action.id ? { ...one, ready: false } : one));
    if (action.kind !== 'sandbox-create') return;
    calls.push(`sandbox ${pod.uid}`);
    serial += 1;
    const made = { id: `s${serial}` as SandboxId, attempt: action.attempt, ready: true, createdAt: clock.now() };
    pod.sandboxes = [{ ...made, hostNetwork: false, ips: ['10.0.0.1'], runtimeHandler: '' }, ...pod.sandboxes];
  };
}

function untilAborted(done: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    done.then(resolve, reject);
  });
}
