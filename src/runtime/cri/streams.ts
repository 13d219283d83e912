import {
  type AttachRequest,
  type ExecRequest,
  type ExecSyncResponse,
  RuntimeService,
} from '../../wire/gen/cri-runtime-v1.ts';
import type { GrpcClient } from '../../wire/grpc-client.ts';
import type { Init } from '../../wire/message.ts';
import { type CriTimeouts, execSyncDeadline } from './timeouts.ts';

export interface CriStreams {
  /** Runs a command to its end. The runtime kills it at the timeout (whole seconds, 0: none) and answers `deadline`. */
  execSync(request: ExecSync, signal: AbortSignal): Promise<ExecSyncResponse>;
  /** The address of the runtime's streaming server for this session. */
  exec(request: Init<ExecRequest>, signal: AbortSignal): Promise<string>;
  attach(request: Init<AttachRequest>, signal: AbortSignal): Promise<string>;
  portForward(
    request: { readonly podSandboxId: string; readonly port: readonly number[] },
    signal: AbortSignal,
  ): Promise<string>;
}

export interface ExecSync {
  readonly containerId: string;
  readonly command: readonly string[];
  readonly timeoutSeconds: number;
}

export function createStreamCalls(grpc: GrpcClient, timeouts: CriTimeouts): CriStreams {
  const deadline = timeouts.request;
  return {
    execSync: ({ containerId, command, timeoutSeconds }, signal) => {
      const limits = { signal, deadline: execSyncDeadline(timeouts, timeoutSeconds) };
      return grpc.unary(RuntimeService.execSync, { containerId, cmd: command, timeout: timeoutSeconds }, limits);
    },
    exec: async (request, signal) => (await grpc.unary(RuntimeService.exec, request, { signal, deadline })).url,
    attach: async (request, signal) => (await grpc.unary(RuntimeService.attach, request, { signal, deadline })).url,
    portForward: async (request, signal) =>
      (await grpc.unary(RuntimeService.portForward, request, { signal, deadline })).url,
  };
}
