/** Makes the pod's sandbox: its log directory, the request, the call. */

import type { SandboxId } from '../api/ids.ts';
import { sandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { describeError } from '../base/errors.ts';
import type { RecordPodEvent } from '../model/event.ts';
import { isInterruption } from '../model/runtime-failure.ts';
import type { LogsPort, RequestsPort, RuntimePort, Turn } from './ports.ts';

export interface SandboxCreateDeps {
  readonly runtime: { readonly sandboxes: Pick<RuntimePort['sandboxes'], 'run'> };
  readonly requests: Pick<RequestsPort, 'sandbox'>;
  readonly logs: Pick<LogsPort, 'ensurePod'>;
  readonly record: RecordPodEvent;
}

export interface SandboxCreate {
  readonly pod: Pod;
  readonly attempt: number;
  readonly turn: Turn;
  /** Aborts when the kubelet stops: a call that has begun is let finish otherwise. */
  readonly signal: AbortSignal;
}

export type SandboxOutcome =
  | { readonly kind: 'made'; readonly id: SandboxId }
  | { readonly kind: 'failed'; readonly message: string };

export async function createSandbox(deps: SandboxCreateDeps, create: SandboxCreate): Promise<SandboxOutcome> {
  const { pod, attempt, signal } = create;
  const fail = (message: string): SandboxOutcome => {
    deps.record({ pod: pod.metadata, type: 'Warning', reason: 'FailedCreatePodSandBox', message });
    return { kind: 'failed', message };
  };
  const request = await deps.requests.sandbox(pod, attempt, signal);
  if (request.kind === 'problem') return fail(`Failed to create pod sandbox: ${request.message}`);
  for (const { reason, message } of request.warnings) {
    deps.record({ pod: pod.metadata, type: 'Warning', reason, message });
  }
  try {
    await deps.logs.ensurePod(pod);
  } catch (error) {
    return fail(`Failed to create pod sandbox: ${describeError(error)}`);
  }
  await create.turn.hold();
  try {
    const { config, runtimeHandler } = request;
    return { kind: 'made', id: sandboxId(await deps.runtime.sandboxes.run({ config, runtimeHandler }, signal)) };
  } catch (error) {
    if (isInterruption(error, signal)) throw error;
    return fail(`Failed to create pod sandbox: ${describeError(error)}`);
  }
}
