/** A plan as steps: what each of its actions needs done, in order, each with the plan's reason. */
import type { Pod } from '../api/pod.ts';
import { allContainers, resourceClaimNames } from '../api/pod-traits.ts';
import type { StepError, WaitCause } from '../model/explanation.ts';
import type { Action, ContainerRole, HeldContainer } from '../model/plan.ts';
import type { StepSubject } from '../model/step.ts';

export interface PlannedStep {
  readonly subject: StepSubject;
  readonly reason: string;
  /** Who waits while it is not done: every later step of the pod, or the later steps of its container. */
  readonly holds: 'pod' | 'container';
  /** Set where the plan itself makes it wait. */
  readonly held?: HeldStep;
}

export interface HeldStep {
  readonly for: Extract<WaitCause, { kind: 'back-off' | 'container' }>;
  readonly lastError?: StepError;
  readonly failures: number;
  readonly since?: number;
  readonly retryAt?: number;
}

type Start = Extract<Action, { kind: 'container-start' }>;
type Stop = Extract<Action, { kind: 'container-stop' }>;

export function planSteps(
  pod: Pod,
  actions: readonly Action[],
  held: ReadonlyMap<string, HeldContainer> = new Map(),
): readonly PlannedStep[] {
  const first = actions.find(needsPreparation);
  const steps = actions.flatMap((action): readonly PlannedStep[] => [
    ...(action === first ? preparation(pod, action.reason) : []),
    ...stepsOf(pod, action),
  ]);
  return [...steps, ...[...held].map(([name, why]) => heldStep(name, why))];
}

/** What is cleaned up of a pod that is over: its directories and logs stay as long as its object does. */
export function cleanUpSteps(reason: string, isRemoved: boolean): readonly PlannedStep[] {
  const parts = isRemoved ? (['volumes', 'cgroup', 'directories', 'logs'] as const) : (['volumes', 'cgroup'] as const);
  return parts.map((what) => ({ subject: { kind: 'clean-up', what }, reason, holds: 'pod' }));
}

function needsPreparation({ kind }: Action): boolean {
  return kind === 'sandbox-create' || kind === 'container-start';
}

function preparation(pod: Pod, reason: string): readonly PlannedStep[] {
  const claims = resourceClaimNames(pod);
  const volumes = (pod.spec.volumes ?? []).map(({ name }) => name);
  const subjects: readonly StepSubject[] = [
    ...(claims.length === 0 ? [] : [{ kind: 'resource-claims', names: claims } as const]),
    { kind: 'directories' },
    { kind: 'cgroup' },
    ...(volumes.length === 0 ? [] : [{ kind: 'volumes', names: volumes } as const]),
  ];
  return subjects.map((subject) => ({ subject, reason, holds: 'pod' }));
}

function stepsOf(pod: Pod, action: Action): readonly PlannedStep[] {
  const whole = (subject: StepSubject): readonly PlannedStep[] => [{ subject, reason: action.reason, holds: 'pod' }];
  switch (action.kind) {
    case 'container-start':
      return startSteps(pod, action);
    case 'container-stop':
      return stopSteps(pod, action);
    case 'sandbox-create':
      return whole({ kind: 'sandbox-create', attempt: action.attempt });
    case 'pod-resize': {
      const containers = action.containers.map(({ name }) => name);
      // What is not resized goes on: a limit that can't be lowered must not keep a container from starting.
      return [{ subject: { kind: 'pod-resize', containers }, reason: action.reason, holds: 'container' }];
    }
    case 'container-remove':
      return whole({ kind: 'container-remove', container: action.name, id: action.id });
    case 'sandbox-stop':
    case 'sandbox-remove':
      return whole({ kind: action.kind, id: action.id });
  }
}

function startSteps(pod: Pod, { name, attempt, reason, role }: Start): readonly PlannedStep[] {
  const container = allContainers(pod).find((one) => one.name === name);
  const subjects: readonly StepSubject[] = [
    { kind: 'image', container: name, image: container?.image ?? '', attempt },
    { kind: 'container-config', container: name, attempt },
    { kind: 'container-create', container: name, attempt },
    { kind: 'container-start', container: name, attempt },
    ...(container?.lifecycle?.postStart === undefined
      ? []
      : [{ kind: 'hook', hook: 'postStart', container: name } as const]),
  ];
  const holds = holdsOf(role);
  return subjects.map((subject) => ({ subject, reason, holds }));
}

/** Only an init container that can't be started holds up the others. */
function holdsOf(role: ContainerRole): PlannedStep['holds'] {
  return role === 'init' ? 'pod' : 'container';
}

function stopSteps(pod: Pod, { name, id, message }: Stop): readonly PlannedStep[] {
  const hook = allContainers(pod).find((one) => one.name === name)?.lifecycle?.preStop;
  const subjects: readonly StepSubject[] = [
    ...(hook === undefined ? [] : [{ kind: 'hook', hook: 'preStop', container: name } as const]),
    { kind: 'container-stop', container: name, id },
  ];
  return subjects.map((subject) => ({ subject, reason: message, holds: 'pod' }));
}

function heldStep(container: string, why: HeldContainer): PlannedStep {
  const subject = { kind: 'container', container } as const;
  if (why.kind === 'init') {
    const waits = { kind: 'container', container: why.container, until: why.until } as const;
    const reason = `init container ${why.container} comes first`;
    return { subject, reason, holds: 'container', held: { for: waits, failures: 0 } };
  }
  const { exitCode, finishedAt, until, crashes } = why;
  return {
    subject,
    reason: `it ended with exit code ${exitCode}`,
    holds: 'container',
    held: {
      for: { kind: 'back-off', exitCode },
      lastError: { reason: why.reason, message: why.message, at: finishedAt },
      failures: crashes,
      since: finishedAt,
      retryAt: until,
    },
  };
}
