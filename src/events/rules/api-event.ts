/** An event as the API server stores it (core/v1), and what is changed of it when it happens again. */
import { formatTimestamp } from '../../api/timestamp.ts';
import type { Event } from './correlation.ts';

const COMPONENT = 'kubelet';

export function apiEvent(event: Event, nodeName: string): Readonly<Record<string, unknown>> {
  const { apiVersion, kind, namespace, name, uid, resourceVersion, fieldPath } = event.object;
  const annotations = Object.keys(event.annotations).length === 0 ? {} : { annotations: event.annotations };
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: event.name, namespace: event.namespace, ...annotations },
    involvedObject: {
      kind,
      ...filled({ namespace }),
      name,
      uid,
      apiVersion,
      ...filled({ resourceVersion, fieldPath }),
    },
    reason: event.reason,
    message: event.message,
    source: { component: COMPONENT, host: nodeName },
    firstTimestamp: formatTimestamp(event.firstAt),
    lastTimestamp: formatTimestamp(event.lastAt),
    count: event.count,
    type: event.type,
    eventTime: null,
    reportingComponent: COMPONENT,
    reportingInstance: nodeName,
  };
}

/** A message is new where it stands for many that differ. */
export function apiEventPatch({ count, lastAt, message }: Event): Readonly<Record<string, unknown>> {
  return { count, lastTimestamp: formatTimestamp(lastAt), message };
}

function filled(fields: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const texts = Object.entries(fields).filter((field): field is [string, string] => Boolean(field[1]));
  return Object.fromEntries(texts);
}
