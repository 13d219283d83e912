/**
 * Gives a pod and its running containers other limits. What the pod may use grows before its containers do and shrinks after them, so
 * that no container is ever allowed more than its pod. Each step can be repeated: after an interruption all of them are.
 */
import type { Pod } from '../api/pod.ts';
import { allContainers } from '../api/pod-traits.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Action, ResizedContainer } from '../model/plan.ts';
import { isInterruption } from '../model/runtime-failure.ts';
import type { ReportStep } from '../model/step.ts';
import type { InForcePort, LimitsPort, RequestsPort, RuntimePort } from './ports.ts';
import { runtimeMessage } from './runtime-message.ts';

export interface PodResizeDeps {
  readonly clock: Clock;
  readonly runtime: {
    readonly sandboxes: Pick<RuntimePort['sandboxes'], 'updateResources'>;
    readonly containers: Pick<RuntimePort['containers'], 'updateResources'>;
  };
  readonly requests: Pick<RequestsPort, 'containerResources' | 'sandboxResources'>;
  readonly limits: LimitsPort;
  readonly inForce: InForcePort;
}

export interface PodResize {
  readonly pod: Pod;
  readonly action: Extract<Action, { kind: 'pod-resize' }>;
  readonly sandboxId: string | undefined;
  readonly report: ReportStep;
  /** Aborts when the kubelet stops. */
  readonly signal: AbortSignal;
}

export async function resizePod(deps: PodResizeDeps, resize: PodResize): Promise<Outcome> {
  const { action, report, signal } = resize;
  const began = deps.clock.mono();
  const subject = { kind: 'pod-resize', containers: action.containers.map(({ name }) => name) } as const;
  report({ kind: 'begun', subject });
  try {
    await changeLimits(deps, resize);
  } catch (error) {
    if (signal.aborted || isInterruption(error)) throw error;
    const message = error instanceof ResizeRefusal ? error.message : runtimeMessage(error);
    report({ kind: 'failed', subject, failure: { reason: 'ResizeError', message } });
    return { kind: 'resize', problem: message, tookMs: deps.clock.mono() - began };
  }
  report({ kind: 'done', subject });
  return { kind: 'resize', problem: undefined, tookMs: deps.clock.mono() - began };
}

/** Its message is the whole explanation. */
class ResizeRefusal extends Error {}

async function changeLimits(deps: PodResizeDeps, resize: PodResize): Promise<void> {
  const { pod, action, sandboxId, signal } = resize;
  const { limits, inForce, runtime, requests } = deps;
  const { grow, shrink, shrinksTo } = limits.planPodResize(pod);
  await checkUsage(limits, pod, { containers: action.containers, shrinksTo });
  const names = action.containers.map(({ name }) => name);
  await inForce.begin(pod, names);
  if (sandboxId !== undefined && (grow ?? shrink) !== undefined) {
    await notifySandbox(() =>
      runtime.sandboxes.updateResources({ podSandboxId: sandboxId, ...requests.sandboxResources(pod) }, signal),
    );
  }
  await grow?.();
  for (const { name, id } of action.containers) {
    const container = allContainers(pod).find((one) => one.name === name);
    if (container === undefined) continue;
    await runtime.containers.updateResources(id, requests.containerResources(pod, container), signal);
  }
  await shrink?.();
  await inForce.done(pod, names);
}

/** Runtimes that do not size a virtual machine by it need not know; most do not have the call. */
async function notifySandbox(call: () => Promise<void>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!/not implemented|unimplemented|unknown method/i.test(describeError(error))) throw error;
  }
}

interface Shrinking {
  readonly containers: readonly ResizedContainer[];
  readonly shrinksTo: bigint | undefined;
}

/** A limit below what is used would end processes. */
async function checkUsage(limits: LimitsPort, pod: Pod, { containers, shrinksTo }: Shrinking): Promise<void> {
  const problems: string[] = [];
  const check = async (what: string, limit: bigint, id?: string): Promise<void> => {
    const usage = await limits.memoryUsage(pod, id);
    if (usage === undefined) problems.push(`missing ${what} memory usage`);
    else if (usage >= limit)
      problems.push(`attempting to set ${what} memory limit (${limit}) below current usage (${usage})`);
  };
  if (shrinksTo !== undefined && shrinksTo > 0n) await check('pod', shrinksTo);
  for (const { name, id, memoryLimit } of containers) {
    if (memoryLimit !== undefined) await check(`container ${JSON.stringify(name)}`, BigInt(memoryLimit), id);
  }
  if (problems.length === 0) return;
  const text = problems.length === 1 ? problems.join('') : `[${problems.join(', ')}]`;
  throw new ResizeRefusal(`cannot decrease memory limits: ${text}`);
}
