/**
 * The public entry point of the status: computes it from what a worker publishes and from what probes find, keeps the latest of each
 * pod for its readers, and notifies of changes. No other part derives a status for others.
 */
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { PodStatus, QosClass } from '../api/pod-status.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import { createListeners } from '../base/listeners.ts';
import type { Logger, LogValues } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { DeviceHealth } from '../model/device.ts';
import type { PodUpdate, PodView } from '../model/pod-view.ts';
import type { ProbeResults } from '../model/probe-results.ts';
import { type KnownStatus, nextStatus } from './rules/next-status.ts';
import type { StatusGates } from './rules/status-input.ts';
import { statusView } from './rules/status-view.ts';

export interface PodStatusChange {
  readonly uid: PodUid;
  readonly pod: Pod;
  /** As others may see it: ended only when nothing of the pod runs. */
  readonly status: PodStatus;
  /** The status of this pod does not change any more. */
  readonly final: boolean;
}

export interface StatusDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Pick<Supervisor, 'guard'>;
  /** What probes have found by now. */
  probes(): ProbeResults;
  /** The node's own addresses, the preferred family first; empty where they are not known. */
  nodeIps(): readonly string[];
  /** What container ids begin with, such as `containerd`. */
  runtimeName(): string;
  qosClassOf(pod: Pod): QosClass;
  /** Whether the pod's runtime handler can make a whole tree of mounts read-only. */
  recursiveReadOnly(pod: Pod): boolean;
  /** The devices that a container has, by resource. */
  deviceHealth?(uid: PodUid, container: string): readonly DeviceHealth[];
  readonly gates: StatusGates;
}

export interface Statuses extends Part {
  /** What a worker publishes: every view becomes a status, until the pod is gone. */
  follow(update: PodUpdate): void;
  /** A verdict on a container of this pod has changed: it goes into the status at once, with what else is known of the pod. */
  probesChanged(uid: PodUid): void;
  /** The health of a device of this pod has changed. */
  devicesChanged(uid: PodUid): void;
  /** As others see it. */
  get(uid: PodUid): PodStatus | undefined;
  /** Called on each change, in the order of subscription. The name is for the log. Returns the way to end it. */
  subscribe(name: string, listener: (change: PodStatusChange) => void): () => void;
}

interface Entry {
  readonly view: PodView;
  readonly known: KnownStatus;
}

export function createStatus(deps: StatusDeps): Statuses {
  const { clock, log, supervisor } = deps;
  const entries = new Map<PodUid, Entry>();
  const listeners = createListeners<PodStatusChange>({ supervisor, clock, keyOf: ({ uid }) => uid, about: aboutPod });

  const publish = (view: PodView): void => {
    const before = entries.get(view.uid)?.known;
    const { known, isChange } = nextStatus(before, statusView(view, deps.probes()), {
      qosClass: view.pod.status?.qosClass ?? deps.qosClassOf(view.pod),
      nodeIps: deps.nodeIps(),
      runtimeName: deps.runtimeName(),
      recursiveReadOnly: deps.recursiveReadOnly(view.pod),
      now: clock.now(),
      deviceHealth: (container) => deps.deviceHealth?.(view.uid, container) ?? [],
      gates: deps.gates,
    });
    entries.set(view.uid, { view, known });
    if (!isChange) return;
    log.v(2)?.info('Pod status changed', { ...aboutPod(known.change), status: known.change.status });
    listeners.notify(known.change);
  };

  /** A pod that ends is published by its worker alone. */
  const publishAgain = (uid: PodUid): void => {
    const view = entries.get(uid)?.view;
    if (view?.step === 'syncing') supervisor.guard('status', { podUID: uid }, () => publish(view));
  };

  return {
    name: 'statuses',
    start: () => undefined,
    stop: listeners.stop,
    follow: (update) => {
      if (update.kind === 'gone') entries.delete(update.uid);
      else publish(update.view);
    },
    probesChanged: publishAgain,
    devicesChanged: publishAgain,
    get: (uid) => entries.get(uid)?.known.change.status,
    subscribe: listeners.add,
  };
}

function aboutPod({ uid, pod: { metadata } }: PodStatusChange): LogValues {
  return { pod: `${metadata.namespace}/${metadata.name}`, podUID: uid };
}
