/** Runs the check that a probe describes. */
import type { Container, Probe } from '../../api/container.ts';
import type { ContainerId } from '../../api/ids.ts';
import type { Parsed } from '../../api/parsed.ts';
import type { Clock } from '../../base/clock.ts';
import type { Outcome } from '../rules/outcome.ts';
import { checkExec, type ExecSync } from './exec.ts';
import type { ExecLeftovers } from './exec-leftovers.ts';
import { checkGrpc } from './grpc.ts';
import { checkHttp } from './http.ts';
import { checkTcp } from './tcp.ts';

export interface CheckDeps {
  readonly clock: Clock;
  readonly execSync: ExecSync;
  readonly leftovers: ExecLeftovers;
  /** `$(NAME)` in a command, filled in from the values in the container's own `env`. */
  readonly expand: (words: readonly string[], container: Container) => Parsed<readonly string[]>;
  /** Such as `kube-probe/1.36`. */
  readonly userAgent: string;
}

export interface CheckTarget {
  readonly probe: Probe;
  readonly container: Container;
  readonly containerId: ContainerId;
  /** Undefined while the pod has no address that is known. */
  readonly podIp: string | undefined;
}

const DEFAULT_TIMEOUT_SECONDS = 1;
/** A check that fails to run is tried this often before that is reported. */
const TRIES = 3;

/** Rejects with the signal's reason when it aborts, and only then. */
export async function check(deps: CheckDeps, target: CheckTarget, signal: AbortSignal): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await checkOnce(deps, target, signal);
    if (outcome.kind !== 'error' || tries === TRIES) return outcome;
  }
}

function checkOnce(deps: CheckDeps, target: CheckTarget, signal: AbortSignal): Promise<Outcome> {
  const { clock, userAgent } = deps;
  const { probe, container, containerId } = target;
  const timeoutSeconds = probe.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
  const timeoutMs = timeoutSeconds * 1000;
  if (probe.exec !== undefined) {
    const command = deps.expand(probe.exec.command ?? [], container);
    if (!command.ok) return cannot(`the command of the probe can't be run: ${command.problem}`);
    return checkExec(deps, { containerId, command: command.value, timeoutSeconds }, signal);
  }
  const address = probe.httpGet?.host || probe.tcpSocket?.host || target.podIp;
  if (address === undefined) return cannot('the pod has no IP address that is known');
  const podIp = target.podIp ?? address;
  if (probe.httpGet !== undefined) {
    return checkHttp(clock, { action: probe.httpGet, container, podIp, timeoutMs, userAgent }, signal);
  }
  if (probe.tcpSocket !== undefined) {
    return checkTcp(clock, { action: probe.tcpSocket, container, podIp, timeoutMs }, signal);
  }
  if (probe.grpc !== undefined) {
    const { port, service = '' } = probe.grpc;
    return checkGrpc(clock, { host: podIp, port, service, timeoutMs, userAgent }, signal);
  }
  return cannot(`the probe of container ${container.name} has none of exec, httpGet, tcpSocket, grpc`);
}

function cannot(message: string): Promise<Outcome> {
  return Promise.resolve({ kind: 'error', state: 'unknown', message });
}
