/** What the kubelet reports, over one stream: kept here, and shown again whenever it changes. */
import { useEffect, useState } from 'preact/hooks';
import type { PageFacts } from '../src/page/routes.ts';
import type { ShownPod } from '../src/page/rules/pod-list.ts';
import type { Point } from '../src/page/rules/series.ts';

export interface Line {
  readonly times: number[];
  readonly points: Point[];
}

export interface Explained {
  readonly subject: { readonly kind: string } & Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly state: { readonly kind: string; readonly since: number; readonly actor?: string };
  readonly failures: number;
  readonly lastError?: { readonly reason: string; readonly message: string };
  readonly retryAt?: number;
}

export interface PodEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly lastAt: number;
  readonly count: number;
}

// biome-ignore lint/suspicious/noExplicitAny: a pod is shown field by field, as it is
export type Loose = any;

export interface Detail {
  readonly pod: Loose;
  readonly why: string;
  readonly steps: readonly Explained[];
  readonly events: readonly PodEvent[];
}

export interface Seen {
  readonly isOpen: boolean;
  readonly facts: PageFacts | undefined;
  /** An hour at a distance of some seconds, and five minutes by the second. */
  readonly hour: Line;
  readonly live: Line;
  readonly pods: ReadonlyMap<string, ShownPod>;
  readonly use: Readonly<Record<string, readonly [number | null, number | null]>>;
  readonly podHour: Line;
  /** Of the shown pod, by container; the pod itself under the empty name. */
  readonly podLive: ReadonlyMap<string, Line>;
  readonly detail: Detail | null | undefined;
}

const LIVE_MS = 300_000;
const HOUR_MS = 3_600_000;
const HOUR_STEP_MS = 15_000;

const nothing = (): Seen => ({
  isOpen: false,
  facts: undefined,
  hour: { times: [], points: [] },
  live: { times: [], points: [] },
  pods: new Map(),
  use: {},
  podHour: { times: [], points: [] },
  podLive: new Map(),
  detail: undefined,
});

/** Adds at the end, and forgets what is older than the line is long. */
function push({ times, points }: Line, time: number, point: Point, lengthMs: number): Line {
  const from = times.findIndex((one) => one >= time - lengthMs);
  const start = from === -1 ? times.length : from;
  return { times: [...times.slice(start), time], points: [...points.slice(start), point] };
}

const pushSeldom = (line: Line, time: number, point: Point): Line =>
  time - (line.times.at(-1) ?? 0) >= HOUR_STEP_MS ? push(line, time, point, HOUR_MS) : line;

/** What is kept of the last minutes stands in until there are live values. */
const recent = ({ times, points }: Line): Line => {
  const from = times.findIndex((time) => time >= Date.now() - LIVE_MS);
  return from === -1 ? { times: [], points: [] } : { times: times.slice(from), points: points.slice(from) };
};

type Message = Readonly<Record<string, Loose>>;

function take(seen: Seen, name: string, message: Message): Seen {
  switch (name) {
    case 'hello': {
      const podHour = message['podHistory'] ?? { times: [], points: [] };
      return {
        ...nothing(),
        isOpen: true,
        facts: message['facts'],
        hour: message['history'],
        live: recent(message['history']),
        podHour,
        podLive: new Map([['', recent(podHour)]]),
      };
    }
    case 'pods': {
      const pods = new Map(seen.pods);
      for (const pod of message['changed']) pods.set(pod.uid, pod);
      for (const uid of message['gone']) pods.delete(uid);
      return { ...seen, pods };
    }
    case 'sample': {
      const { time, node, pods, detail } = message;
      const lines = Object.entries((detail ?? {}) as Record<string, Point>).map(
        ([container, point]) =>
          [container, push(seen.podLive.get(container) ?? { times: [], points: [] }, time, point, LIVE_MS)] as const,
      );
      return {
        ...seen,
        use: pods,
        live: push(seen.live, time, node, LIVE_MS),
        hour: pushSeldom(seen.hour, time, node),
        podLive: new Map([...seen.podLive, ...lines]),
        podHour: detail === undefined ? seen.podHour : pushSeldom(seen.podHour, time, detail['']),
      };
    }
    case 'pod':
      return { ...seen, detail: message as unknown as Detail | null };
    default:
      return seen;
  }
}

/** `pod`: the one whose details are shown. The browser opens the stream again when it breaks. */
export function useStream(pod: string | undefined): Seen {
  const [seen, setSeen] = useState(nothing);
  useEffect(() => {
    const source = new EventSource(pod === undefined ? '/page/stream' : `/page/stream?pod=${encodeURIComponent(pod)}`);
    for (const name of ['hello', 'pods', 'sample', 'pod'])
      source.addEventListener(name, (event) => setSeen((before) => take(before, name, JSON.parse(event.data))));
    source.addEventListener('error', () => setSeen((before) => ({ ...before, isOpen: false })));
    return () => source.close();
  }, [pod]);
  return seen;
}
