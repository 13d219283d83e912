/** Credentials of an exec plugin. It runs when there are none, when they have expired, and when the server refuses them. */
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { linkSignal } from '../base/signal.ts';
import { type RunProgram, runProgram } from '../host/program.ts';
import type { TlsMaterial } from './pem-files.ts';
import { type ExecCredential, formatExecInfo, parseExecCredential } from './rules/exec-credential.ts';
import type { ClusterAccess } from './rules/kubeconfig.ts';
import type { ExecAccess } from './rules/kubeconfig-user.ts';
import { abortable } from './shared.ts';

export interface ExecPlugin {
  /** The current ones, or new ones if these have expired. */
  credential(signal: AbortSignal): Promise<ExecCredential>;
  /** The server refused these. Resolves with new ones, or with the same if the plugin ran only a moment ago. */
  replace(refused: ExecCredential, signal: AbortSignal): Promise<ExecCredential>;
  stop(): void;
}

export interface ExecPluginDeps {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly run?: RunProgram;
}

/** A plugin may have to wait for a directory server; the reference has no limit. */
const DEADLINE_MS = 60_000;
/** A server that refuses everything must not start a program for every request. */
const REPLACE_GAP_MS = 10_000;

export function createExecPlugin(
  deps: ExecPluginDeps,
  exec: ExecAccess,
  target: { readonly cluster: ClusterAccess; readonly authority: () => Promise<TlsMaterial['ca']> },
): ExecPlugin {
  const { clock } = deps;
  const closing = linkSignal();
  let kept: ExecCredential | undefined;
  let running: Promise<ExecCredential> | undefined;
  let replacedAt: number | undefined;

  const ask = async (): Promise<ExecCredential> => {
    const cluster = exec.provideClusterInfo ? target.cluster : undefined;
    const info = formatExecInfo(exec.apiVersion, cluster, cluster && (await target.authority()));
    const environment = { ...deps.environment, ...exec.env, KUBERNETES_EXEC_INFO: info };
    const output = await runPlugin({ ...deps, environment }, exec, closing.signal);
    const answer = parseExecCredential(output, exec.apiVersion);
    if (!answer.ok) throw new CodedError('unavailable', `credential plugin ${exec.command}: ${answer.problem}`);
    kept = answer.value;
    return answer.value;
  };
  const share = (signal: AbortSignal) => {
    running ??= ask().finally(() => {
      running = undefined;
    });
    return abortable(running, signal);
  };
  return {
    credential: (signal) => {
      const good = kept !== undefined && (kept.expiresAt === undefined || clock.now() < kept.expiresAt);
      return good && kept !== undefined ? Promise.resolve(kept) : share(signal);
    },
    replace: (refused, signal) => {
      if (kept !== undefined && kept !== refused) return Promise.resolve(kept);
      const now = clock.mono();
      if (replacedAt !== undefined && now - replacedAt < REPLACE_GAP_MS) return Promise.resolve(refused);
      replacedAt = now;
      return share(signal);
    },
    stop: () => closing.abort(new CodedError('unavailable', 'the client was closed')),
  };
}

async function runPlugin(deps: ExecPluginDeps, exec: ExecAccess, signal: AbortSignal): Promise<string> {
  const { clock, environment, run = runProgram } = deps;
  const program = { path: exec.command, args: exec.args, environment, input: '' };
  try {
    return await run(program, { clock, deadlineMs: DEADLINE_MS, signal });
  } catch (cause) {
    signal.throwIfAborted();
    const hint = exec.installHint === '' ? '' : ` (${exec.installHint.trim()})`;
    throw new CodedError('unavailable', `credential plugin ${exec.command} gave no credentials${hint}`, { cause });
  }
}
