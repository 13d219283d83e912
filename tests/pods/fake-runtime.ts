/** A container runtime in memory that can be slow, deaf and mistaken on purpose. It fails the test when a container is doubled. */
import assert from 'node:assert/strict';
import type { RuntimePort } from '../../src/act/ports.ts';
import { CodedError } from '../../src/base/errors.ts';
import type { ContainerdEvent } from '../../src/runtime/containerd-events.ts';
import type { ObservedRuntime } from '../../src/runtime/observe/observe.ts';
import {
  Container,
  type ContainerEventResponse,
  ContainerEventType,
  type ContainerFilter,
  ContainerState,
  ContainerStatus,
  PodSandbox,
  PodSandboxState,
  PodSandboxStatus,
} from '../../src/wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../src/wire/message.ts';

type Labels = Readonly<Record<string, string>>;

interface End {
  readonly exitCode: number;
  readonly at: bigint;
}

interface FakeContainer {
  readonly id: string;
  readonly sandbox: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly attempt: number;
  readonly createdAt: bigint;
  state: ContainerState;
  startedAt: bigint;
  finishedAt: bigint;
  exitCode: number;
  /** Its process has ended so, and the runtime still calls it running. */
  left: End | undefined;
}

interface FakeSandbox {
  readonly id: string;
  readonly labels: Labels;
  readonly attempt: number;
  readonly uid: string;
  readonly createdAt: bigint;
  ready: boolean;
}

export interface FakeRuntime extends ObservedRuntime, RuntimePort {
  readonly sandboxes: ObservedRuntime['sandboxes'] & RuntimePort['sandboxes'];
  readonly containers: ObservedRuntime['containers'] & RuntimePort['containers'];
  /** Newest first: `pod/container#attempt state`. */
  picture(): readonly string[];
  runningOf(pod: string, name: string): string | undefined;
  exit(id: string, exitCode: number): void;
  /** From now on an end is only announced; the runtime says so when `clear` is called. */
  announceOnly(): void;
  /** Says that containers have ended which have, and tells how many. */
  clear(): number;
  /** Chance that an event is not told. */
  dropEvents(random: () => boolean): void;
  /** Status calls for containers of this pod are not answered. */
  hang(pod: string): void;
  /** A stopped container takes this long to end after its signal, whatever it was asked. */
  deaf(name: string): void;
  /** Calls that make or start something are not answered until this is over. */
  holdStarts(until: Promise<void>): void;
  /** Calls that make or start something: how many at once, at most, and in which order they began. */
  readonly load: { most: number; now: number; readonly begun: string[] };
  readonly calls: string[];
}

const tick = () => new Promise((resolve) => setTimeout(resolve, 1));
const POD = 'io.kubernetes.pod.name';
const NAME = 'io.kubernetes.container.name';

const isAlive = ({ state, left }: FakeContainer) => state === ContainerState.CONTAINER_RUNNING && left === undefined;

/** `clock`: wall clock in milliseconds; without it each call is a millisecond later. */
export function createFakeRuntime(clock?: () => number): FakeRuntime {
  const sandboxes = new Map<string, FakeSandbox>();
  const containers = new Map<string, FakeContainer>();
  const listeners = new Set<(event: ContainerEventResponse) => void>();
  const ownListeners = new Set<(event: ContainerdEvent) => void>();
  const hung = new Set<string>();
  const deaf = new Set<string>();
  const calls: string[] = [];
  const load: FakeRuntime['load'] = { most: 0, now: 0, begun: [] };
  let gate: Promise<void> = Promise.resolve();
  let drop = () => false;
  let announces = false;
  let serial = 0;
  let time = 1_700_000_000_000_000_000n;
  const now = () => {
    time = clock === undefined ? time + 1_000_000n : BigInt(clock()) * 1_000_000n;
    return time;
  };
  const nextId = () => {
    serial += 1;
    return `id${String(serial).padStart(4, '0')}`;
  };
  const matches = (labels: Labels, selector: Readonly<Record<string, string | undefined>> | undefined) =>
    Object.entries(selector ?? {}).every(([key, value]) => labels[key] === value);
  const tell = (id: string, type: ContainerEventType, uid: string) => {
    if (drop()) return;
    const podSandboxStatus = {
      ...PodSandboxStatus.zero(),
      metadata: { name: '', uid, namespace: '', attempt: 0 },
    };
    const event = {
      containerId: id,
      containerEventType: type,
      createdAt: 0n,
      podSandboxStatus,
      containersStatuses: [],
    };
    for (const listener of listeners) listener(event);
  };
  const busy = async <T>(what: string, work: () => T): Promise<T> => {
    load.begun.push(what);
    load.now += 1;
    load.most = Math.max(load.most, load.now);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await gate;
    load.now -= 1;
    return work();
  };
  const get = (id: string): FakeContainer => {
    const found = containers.get(id);
    if (found === undefined) throw new CodedError('notFound', `no container ${id}`);
    return found;
  };
  const settle = (container: FakeContainer, { exitCode, at }: End) => {
    container.left = undefined;
    container.state = ContainerState.CONTAINER_EXITED;
    container.exitCode = exitCode;
    container.finishedAt = at;
    tell(container.id, ContainerEventType.CONTAINER_STOPPED_EVENT, container.labels['io.kubernetes.pod.uid'] ?? '');
  };
  /** As a real one does, whoever asks for an end waits until the container is cleared away. */
  const end = (id: string, exitCode: number) => {
    const container = containers.get(id);
    if (container?.state !== ContainerState.CONTAINER_RUNNING) return;
    settle(container, container.left ?? { exitCode, at: now() });
  };
  const exit = (id: string, exitCode: number) => {
    const container = containers.get(id);
    if (!announces || container?.state !== ContainerState.CONTAINER_RUNNING || container.left !== undefined) {
      return end(id, exitCode);
    }
    const at = now();
    container.left = { exitCode, at };
    if (drop()) return;
    const event = { kind: 'exited', containerId: id, execId: undefined, at, exitStatus: exitCode } as const;
    for (const listener of ownListeners) listener(event);
  };
  const clear = () => {
    const left = [...containers.values()].flatMap((container) =>
      container.left === undefined ? [] : [{ container, end: container.left }],
    );
    for (const { container, end } of left) settle(container, end);
    return left.length;
  };
  const listedContainer = (container: FakeContainer): Container => ({
    ...Container.zero(),
    id: container.id,
    podSandboxId: container.sandbox,
    metadata: { name: container.labels[NAME] ?? '', attempt: container.attempt },
    state: container.state,
    createdAt: container.createdAt,
    labels: container.labels,
    annotations: container.annotations,
  });
  const listedSandbox = (sandbox: FakeSandbox): PodSandbox => ({
    ...PodSandbox.zero(),
    id: sandbox.id,
    metadata: { name: sandbox.labels[POD] ?? '', uid: sandbox.uid, namespace: 'default', attempt: sandbox.attempt },
    state: sandbox.ready ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
    createdAt: sandbox.createdAt,
    labels: sandbox.labels,
  });
  const untilAborted = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

  return {
    load,
    calls,
    watchEvents: async (onEvent, signal) => {
      listeners.add(onEvent);
      await untilAborted(signal).finally(() => listeners.delete(onEvent));
    },
    watchContainerdEvents: async (onEvent, signal) => {
      if (!announces) throw new CodedError('unsupported', 'no such events');
      ownListeners.add(onEvent);
      await untilAborted(signal).finally(() => ownListeners.delete(onEvent));
    },
    sandboxes: {
      list: async (filter) => {
        calls.push('list sandboxes');
        await tick();
        return [...sandboxes.values()]
          .filter(({ labels }) => matches(labels, filter?.labelSelector))
          .map(listedSandbox);
      },
      status: async (id) => {
        calls.push('sandbox status');
        await tick();
        const sandbox = sandboxes.get(id);
        if (sandbox === undefined) return undefined;
        const { metadata, state, createdAt, labels } = listedSandbox(sandbox);
        const network = { ip: '10.0.0.1', additionalIps: [] };
        const status = { ...PodSandboxStatus.zero(), id, metadata, state, createdAt, labels, network };
        return { status, info: {}, containersStatuses: [], timestamp: 0n };
      },
      run: ({ config }) =>
        busy(`sandbox ${config.metadata?.name}`, () => {
          const id = nextId();
          const uid = config.metadata?.uid ?? '';
          const ready = [...sandboxes.values()].filter((one) => one.uid === uid && one.ready);
          assert.equal(ready.length, 0, `a second ready sandbox for ${config.metadata?.name}`);
          const labels = { ...(config.labels as Labels) };
          sandboxes.set(id, { id, labels, attempt: config.metadata?.attempt ?? 0, uid, createdAt: now(), ready: true });
          return id;
        }),
      stop: async (id) => {
        calls.push('stop sandbox');
        await tick();
        const sandbox = sandboxes.get(id);
        if (sandbox !== undefined) sandbox.ready = false;
        for (const container of containers.values()) if (container.sandbox === id) end(container.id, 137);
      },
      remove: async (id) => {
        await tick();
        sandboxes.delete(id);
      },
      updateResources: () => busy('update sandbox', () => undefined),
    },
    containers: {
      list: async (filter: Init<ContainerFilter> | undefined) => {
        calls.push('list containers');
        await tick();
        return [...containers.values()]
          .filter(({ labels }) => matches(labels, filter?.labelSelector))
          .map(listedContainer);
      },
      status: async (id, _options, signal) => {
        calls.push('container status');
        const container = containers.get(id);
        if (container !== undefined && hung.has(container.labels[POD] ?? '')) await untilAborted(signal);
        await tick();
        if (container === undefined) return undefined;
        const { metadata, labels, annotations, state, createdAt } = listedContainer(container);
        const { startedAt, finishedAt, exitCode } = container;
        const times = { createdAt, startedAt, finishedAt, exitCode };
        return { status: { ...ContainerStatus.zero(), id, metadata, labels, annotations, state, ...times }, info: {} };
      },
      updateResources: (id) => busy(`update ${containers.get(id)?.labels[POD]}`, () => undefined),
      create: ({ podSandboxId, config }) =>
        busy(`create ${config.labels?.[POD]}`, () => {
          const id = nextId();
          containers.set(id, {
            id,
            sandbox: podSandboxId,
            labels: { ...(config.labels as Labels) },
            annotations: { ...(config.annotations as Labels) },
            attempt: config.metadata?.attempt ?? 0,
            createdAt: now(),
            state: ContainerState.CONTAINER_CREATED,
            startedAt: 0n,
            finishedAt: 0n,
            exitCode: 0,
            left: undefined,
          });
          return id;
        }),
      start: (id) =>
        busy(`start ${get(id).labels[POD]}`, () => {
          const container = get(id);
          const twin = [...containers.values()].find(
            (one) =>
              isAlive(one) && one.labels[POD] === container.labels[POD] && one.labels[NAME] === container.labels[NAME],
          );
          assert.equal(twin, undefined, `container ${container.labels[NAME]} of ${container.labels[POD]} is doubled`);
          container.state = ContainerState.CONTAINER_RUNNING;
          container.startedAt = now();
        }),
      stop: async (id, graceSeconds, signal) => {
        calls.push(`stop ${containers.get(id)?.labels[NAME]} ${graceSeconds}`);
        const wait = deaf.has(containers.get(id)?.labels[NAME] ?? '') ? graceSeconds * 1000 : 1;
        await Promise.race([new Promise((resolve) => setTimeout(resolve, wait).unref()), untilAborted(signal)]);
        end(id, 143);
      },
      remove: async (id) => {
        await tick();
        assert.notEqual(containers.get(id)?.state, ContainerState.CONTAINER_RUNNING, `${id} is removed while it runs`);
        containers.delete(id);
      },
    },
    picture: () =>
      [...containers.values()]
        .reverse()
        .map(({ labels, attempt, state }) => `${labels[POD]}/${labels[NAME]}#${attempt} ${state}`),
    runningOf: (pod, name) =>
      [...containers.values()].find((one) => one.labels[POD] === pod && one.labels[NAME] === name && isAlive(one))?.id,
    exit,
    announceOnly: () => {
      announces = true;
    },
    clear,
    dropEvents: (random) => {
      drop = random;
    },
    hang: (pod) => hung.add(pod),
    holdStarts: (until) => {
      gate = until;
    },
    deaf: (name) => deaf.add(name),
  };
}
