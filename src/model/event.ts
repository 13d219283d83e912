/** Kubernetes events as the parts record them. `events/` counts and sends them. */

export type EventType = 'Normal' | 'Warning';

export interface EventText {
  readonly type: EventType;
  /** One word, such as `Pulled`: programs look for it. */
  readonly reason: string;
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The pod that an event is about; the metadata of a pod fits. */
export interface EventPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion?: string;
}

export interface PodEvent extends EventText {
  readonly pod: EventPod;
  /** The field of the pod that is meant, such as `spec.containers{web}`. */
  readonly container?: string;
}

export interface NodeEvent extends EventText {
  readonly node: true;
}

export type EventInput = PodEvent | NodeEvent;

/** Records the event and returns at once; never throws. */
export type RecordEvent = (event: EventInput) => void;
export type RecordPodEvent = (event: PodEvent) => void;
export type RecordNodeEvent = (event: NodeEvent) => void;
