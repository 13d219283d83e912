/** Makes the pod's sandbox: its log directory, the request, the call. */

import type { SandboxId } from '../api/ids.ts';
import { sandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { describeError } from '../base/errors.ts';
import { isInterruption } from '../model/runtime-failure.ts';
import type { Actor, ReportStep } from '../model/step.ts';
import type { LogsPort, RequestsPort, RuntimePort, Turn } from './ports.ts';

export interface SandboxCreateDeps {
  readonly runtime: { readonly sandboxes: Pick<RuntimePort['sandboxes'], 'run'> };
  readonly requests: Pick<RequestsPort, 'sandbox'>;
  readonly logs: Pick<LogsPort, 'ensurePod'>;
}

export interface SandboxCreate {
  readonly pod: Pod;
  readonly attempt: number;
  readonly turn: Turn;
  readonly report: ReportStep;
  /** Aborts when the kubelet stops: a call that has begun is let finish otherwise. */
  readonly signal: AbortSignal;
}

export type SandboxOutcome =
  | { readonly kind: 'made'; readonly id: SandboxId }
  | { readonly kind: 'failed'; readonly message: string };

export async function createSandbox(deps: SandboxCreateDeps, create: SandboxCreate): Promise<SandboxOutcome> {
  const { pod, attempt, signal, report } = create;
  const subject = { kind: 'sandbox-create', attempt } as const;
  const fail = (problem: string, actor: Actor): SandboxOutcome => {
    const message = `Failed to create pod sandbox: ${problem}`;
    report({ kind: 'failed', subject, failure: { reason: 'FailedCreatePodSandBox', message, actor } });
    return { kind: 'failed', message };
  };
  report({ kind: 'begun', subject });
  const request = await deps.requests.sandbox(pod, attempt, signal);
  if (request.kind === 'problem') return fail(request.message, 'user');
  for (const { reason, message } of request.warnings)
    report({ kind: 'warning', subject, failure: { reason, message } });
  try {
    await deps.logs.ensurePod(pod);
  } catch (error) {
    return fail(describeError(error), 'node');
  }
  report({ kind: 'queued', subject });
  await create.turn.hold();
  report({ kind: 'begun', subject });
  try {
    const { config, runtimeHandler } = request;
    const id = sandboxId(await deps.runtime.sandboxes.run({ config, runtimeHandler }, signal));
    report({ kind: 'done', subject });
    return { kind: 'made', id };
  } catch (error) {
    if (isInterruption(error, signal)) throw error;
    return fail(describeError(error), 'runtime');
  }
}
