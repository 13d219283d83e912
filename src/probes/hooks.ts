/** Runs lifecycle hooks. They reach a container in the same ways as probes, but any answer counts as a success. */

import type { HttpGetAction, TcpSocketAction } from '../api/container.ts';
import { podTitle } from '../api/pod-traits.ts';
import type { Clock } from '../base/clock.ts';
import { quoteText } from '../base/go-text.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { Hook } from '../model/hook.ts';
import { dial } from './checks/dial.ts';
import { type ExecSync, outputOf } from './checks/exec.ts';
import { get } from './checks/http.ts';
import { PLAIN_HTTP } from './checks/http-exchange.ts';
import {
  formatTarget,
  httpTarget,
  joinHostPort,
  type RequestHeaders,
  requestHeaders,
  resolvePort,
} from './rules/target.ts';

export interface HooksDeps {
  readonly clock: Clock;
  readonly execSync: ExecSync;
  readonly nodeIps: () => readonly string[];
  readonly record: RecordPodEvent;
  /** An HTTPS hook was answered in plain HTTP, and succeeded when it was sent again over HTTP. */
  readonly onHttpFallback?: (() => void) | undefined;
  /** Such as `kube-lifecycle/1.36`. */
  readonly userAgent: string;
}

export interface Hooks {
  /** Undefined when it went well, else why not. Rejects with the signal's reason as soon as it aborts. */
  run(hook: Hook, signal: AbortSignal): Promise<string | undefined>;
}

export function createHooks(deps: HooksDeps): Hooks {
  return {
    run: async (hook, signal) => {
      const { exec, httpGet, tcpSocket, sleep } = hook.handler;
      try {
        if (exec !== undefined) return await runExec(deps, hook, exec.command ?? [], signal);
        if (httpGet !== undefined) return await runHttp(deps, hook, httpGet, signal);
        if (sleep !== undefined) return void (await deps.clock.sleep(sleep.seconds * 1000, signal));
        if (tcpSocket !== undefined) return await runTcp(deps, hook, tcpSocket, signal);
        return 'Cannot run handler: it has none of exec, httpGet, sleep, tcpSocket';
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      }
    },
  };
}

async function runExec(
  { execSync }: HooksDeps,
  hook: Hook,
  command: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const failed = (error: string, output: string) =>
    `Exec lifecycle hook ([${command.join(' ')}]) ${placeOf(hook)} failed - error: ${error}, message: ${quoteText(output)}`;
  try {
    const answer = await execSync({ containerId: hook.containerId, command, timeoutSeconds: 0 }, signal);
    if (answer.exitCode === 0) return undefined;
    const errorOutput = Buffer.from(answer.stderr).toString('utf8');
    return failed(`command '${command.join(' ')}' exited with ${answer.exitCode}: ${errorOutput}`, outputOf(answer));
  } catch (error) {
    signal.throwIfAborted();
    return failed(textOf(error), '');
  }
}

async function runHttp(
  deps: HooksDeps,
  hook: Hook,
  action: HttpGetAction,
  signal: AbortSignal,
): Promise<string | undefined> {
  const failed = (why: string) => `HTTP lifecycle hook (${action.path ?? ''}) ${placeOf(hook)} failed - error: ${why}`;
  const podIp = action.host || addressOf(deps, hook);
  if (podIp === undefined) return failed('the pod has no IP address that is known');
  const target = httpTarget(action, hook.container, podIp);
  if (!target.ok) return failed(target.problem);
  const headers = requestHeaders(action.httpHeaders, deps.userAgent);
  try {
    // Any answer is a success: the hook was delivered.
    await get(target.value, headers, signal);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    const problem = failed(`Get ${quoteText(formatTarget(target.value))}: ${textOf(error)}`);
    if (textOf(error) !== PLAIN_HTTP) return problem;
    const plain = { ...target.value, scheme: 'http' as const };
    const isDelivered = await get(plain, withoutCredentials(headers), signal).then(
      () => true,
      () => false,
    );
    signal.throwIfAborted();
    if (!isDelivered) return problem;
    deps.onHttpFallback?.();
    const address = joinHostPort(plain.host, plain.port);
    const message = `request to HTTPS lifecycle hook ${address} got HTTP response, retry with HTTP succeeded`;
    deps.record({ pod: hook.pod.metadata, type: 'Warning', reason: 'LifecycleHTTPFallback', message });
    return undefined;
  }
}

async function runTcp(
  deps: HooksDeps,
  hook: Hook,
  action: TcpSocketAction,
  signal: AbortSignal,
): Promise<string | undefined> {
  const failed = (why: string) => `TCP lifecycle hook ${placeOf(hook)} failed - error: ${why}`;
  const host = action.host || addressOf(deps, hook);
  if (host === undefined) return failed('the pod has no IP address that is known');
  const port = resolvePort(action.port, hook.container);
  if (!port.ok) return failed(port.problem);
  try {
    const socket = await dial(host, port.value, signal);
    socket.destroy();
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return failed(textOf(error));
  }
}

function addressOf({ nodeIps }: HooksDeps, { pod, podIps }: Hook): string | undefined {
  return pod.spec.hostNetwork === true ? (nodeIps()[0] ?? podIps[0]) : podIps[0];
}

/** Credentials must not be sent unencrypted. */
function withoutCredentials(headers: RequestHeaders): RequestHeaders {
  return { ...headers, others: headers.others.filter(([name]) => name.toLowerCase() !== 'authorization') };
}

function placeOf({ container, pod }: Hook): string {
  return `for Container ${quoteText(container.name)} in Pod ${quoteText(podTitle(pod))}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
