/** Writes events to the API server: made when they happen first, patched when they happen again. */
import { apiPath } from '../api/api-path.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';
import type { KubeClient, KubeErrorData } from '../kube/kube.ts';
import type { PacedSinkDeps } from './paced-sink.ts';
import { apiEvent, apiEventPatch } from './rules/api-event.ts';
import type { Event } from './rules/correlation.ts';
import { createRecentMap } from './rules/recent-map.ts';

export interface ApiSinkDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly client: KubeClient;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Calls when the API server answers again. Answers how to stop listening. */
  readonly onBack: (name: string, listener: () => void) => () => void;
}

const MOST_TRIES = 12;
const RETRY_MS = 10_000;
/** So many events are remembered to be there. */
const REMEMBERED = 4096;

export function createApiSink(deps: ApiSinkDeps, config: { readonly nodeName: string }): PacedSinkDeps['send'] {
  const { client } = deps;
  const log = deps.log.named('events');
  const stored = createRecentMap<true>(REMEMBERED);

  const create = async (event: Event, signal: AbortSignal) => {
    const path = apiPath`/api/v1/namespaces/${event.namespace}/events`;
    await client.request({ method: 'POST', path, body: apiEvent(event, config.nodeName) }, signal);
    stored.set(keyOf(event), true);
  };
  const patch = async (event: Event, signal: AbortSignal) => {
    const path = apiPath`/api/v1/namespaces/${event.namespace}/events/${event.name}`;
    const body = apiEventPatch(event);
    await client.request({ method: 'PATCH', path, patch: 'strategic', body }, signal);
    stored.set(keyOf(event), true);
  };

  const write = async (event: Event, signal: AbortSignal) => {
    const first = stored.get(keyOf(event)) === undefined;
    try {
      await (first ? create(event, signal) : patch(event, signal));
    } catch (error) {
      // Written by a try whose answer was lost; or its time was up there, as events don't stay for long.
      if (first && codeOf(error) === 'exists') await patch(event, signal);
      else if (!first && codeOf(error) === 'notFound') await create(event, signal);
      else throw error;
    }
  };

  return async (event, signal) => {
    for (let tries = 1; ; tries++) {
      try {
        await write(event, signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (isNamespaceEnding(error)) {
          log.v(5)?.info('Server rejected event (will not retry!)', { event: keyOf(event), err: describeError(error) });
          return;
        }
        if (!isAway(error)) throw error;
        if (tries === MOST_TRIES) {
          const why = `not written in ${tries} tries: ${describeError(error)}`;
          throw new CodedError('unavailable', why, { cause: error });
        }
      }
      // The first pause is a random one: not all nodes come back together.
      await pause(deps, tries === 1 ? RETRY_MS * deps.random() : RETRY_MS, signal);
    }
  };
}

const BACK = 'the API server is back';

async function pause({ clock, onBack }: ApiSinkDeps, ms: number, signal: AbortSignal): Promise<void> {
  using waiting = linkSignal(signal);
  const stop = onBack('event sink', () => waiting.abort(BACK));
  try {
    await clock.sleep(ms, waiting.signal);
  } catch (error) {
    if (error !== BACK) throw error;
  } finally {
    stop();
  }
}

const keyOf = ({ namespace, name }: Event): string => `${namespace}/${name}`;

const isAway = (error: unknown): boolean => ['unavailable', 'deadline', 'unauthenticated'].includes(codeOf(error));

/** Its events go with it. */
function isNamespaceEnding(error: unknown): boolean {
  if (!(error instanceof CodedError) || error.code !== 'denied') return false;
  const { status }: KubeErrorData = error.data;
  return (status?.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');
}
