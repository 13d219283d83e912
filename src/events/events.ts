/**
 * What happened to a pod or to this node, for people to read. The public entry point: every part records here, and events go to
 * the log, to a bounded store in memory and, where there is one, to a sink such as the API server.
 */

import { isDnsSubdomain } from '../api/names.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import { createListeners } from '../base/listeners.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { EventInput, RecordEvent } from '../model/event.ts';
import { createPacedSink, type PacedSinkDeps } from './paced-sink.ts';
import { boundTexts, createCorrelator, type Event, type InvolvedObject } from './rules/correlation.ts';
import { createRecentMap } from './rules/recent-map.ts';

/** As it is counted and shown. */
export type RecordedEvent = Event;

export interface Events extends Part {
  readonly record: RecordEvent;
  /** What is remembered, longest unchanged first: all, or that of one pod. */
  list(pod?: { readonly uid: string }): readonly RecordedEvent[];
  /** Calls with each event as it is after it was counted. The name is for the log. Answers how to stop listening. */
  subscribe(name: string, listener: (event: RecordedEvent) => void): () => void;
}

export interface EventsConfig {
  readonly nodeName: string;
  /** So many different events are remembered. */
  readonly remember: number;
  /** eventRecordQPS and eventBurst: how fast events leave the node. */
  readonly perSecond: number;
  readonly burst: number;
}

export interface EventsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  /** Where events go beyond this process; none when standalone. */
  readonly send?: PacedSinkDeps['send'];
}

export const DEFAULT_REMEMBERED_EVENTS = 2000;

export function createEvents(config: EventsConfig, deps: EventsDeps): Events {
  const { clock, supervisor } = deps;
  const log = deps.log.named('events');
  const correlator = createCorrelator();
  const store = createRecentMap<Event>(config.remember);
  const keyOf = ({ namespace, name }: Event) => `${namespace}/${name}`;
  const about = ({ object }: Event) => ({ object: `${object.namespace}/${object.name}`, kind: object.kind });
  const listeners = createListeners<Event>({ supervisor, clock, keyOf, about });
  const sink =
    deps.send === undefined ? undefined : createPacedSink(config, { clock, log, supervisor, send: deps.send });
  let serial = 0;

  const record: RecordEvent = (input) => {
    serial += 1;
    const { event, spam } = correlator.correlate(makeEvent(input, config.nodeName, { now: clock.now(), serial }));
    store.set(keyOf(event), event);
    listeners.notify(event);
    // Counting goes on here; the log and the listeners get no more of an object that never stops.
    if (spam) return;
    logEvent(log, event);
    sink?.offer(event);
  };

  return {
    name: 'events',
    record,
    list: (pod) => [...store.values()].filter(({ object }) => pod === undefined || object.uid === pod.uid),
    subscribe: listeners.add,
    start: (signal) => sink?.start(signal),
    stop: () => {
      listeners.stop();
      return sink?.stop?.();
    },
  };
}

function logEvent(log: Logger, { object, type, reason, message, count }: Event): void {
  const name = object.namespace === '' ? object.name : `${object.namespace}/${object.name}`;
  log.info('Event occurred', {
    object: name,
    kind: object.kind,
    ...(object.fieldPath === '' ? {} : { fieldPath: object.fieldPath }),
    type,
    reason,
    message,
    ...(count > 1 ? { count } : {}),
  });
}

function makeEvent(input: EventInput, nodeName: string, at: { readonly now: number; readonly serial: number }): Event {
  const object = involvedObject(input, nodeName);
  // Names end in nanoseconds; the serial number keeps those of one millisecond apart.
  const suffix = (BigInt(Math.floor(at.now)) * 1_000_000n + BigInt(at.serial % 1_000_000)).toString(16);
  const name = `${object.name}.${suffix}`;
  return boundTexts({
    name: isDnsSubdomain(name) ? name : `event.${suffix}`,
    namespace: object.namespace || 'default',
    object,
    type: input.type,
    reason: input.reason,
    message: input.message,
    annotations: input.annotations ?? {},
    firstAt: at.now,
    lastAt: at.now,
    count: 1,
  });
}

function involvedObject(input: EventInput, nodeName: string): InvolvedObject {
  // The reference, too, puts the name where the node's UID belongs.
  const node = { kind: 'Node', name: nodeName, namespace: '', uid: nodeName, fieldPath: '' } as const;
  if (!('pod' in input)) return { apiVersion: 'v1', ...node };
  const { uid, name, namespace, resourceVersion } = input.pod;
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  return { apiVersion: 'v1', kind: 'Pod', name, namespace, uid, ...version, fieldPath: input.container ?? '' };
}
