/** What happened to a pod or to this node, for people to read. The front door of the recorder. */
export type EventType = 'Normal' | 'Warning';

export interface EventPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

interface EventText {
  readonly type: EventType;
  /** One word, such as `Pulled`: programs look for it. */
  readonly reason: string;
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export type EventInput = EventText &
  (
    | {
        readonly pod: EventPod;
        /** The part of the pod that is meant, such as `spec.containers{web}`. */
        readonly container?: string;
      }
    | { readonly node: true }
  );

/** Takes note and returns at once; never throws. */
export type RecordEvent = (event: EventInput) => void;
