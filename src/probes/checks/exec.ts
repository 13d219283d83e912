/**
 * A check by a command in the container. The runtime gets the timeout and then ends the command, but only its first process;
 * what that one has started would go on and, by holding its output open, delay even the answer. So the timeout is kept here
 * as well, and what is left of the command is ended.
 */

import { formatDuration } from '../../api/duration.ts';
import type { Clock } from '../../base/clock.ts';
import { CodedError, codeOf } from '../../base/errors.ts';
import { quoteText } from '../../base/go-text.ts';
import { linkSignal } from '../../base/signal.ts';
import { failure, type Outcome, refusal, success } from '../rules/outcome.ts';
import type { ExecLeftovers } from './exec-leftovers.ts';

export interface ExecAnswer {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly exitCode: number;
}

export type ExecSync = (
  request: { readonly containerId: string; readonly command: readonly string[]; readonly timeoutSeconds: number },
  signal: AbortSignal,
) => Promise<ExecAnswer>;

export interface ExecDeps {
  readonly clock: Clock;
  readonly execSync: ExecSync;
  readonly leftovers: ExecLeftovers;
}

export interface ExecCheck {
  readonly containerId: string;
  readonly command: readonly string[];
  readonly timeoutSeconds: number;
}

/** More output is not shown. */
const OUTPUT_LIMIT = 10 * 1024;
/** Commands that take this long may run into their timeout. A look costs a millisecond for each hundred processes of the machine. */
const FIRST_LOOK_MS = 300;
/** So long before the timeout processes are listed often: on a busy machine the command may begin only then. */
const LOOK_BEFORE_MS = 100;
const LOOK_AGAIN_MS = 40;
/** The runtime may answer this much after the timeout; then it is not waited for any more. */
const ANSWER_WITHIN_MS = 100;

const GIVEN_UP = new CodedError('deadline', 'the command was given up at its timeout');

export async function checkExec(deps: ExecDeps, check: ExecCheck, signal: AbortSignal): Promise<Outcome> {
  const { clock, execSync, leftovers } = deps;
  const { timeoutSeconds } = check;
  await leftovers.idle(check.containerId);
  signal.throwIfAborted();
  using call = linkSignal(signal);
  const began = clock.mono();
  const answer = settled(execSync(check, call.signal));
  const early = await within(clock, answer, FIRST_LOOK_MS);
  if (early !== undefined && !isTimeout(early)) return outcomeOf(early, signal);
  const watch = leftovers.watch({ ...check, startedAfterMs: clock.mono() - began });
  const result =
    early ?? (await answerInTime(clock, answer, { until: began + timeoutSeconds * 1000, look: watch.look }));
  if (result !== undefined && !isTimeout(result)) return outcomeOf(result, signal);
  call.abort(GIVEN_UP);
  signal.throwIfAborted();
  watch.end();
  return timedOut(check);
}

interface Waiting {
  readonly until: number;
  readonly look: () => void;
}

async function answerInTime(
  clock: Clock,
  answer: Promise<Settled>,
  { until, look }: Waiting,
): Promise<Settled | undefined> {
  let result = await within(clock, answer, until - LOOK_BEFORE_MS - clock.mono());
  while (result === undefined && clock.mono() < until + ANSWER_WITHIN_MS) {
    look();
    result = await within(clock, answer, LOOK_AGAIN_MS);
  }
  return result;
}

type Settled = { readonly answer: ExecAnswer } | { readonly error: unknown };

function settled(call: Promise<ExecAnswer>): Promise<Settled> {
  return call.then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
}

async function within(clock: Clock, answer: Promise<Settled>, ms: number): Promise<Settled | undefined> {
  const timer = new AbortController();
  const time = clock.sleep(Math.max(ms, 0), timer.signal).catch(() => undefined);
  const first = await Promise.race([answer, time]);
  timer.abort(GIVEN_UP);
  return first ?? undefined;
}

function isTimeout(result: Settled): boolean {
  return 'error' in result && codeOf(result.error) === 'deadline';
}

function timedOut({ command, timeoutSeconds }: ExecCheck): Outcome {
  return failure(
    `command timed out: ${quoteText(command.join(' '))} timed out after ${formatDuration(timeoutSeconds * 1000)}`,
  );
}

function outcomeOf(result: Settled, signal: AbortSignal): Outcome {
  if ('answer' in result) {
    const output = outputOf(result.answer);
    return result.answer.exitCode === 0 ? success(output) : refusal(output);
  }
  signal.throwIfAborted();
  const { error } = result;
  return { kind: 'error', state: 'unknown', message: error instanceof Error ? error.message : String(error) };
}

/** What the command wrote, standard output first, cut to what is worth showing. */
export function outputOf({ stdout, stderr }: ExecAnswer): string {
  const all = Buffer.concat([stdout, stderr]).subarray(0, OUTPUT_LIMIT);
  return all.toString('utf8');
}
