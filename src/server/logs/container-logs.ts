/** `/containerLogs/NAMESPACE/POD/CONTAINER`: the log of a container. */
import { type ContainerId, containerId } from '../../api/ids.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import { allContainers } from '../../api/pod-traits.ts';
import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { quoteText } from '../../base/go-text.ts';
import { type Exchange, notFound, PROXY, type Route, textAnswer } from '../routes.ts';
import type { ServedPod, ServedPods } from '../streams/served-pods.ts';
import type { CutRequest } from './line-cutter.ts';
import type { Followed } from './log-follow.ts';
import { type LogStreamDeps, streamLog } from './log-stream.ts';
import { chooseLog } from './rules/log-choice.ts';
import { type LogRequest, parseLogQuery } from './rules/log-query.ts';
import { createResponseWriter } from './write-response.ts';

/** What the logs need to know of containers. */
export interface LoggingRuntime {
  /** The log file of this container; undefined if the container does not exist any more. */
  logPath(id: ContainerId, signal: AbortSignal): Promise<string | undefined>;
  /** Whether it runs, and a notification when that may have changed. */
  follow(pod: ServedPod, id: ContainerId): Followed;
}

export interface ContainerLogDeps extends LogStreamDeps {
  readonly pods: Pick<ServedPods, 'find'>;
  readonly runtime: LoggingRuntime;
  readonly splitStreams: boolean;
  /** How long a client may read nothing; by default as for every other answer. */
  readonly stallMs?: number;
}

export function createContainerLogRoute(deps: ContainerLogDeps): Route {
  return {
    name: 'containerLogs',
    methods: ['GET'],
    pattern: '/containerLogs/{namespace}/{pod}/{container}',
    access: PROXY,
    port: 'secure',
    switch: 'debugging',
    handle: (exchange) => giveLog(deps, exchange),
  };
}

async function giveLog(deps: ContainerLogDeps, exchange: Exchange): Promise<void> {
  const { namespace = '', pod: name = '', container = '' } = exchange.parameters;
  const query = parseLogQuery(exchange.query, deps);
  if ('refusal' in query) {
    exchange.answer(textAnswer(query.refusal.status, query.refusal.text));
    return;
  }
  const found = deps.pods.find(namespace, name);
  if (found === undefined) {
    exchange.answer(notFound(`pod ${quoteText(name)} does not exist`));
    return;
  }
  if (!allContainers(found.pod).some((one) => one.name === container)) {
    exchange.answer(notFound(`container ${quoteText(container)} not found in pod ${quoteText(name)}`));
    return;
  }
  const source = await findLog(
    deps,
    found,
    { pod: name, container, previous: query.request.previous },
    exchange.signal,
  );
  if (!source.ok) {
    exchange.answer(textAnswer(400, source.problem));
    return;
  }
  await send(deps, exchange, { found, ...source.value, request: query.request });
}

interface Source {
  readonly id: ContainerId;
  readonly path: string;
}

async function findLog(
  { runtime }: ContainerLogDeps,
  found: ServedPod,
  question: Parameters<typeof chooseLog>[1],
  signal: AbortSignal,
): Promise<Parsed<Source>> {
  const chosen = chooseLog(found.status, question);
  if (!chosen.ok) return chosen;
  const id = containerId(chosen.value.replace(/^[^:]*:\/\//, ''));
  const path = await runtime.logPath(id, signal).catch(() => undefined);
  if (path === undefined) return unparsable(`unable to retrieve container logs for ${chosen.value}`);
  return parsed({ id, path });
}

interface Sent extends Source {
  readonly found: ServedPod;
  readonly request: LogRequest;
}

async function send(deps: ContainerLogDeps, exchange: Exchange, { found, id, path, request }: Sent): Promise<void> {
  const { response, signal, log } = exchange;
  response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' });
  // A follower of a silent container must see that the request was accepted.
  response.flushHeaders();
  const writer = createResponseWriter(response, deps.stallMs);
  try {
    await streamLog(
      { ...deps, log },
      {
        path,
        cut: cutOf(request, deps.clock),
        tailLines: request.tailLines,
        follow: request.follow ? deps.runtime.follow(found, id) : undefined,
      },
      writer.write,
      signal,
    );
    writer.end();
  } catch (error) {
    if (!signal.aborted) log.error('Failed to read the log of a container', { err: describeError(error), path });
    // The client must see that the log is incomplete.
    response.destroy();
  }
}

function cutOf(request: LogRequest, clock: Clock): CutRequest {
  const now = clock.now() / 1000;
  const since =
    request.sinceSeconds === undefined
      ? request.sinceTime
      : { seconds: Math.floor(now - request.sinceSeconds), nanos: Math.floor((now % 1) * 1e9) };
  const { timestamps, stdout, stderr, limitBytes = Number.POSITIVE_INFINITY } = request;
  return { timestamps, since, stdout, stderr, limitBytes };
}
