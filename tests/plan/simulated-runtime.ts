/**
 * A container runtime in memory with a clock of its own, for walking pods through the decisions: every container has a
 * fate, fixed when it is made. It refuses what a real one would and what must never be asked of it.
 */
import assert from 'node:assert/strict';
import { containerId, podUid, sandboxId } from '../../src/api/ids.ts';
import type { Pod } from '../../src/api/pod.ts';
import type { ContainerRunState, Observation, ObservedContainer } from '../../src/model/observation.ts';
import type { Action } from '../../src/model/plan.ts';
import type { ProbeResults, ProbeVerdict } from '../../src/model/probe-results.ts';

export interface Fate {
  /** `make`: no container comes to be (its image, its configuration). `start`: it is made and does not start. */
  readonly fails?: 'make' | 'start';
  /** It ends by itself, this long after its start. */
  readonly endsAfterMs?: number;
  readonly exitCode: number;
  /** Its exit code when it is told to end. */
  readonly stopCode?: number;
  /** Its startup probe succeeds after this time; never, if it is missing. */
  readonly upAfterMs?: number;
  /** Its liveness probe fails from then on. */
  readonly unwellAfterMs?: number;
  readonly hookFails?: boolean;
}

interface Box {
  readonly id: string;
  readonly attempt: number;
  ready: boolean;
}

export interface SimulatedContainer {
  readonly id: string;
  readonly name: string;
  readonly attempt: number;
  readonly box: Box;
  readonly fate: Fate;
  readonly hash: string;
  state: ContainerRunState;
  startedAt: number;
  finishedAt: number;
  exitCode: number;
  /** Until then the runtime has only announced its end, and still calls it running. */
  lateUntil: number;
}

const TOOK_MS = { sandbox: 120, start: 60, stop: 20, remove: 5 };

export class SimulatedRuntime {
  now: number;
  readonly log: string[] = [];
  boxes: Box[] = [];
  containers: SimulatedContainer[] = [];
  readonly failedHooks = new Set<string>();
  /** What ever happened in a sandbox, also where the runtime has forgotten it: `s1 started c`, `s1 succeeded i`. */
  readonly history = new Set<string>();
  readonly #pod: Pod;
  readonly #fateOf: (name: string, attempt: number) => Fate;
  hashes = new Map<string, string>();
  /** How long after an end by itself the runtime says so; its event tells at once. */
  lateMs = 0;
  #made = 0;

  constructor(pod: Pod, fateOf: (name: string, attempt: number) => Fate, now = 1_000_000_000) {
    this.#pod = pod;
    this.#fateOf = fateOf;
    this.now = now;
  }

  /** Lets happen what was due until now. */
  settle(): void {
    for (const container of this.running()) {
      const { endsAfterMs, exitCode } = container.fate;
      const end = container.startedAt + (endsAfterMs ?? Number.POSITIVE_INFINITY);
      if (end > this.now) continue;
      this.#end(container, exitCode, end);
      container.lateUntil = end + this.lateMs;
    }
  }

  #end(container: SimulatedContainer, exitCode: number, at: number): void {
    if (exitCode === 0) this.history.add(`${container.box.id} succeeded ${container.name}`);
    container.state = 'exited';
    container.exitCode = exitCode;
    container.finishedAt = at;
  }

  running(name?: string): readonly SimulatedContainer[] {
    return this.containers.filter((one) => one.state === 'running' && (name === undefined || one.name === name));
  }

  /** Ended, and the runtime does not say so yet. */
  late(): readonly SimulatedContainer[] {
    return this.containers.filter(({ lateUntil }) => lateUntil > this.now);
  }

  /** The next moment at which something happens by itself. */
  nextEvent(): number | undefined {
    const times = this.running().flatMap(({ startedAt, fate }) =>
      [fate.endsAfterMs, fate.upAfterMs, fate.unwellAfterMs].map((after) => startedAt + (after ?? Number.NaN)),
    );
    const coming = [...times, ...this.late().map(({ lateUntil }) => lateUntil)].filter((time) => time > this.now);
    return coming.length === 0 ? undefined : Math.min(...coming);
  }

  observe(): Observation {
    this.settle();
    const late = new Map(this.late().map((container) => [containerId(container.id), container]));
    const shown = (container: ObservedContainer): ObservedContainer =>
      late.has(container.id) ? { ...container, state: 'running', finishedAt: 0, exitCode: 0 } : container;
    return {
      uid: podUid(this.#pod.metadata.uid),
      name: this.#pod.metadata.name,
      namespace: this.#pod.metadata.namespace,
      takenAt: this.now,
      sandboxes: this.boxes.map(({ id, attempt, ready }) => ({
        id: sandboxId(id),
        attempt,
        ready,
        createdAt: 0,
        hostNetwork: this.#pod.spec.hostNetwork ?? false,
        ips: ['10.0.0.1'],
        runtimeHandler: '',
      })),
      containers: this.containers.map(toObserved).map(shown),
      ...(late.size === 0 ? {} : { announced: late }),
    };
  }

  probes(): ProbeResults {
    this.settle();
    const verdicts = (judge: (container: SimulatedContainer) => ProbeVerdict) =>
      new Map(this.running().map((container) => [containerId(container.id), judge(container)]));
    return {
      startup: verdicts(({ startedAt, fate }) =>
        startedAt + (fate.upAfterMs ?? Number.POSITIVE_INFINITY) <= this.now ? 'success' : 'unknown',
      ),
      liveness: verdicts(({ startedAt, fate }) =>
        startedAt + (fate.unwellAfterMs ?? Number.POSITIVE_INFINITY) <= this.now ? 'failure' : 'success',
      ),
      readiness: new Map(),
    };
  }

  /** Carries out the actions as the type says: in order, and not beyond what fails. */
  perform(actions: readonly Action[]): void {
    for (const action of actions) {
      if (!this.#performOne(action)) return;
    }
  }

  /** Whether to go on. */
  #performOne(action: Action): boolean {
    switch (action.kind) {
      case 'sandbox-create':
        assert.ok(!this.boxes.some(({ ready }) => ready), 'a second ready sandbox');
        this.now += TOOK_MS.sandbox;
        this.#made += 1;
        this.boxes.unshift({ id: `s${this.#made}`, attempt: action.attempt, ready: true });
        this.log.push(`sandbox ${action.attempt}`);
        return true;
      case 'sandbox-stop':
        return this.#stopSandbox(action.id);
      case 'sandbox-remove':
        this.boxes = this.boxes.filter(({ id }) => id !== action.id);
        return true;
      case 'pod-resize':
        throw new Error('no pod here is resized');
      case 'container-start':
        return this.#start(action.name, action.attempt) || action.role !== 'init';
      case 'container-stop':
        return this.#stop(action);
      case 'container-remove':
        this.now += TOOK_MS.remove;
        assert.ok(
          ![...this.running(), ...this.late()].some(({ id }) => id === action.id),
          `${action.name} is removed while it runs`,
        );
        this.containers = this.containers.filter(({ id }) => id !== action.id);
        return true;
    }
  }

  #stopSandbox(id: string): boolean {
    const box = this.boxes.find((one) => one.id === id);
    assert.ok(box !== undefined, `there is no sandbox ${id}`);
    assert.deepEqual(
      [...this.running(), ...this.late()].filter((container) => container.box === box).map(({ name }) => name),
      [],
    );
    if (box.ready) this.log.push(`stop sandbox ${box.attempt}`);
    box.ready = false;
    return true;
  }

  #start(name: string, attempt: number): boolean {
    this.settle();
    const [box] = this.boxes;
    assert.ok(box?.ready === true, `${name} is started without a sandbox`);
    assert.deepEqual(this.running(name), [], `${name} is started twice`);
    const fate = this.#fateOf(name, attempt);
    if (fate.fails === 'make') return false;
    this.now += TOOK_MS.start;
    this.#made += 1;
    const id = `${name}-${this.#made}`;
    const started = fate.fails === undefined;
    this.containers.unshift({
      id,
      name,
      attempt,
      box,
      fate,
      hash: this.hashes.get(name) ?? 'h',
      state: started ? 'running' : 'exited',
      startedAt: started ? this.now : 0,
      finishedAt: started ? 0 : this.now,
      exitCode: started ? 0 : 128,
      lateUntil: 0,
    });
    if (fate.hookFails === true) this.failedHooks.add(id);
    this.log.push(`start ${name}#${attempt}`);
    if (started) this.history.add(`${box.id} started ${name}`);
    return started;
  }

  #stop(action: Extract<Action, { kind: 'container-stop' }>): boolean {
    this.settle();
    const container = this.containers.find(({ id }) => id === action.id);
    assert.ok(container !== undefined, `there is no container ${action.id}`);
    for (const id of action.after ?? [])
      assert.deepEqual(
        this.running().filter((one) => one.id === id),
        [],
      );
    this.now += TOOK_MS.stop;
    if (container.state !== 'exited') this.#end(container, container.fate.stopCode ?? 0, this.now);
    container.lateUntil = 0;
    this.log.push(`stop ${container.name}`);
    return true;
  }

  /** The machine came back, or somebody killed the sandbox: nothing runs any more. */
  crashSandbox(): void {
    this.settle();
    for (const container of this.running()) this.#end(container, 137, this.now);
    for (const container of this.late()) container.lateUntil = 0;
    for (const box of this.boxes) box.ready = false;
  }
}

function toObserved(container: SimulatedContainer): ObservedContainer {
  return {
    id: containerId(container.id),
    sandboxId: sandboxId(container.box.id),
    name: container.name,
    state: container.state,
    createdAt: 0,
    startedAt: container.startedAt,
    finishedAt: container.finishedAt,
    exitCode: container.exitCode,
    reason: '',
    message: '',
    image: '',
    imageId: '',
    imageRef: '',
    hash: container.hash,
    restartCount: container.attempt,
    annotations: {},
    logPath: '',
    user: undefined,
    stopSignal: '',
  };
}
