/**
 * What open pages show, as it changes: samples every second while someone watches, else as often as the past is kept; rows of pods and
 * the details of watched ones when they differ from what was last sent.
 */
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import { linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import type { UsageSample } from '../model/usage-sample.ts';
import { createHistory, type History, KEPT_EVERY_MS } from './history.ts';
import type { ShownPod } from './rules/pod-list.ts';
import { type Rates, ratesBetween } from './rules/rates.ts';
import type { Point } from './rules/series.ts';

/** What a page receives, by the name of the event. */
export interface Messages {
  readonly pods: { readonly changed: readonly ShownPod[]; readonly gone: readonly string[] };
  readonly sample: {
    readonly time: number;
    readonly node: Point;
    /** Cores and bytes by UID. */
    readonly pods: Readonly<Record<string, readonly [cpu: number | null, memory: number | null]>>;
    /** Of the watched pod: itself under the empty name, and its containers. */
    readonly detail?: Readonly<Record<string, Point>>;
  };
  readonly pod: object | null;
}

export type Send = <Name extends keyof Messages>(name: Name, message: Messages[Name]) => void;

export interface Watcher {
  /** The pod whose details it shows, as `namespace/name`; undefined: none. */
  readonly pod: string | undefined;
  readonly send: Send;
}

export interface FeedDeps {
  readonly clock: Clock;
  readonly supervisor: Pick<Supervisor, 'run'>;
  readonly sample: (
    request: { readonly detail: boolean; readonly uids: ReadonlySet<string> },
    signal: AbortSignal,
  ) => Promise<UsageSample>;
  readonly pods: () => readonly ShownPod[];
  /** Calls when some pod may have changed. */
  readonly onPodChange: (listener: () => void) => () => void;
  /** Everything of one pod; null: there is none. */
  readonly detail: (namespace: string, name: string) => object | null;
}

export interface Feed extends Part {
  readonly history: Pick<History, 'node' | 'pod'>;
  /** Sends all that is known, then what changes. Answers how to end it. */
  join(watcher: Watcher): () => void;
}

const LIVE_MS = 1000;
/** Changes of pods within this time are sent together. */
const GATHER_MS = 100;

interface Joined extends Watcher {
  readonly rows: Map<string, string>;
  detail: string | undefined;
}

export function createFeed(deps: FeedDeps): Feed {
  const { clock, supervisor } = deps;
  const history = createHistory();
  const watchers = new Set<Joined>();
  const changed = createWakeBit();
  const joined = createWakeBit();
  let running: Promise<unknown> = Promise.resolve();
  const sampling = createSampling(deps, history, watchers);

  const rest = async (signal: AbortSignal): Promise<void> => {
    using soon = linkSignal(signal);
    const due = clock.sleep(watchers.size > 0 ? LIVE_MS : KEPT_EVERY_MS, soon.signal);
    const woken = watchers.size > 0 ? due : joined.wait(soon.signal);
    await Promise.race([due, woken]).finally(() => soon.abort('rested'));
    await Promise.allSettled([due, woken]);
    signal.throwIfAborted();
  };
  const sendChanges = async (signal: AbortSignal): Promise<void> => {
    await clock.sleep(GATHER_MS, signal);
    sendPods(deps, watchers);
  };

  return {
    name: 'page',
    history,
    start: (signal) => {
      const stop = deps.onPodChange(() => {
        if (watchers.size > 0) changed.wake();
      });
      signal.addEventListener('abort', stop, { once: true });
      running = Promise.all([
        supervisor.run({ name: 'page samples', pass: sampling, rest }, signal),
        supervisor.run({ name: 'page pods', pass: sendChanges, restFirst: true, rest: changed.wait }, signal),
      ]);
    },
    stop: async () => {
      await running;
    },
    join: (watcher) => {
      const one: Joined = { ...watcher, rows: new Map(), detail: undefined };
      watchers.add(one);
      sendPods(deps, new Set([one]));
      joined.wake();
      return () => void watchers.delete(one);
    },
  };
}

function createSampling({ sample, pods, detail }: FeedDeps, history: History, watchers: ReadonlySet<Joined>) {
  let last: UsageSample | undefined;
  let kept: UsageSample | undefined;
  return async (signal: AbortSignal): Promise<void> => {
    const watched = new Set([...watchers].map(({ pod }) => pod));
    const uidOf = new Map(pods().map((pod) => [`${pod.namespace}/${pod.name}`, pod.uid]));
    const uids = new Set([...watched].flatMap((name) => uidOf.get(name ?? '') ?? []));
    const found = await sample({ detail: watchers.size > 0, uids }, signal);
    if (kept === undefined || found.time - kept.time >= KEPT_EVERY_MS - LIVE_MS / 2 || found.time < kept.time) {
      // The first sample has no rates.
      if (kept !== undefined) history.add(ratesBetween(kept, found));
      kept = found;
    }
    if (watchers.size > 0) {
      sendSample(ratesBetween(last, found), watchers, uidOf);
      sendPods({ pods, detail }, watchers);
    }
    last = watchers.size > 0 ? found : undefined;
  };
}

function sendSample(rates: Rates, watchers: ReadonlySet<Joined>, uidOf: ReadonlyMap<string, string>): void {
  const { time, node } = rates;
  const pods = Object.fromEntries(
    [...rates.pods].map(
      ([
        uid,
        {
          point: [cpu, memory],
        },
      ]) => [uid, [cpu, memory] as const],
    ),
  );
  for (const { pod = '', send } of watchers) {
    const found = rates.pods.get(uidOf.get(pod) ?? '');
    const detail = found && { '': found.point, ...Object.fromEntries(found.containers) };
    send('sample', { time, node, pods, ...(detail && { detail }) });
  }
}

/** To each page what differs from what it has. */
function sendPods({ pods, detail }: Pick<FeedDeps, 'pods' | 'detail'>, watchers: ReadonlySet<Joined>): void {
  if (watchers.size === 0) return;
  const shown = pods().map((pod) => ({ pod, text: JSON.stringify(pod) }));
  const uids = new Set(shown.map(({ pod }) => pod.uid));
  for (const watcher of watchers) {
    const isFirst = watcher.rows.size === 0;
    const changed = shown.filter(({ pod, text }) => watcher.rows.get(pod.uid) !== text);
    const gone = [...watcher.rows.keys()].filter((uid) => !uids.has(uid));
    for (const { pod, text } of changed) watcher.rows.set(pod.uid, text);
    for (const uid of gone) watcher.rows.delete(uid);
    if (isFirst || changed.length + gone.length > 0)
      watcher.send('pods', { changed: changed.map(({ pod }) => pod), gone });
    sendDetail(watcher, detail);
  }
}

function sendDetail(watcher: Joined, detail: FeedDeps['detail']): void {
  if (watcher.pod === undefined) return;
  const [namespace = '', name = ''] = watcher.pod.split('/');
  const found = detail(namespace, name);
  const text = JSON.stringify(found);
  if (text === watcher.detail) return;
  watcher.detail = text;
  watcher.send('pod', found);
}
