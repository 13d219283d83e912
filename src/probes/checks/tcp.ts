/** A TCP check: a connection can be opened. */
import type { Container, TcpSocketAction } from '../../api/container.ts';
import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { withDeadline } from '../../base/signal.ts';
import { failure, type Outcome, success } from '../rules/outcome.ts';
import { joinHostPort, resolvePort } from '../rules/target.ts';
import { dial } from './dial.ts';

export interface TcpCheck {
  readonly action: TcpSocketAction;
  readonly container: Container;
  readonly podIp: string;
  readonly timeoutMs: number;
}

export async function checkTcp(clock: Clock, check: TcpCheck, signal: AbortSignal): Promise<Outcome> {
  const port = resolvePort(check.action.port, check.container);
  if (!port.ok) return { kind: 'error', state: 'unknown', message: port.problem };
  const host = check.action.host || check.podIp;
  using limit = withDeadline(clock, check.timeoutMs, 'TCP check', signal);
  try {
    const socket = await dial(host, port.value, limit.signal);
    socket.end();
    socket.destroy();
    return success();
  } catch (error) {
    signal.throwIfAborted();
    if (limit.signal.aborted) return failure(`dial tcp ${joinHostPort(host, port.value)}: i/o timeout`);
    return failure(describeOwn(error));
  }
}

/** The text without its causes: those are in it already. */
function describeOwn(error: unknown): string {
  return error instanceof Error ? error.message : describeError(error);
}
