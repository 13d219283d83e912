/** An HTTP check: an answer from 200 to 399, after redirects on the same host. */
import type { Container, HttpGetAction } from '../../api/container.ts';
import type { Clock } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import { quoteText } from '../../base/go-text.ts';
import { withDeadline } from '../../base/signal.ts';
import { failure, type Outcome, refusal, success } from '../rules/outcome.ts';
import { formatTarget, type HttpTarget, httpTarget, type RequestHeaders, requestHeaders } from '../rules/target.ts';
import { type Answer, BrokenBody, exchange } from './http-exchange.ts';

export interface HttpCheck {
  readonly action: HttpGetAction;
  readonly container: Container;
  readonly podIp: string;
  readonly timeoutMs: number;
  readonly userAgent: string;
}

const BODY_LIMIT = 10 * 1024;
const MOST_REDIRECTS = 10;

const TIMEOUT = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
const TIMEOUT_IN_BODY = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';

export async function checkHttp(clock: Clock, check: HttpCheck, signal: AbortSignal): Promise<Outcome> {
  const target = httpTarget(check.action, check.container, check.podIp);
  if (!target.ok) return { kind: 'error', state: 'unknown', message: target.problem };
  const headers = requestHeaders(check.action.httpHeaders, check.userAgent);
  using limit = withDeadline(clock, check.timeoutMs, 'HTTP check', signal);
  try {
    return judge(await get(target.value, headers, limit.signal));
  } catch (error) {
    signal.throwIfAborted();
    const late = limit.signal.aborted;
    if (error instanceof BrokenBody) {
      return { kind: 'error', state: 'failure', message: late ? TIMEOUT_IN_BODY : error.message };
    }
    if (error instanceof GetFailure) return failure(error.message);
    return failure(getProblem(formatTarget(target.value), late ? TIMEOUT : textOf(error)));
  }
}

function judge({ status, body }: Answer): Outcome {
  if (status < 200 || status >= 400) return refusal(`HTTP probe failed with statuscode: ${status}`);
  if (status < 300) return success(body);
  return { kind: 'warning', output: `Probe terminated redirects, Response body: ${body}` };
}

class GetFailure extends Error {}

const getProblem = (url: string, why: string): string => `Get ${quoteText(url)}: ${why}`;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** GET, following redirects as long as they stay on the host; one that leads away is the answer itself. */
export async function get(target: HttpTarget, headers: RequestHeaders, signal: AbortSignal): Promise<Answer> {
  let at = target;
  let sent = headers;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await exchange({ target: at, headers: sent, bodyLimit: BODY_LIMIT }, signal).catch((error) => {
      if (signal.aborted || redirects === 0 || error instanceof BrokenBody) throw error;
      throw new GetFailure(getProblem(formatTarget(at), textOf(error)));
    });
    const next = redirectOf(answer, at);
    if (next === undefined || next.host !== target.host) return answer;
    if (redirects + 1 >= MOST_REDIRECTS) {
      throw new GetFailure(getProblem(answer.location ?? '', `stopped after ${MOST_REDIRECTS} redirects`));
    }
    if (next.isAbsolute) sent = { ...headers, host: undefined };
    at = next;
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function redirectOf(
  { status, location }: Answer,
  from: HttpTarget,
): (HttpTarget & { readonly isAbsolute: boolean }) | undefined {
  if (!REDIRECTS.has(status) || location === undefined || location === '') return undefined;
  const url = URL.parse(location, formatTarget(from));
  if (url === null) {
    throw new CodedError('invalid', `failed to parse Location header ${quoteText(location)}`);
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https') {
    if (host !== from.host) return { ...from, host, isAbsolute: true };
    throw new GetFailure(getProblem(location, `unsupported protocol scheme ${quoteText(scheme)}`));
  }
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port);
  return { scheme, host, port, path: `${url.pathname}${url.search}`, isAbsolute: URL.canParse(location) };
}
