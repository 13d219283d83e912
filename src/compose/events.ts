/** Kubernetes events: recorded here, sent to the API server where there is one. */
import type { Config } from '../config/config.ts';
import { createApiSink } from '../events/api-sink.ts';
import { createEvents, DEFAULT_REMEMBERED_EVENTS, type Events } from '../events/events.ts';
import type { Kube } from '../kube/kube.ts';
import type { PartDeps } from './compose.ts';

export function composeEvents({ kubelet }: Config, deps: PartDeps, kube: Kube | undefined): Events {
  const { clock, log, supervisor, nodeName } = deps;
  const { eventRecordQPS: perSecond, eventBurst: burst } = kubelet;
  const sink =
    kube && createApiSink({ clock, log, client: kube.events, onBack: kube.onBack, random: Math.random }, { nodeName });
  return createEvents(
    { nodeName, remember: DEFAULT_REMEMBERED_EVENTS, perSecond, burst },
    { clock, log, supervisor, ...(sink && { send: sink }) },
  );
}
