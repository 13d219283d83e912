/** A plan while it is computed: the decisions about single containers are written into it. */
import type { Container } from '../api/container.ts';
import type { ContainerId, SandboxId } from '../api/ids.ts';
import { podTitle } from '../api/pod-traits.ts';
import type { ObservedContainer } from '../model/observation.ts';
import type {
  Action,
  CrashRecord,
  HeldContainer,
  Plan,
  PlanEvent,
  ResizedContainer,
  StopReason,
  WaitingReason,
} from '../model/plan.ts';
import { crashLoopWaiting, judgeBackOff } from './back-off.ts';
import { containerGrace } from './grace.ts';
import { isResizing, planPodResize } from './resize.ts';
import { fieldPathOf, roleOf } from './roles.ts';
import type { Snapshot } from './snapshot.ts';

export interface StopRequest {
  readonly message: string;
  readonly reason: StopReason;
  /** Instead of the grace that follows from the reason. */
  readonly graceSeconds?: number;
  readonly after?: readonly ContainerId[];
}

type Start = Extract<Action, { kind: 'container-start' }>;
type Stop = Extract<Action, { kind: 'container-stop' }>;

export class Draft {
  readonly snapshot: Snapshot;
  readonly #stops: Stop[] = [];
  readonly #removals: Action[] = [];
  readonly #sandbox: Action[] = [];
  readonly #starts: Start[] = [];
  readonly #waiting = new Map<string, WaitingReason>();
  readonly #held = new Map<string, HeldContainer>();
  readonly #crashes: Map<string, CrashRecord>;
  readonly #events: PlanEvent[] = [];
  readonly #resized: ResizedContainer[] = [];
  readonly #resizeStarts: string[] = [];
  #resizeReason: string | undefined;
  #retryAt: number | undefined;

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
    this.#crashes = new Map(snapshot.crashes);
  }

  stop(container: ObservedContainer, { message, reason, graceSeconds, after }: StopRequest): void {
    const { pod } = this.snapshot;
    const { role, spec } = roleOf(pod, container.name);
    this.#stops.push({
      kind: 'container-stop',
      id: container.id,
      name: container.name,
      role,
      message,
      reason,
      graceSeconds: graceSeconds ?? containerGrace(pod, spec, reason),
      ...(after === undefined || after.length === 0 ? {} : { after }),
    });
  }

  remove(container: ObservedContainer, reason: string): void {
    this.#removals.push({ kind: 'container-remove', id: container.id, name: container.name, reason });
  }

  stopSandbox(id: SandboxId, reason: string): void {
    this.#sandbox.push({ kind: 'sandbox-stop', id, reason });
  }

  createSandbox(attempt: number, reason: string): void {
    this.#sandbox.push({ kind: 'sandbox-create', attempt, reason });
  }

  /** Starts it, or holds it until its crash back-off is over. */
  start(container: Container, reason: string): void {
    if (!this.mayStart(container)) return;
    const { pod } = this.snapshot;
    const { name } = container;
    this.#starts.push({
      kind: 'container-start',
      name,
      role: roleOf(pod, name).role,
      attempt: this.#nextAttempt(name),
      reason,
    });
  }

  /** For one that was created and never ran (the kubelet died in between, or the runtime failed): it does not count as a restart. */
  startAgain(container: Container, seen: ObservedContainer): void {
    this.remove(seen, 'it was created and never started');
    this.start(container, 'it was created and never started');
  }

  /** Whether the crash back-off lets it start; otherwise the wait is noted. */
  mayStart({ name }: Container): boolean {
    const { pod, observation, backOff, now } = this.snapshot;
    const crashed = observation.containers.find((one) => one.name === name && one.state === 'exited');
    const verdict = judgeBackOff({ crashed, record: this.#crashes.get(name), settings: backOff, now });
    if (verdict.kind === 'start') {
      if (verdict.record !== undefined) this.#crashes.set(name, verdict.record);
      return true;
    }
    this.#waiting.set(name, crashLoopWaiting(pod, name, verdict.waitMs));
    this.lookAgainAt(verdict.until);
    if (crashed !== undefined) this.hold(name, backOffHold(crashed, verdict.until));
    this.#events.push({
      container: fieldPathOf(pod, name),
      type: 'Warning',
      reason: 'BackOff',
      message: `Back-off restarting failed container ${name} in pod ${podTitle(pod)}`,
    });
    return false;
  }

  #nextAttempt(name: string): number {
    const { observation, restartCounts } = this.snapshot;
    const ran = observation.containers.filter((one) => one.name === name && one.state !== 'created');
    return Math.max(restartCounts?.get(name) ?? 0, ...ran.map(({ restartCount }) => restartCount + 1));
  }

  resizeContainer(container: ResizedContainer): void {
    this.#resized.push(container);
    this.resizePod(`container ${container.name} gets other resources`);
  }

  /** The cgroup of the pod gets the limits that are allocated to it. */
  resizePod(reason: string): void {
    this.#resizeReason ??= reason;
  }

  /** So that there is room for a container that starts with other resources than it had. */
  resizeForStart(name: string): void {
    this.#resizeStarts.push(name);
  }

  hold(name: string, why: HeldContainer): void {
    this.#held.set(name, why);
  }

  event(event: PlanEvent): void {
    this.#events.push(event);
  }

  lookAgainAt(time: number): void {
    this.#retryAt = Math.min(this.#retryAt ?? time, time);
  }

  finish(finished: boolean): Plan {
    const names = this.#starts.map(({ name }) => name);
    if (!finished) planPodResize(this, names);
    const starts = inPodOrder(this.snapshot, this.#starts);
    return {
      actions: [...this.#stops, ...this.#removalsAndSandbox(), ...this.#resize(), ...starts],
      retryAt: this.#retryAt,
      waiting: this.#waiting,
      held: this.#held,
      crashes: this.#crashes,
      finished,
      events: this.#events,
      resizing: isResizing(this.snapshot),
      end: undefined,
    };
  }

  /** After what stops, because that frees resources, and before what starts, because that needs them. */
  #resize(): readonly Action[] {
    const startsOf = this.#resizeStarts;
    if (this.#resizeReason === undefined) {
      const reason = `container ${startsOf[0]} starts with other resources`;
      return startsOf.length === 0 ? [] : [{ kind: 'pod-resize', containers: [], startsOf, reason }];
    }
    const containers = this.#resized.toSorted((left, right) => Number(left.grows) - Number(right.grows));
    return [{ kind: 'pod-resize', containers, reason: this.#resizeReason }];
  }

  /** Containers are removed after their sandbox is stopped, and before the next one is created. */
  #removalsAndSandbox(): readonly Action[] {
    const stops = this.#sandbox.filter(({ kind }) => kind === 'sandbox-stop');
    const rest = this.#sandbox.filter(({ kind }) => kind !== 'sandbox-stop');
    return [...stops, ...this.#removals, ...rest];
  }
}

function backOffHold(crashed: ObservedContainer, until: number): HeldContainer {
  const { exitCode, reason, message, finishedAt, restartCount } = crashed;
  return { kind: 'back-off', exitCode, reason, message, finishedAt, crashes: restartCount + 1, until };
}

/** Ephemeral containers first, because they are of use even where an init container can't start; the rest as the pod has them. */
function inPodOrder({ pod }: Snapshot, starts: readonly Start[]): readonly Start[] {
  const { ephemeralContainers = [], initContainers = [], containers } = pod.spec;
  const order = new Map([...ephemeralContainers, ...initContainers, ...containers].map(({ name }, at) => [name, at]));
  const place = ({ name }: Start): number => order.get(name) ?? 0;
  return starts.toSorted((left, right) => place(left) - place(right));
}
