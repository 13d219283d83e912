/**
 * Closes the node when its machine is shut down or `kubelet drain` asks for it: no pod is admitted any more, the node is not Ready, pods
 * end in the order of their priorities, and only then the machine may go down. See docs/shutdown.md.
 *
 *   open ──shutdown, drain──► closing ──every pod has ended, statuses are sent──► closed
 *     ▲───────────────────────────┴──────────cancelled───────────────────────────────┘
 */
import type { PodUid } from '../api/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit, type WakeBit } from '../base/wake.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import type { Logind } from '../host/dbus/logind.ts';
import { IN, type Inotify } from '../host/inotify.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import { closeNode } from './closing.ts';
import { createInhibitor } from './inhibitor.ts';
import type { PodsOfNode, ShutdownMeter } from './ports.ts';
import { DRAIN_REQUEST } from './rules/drain-request.ts';
import { drainPeriods, wholeSeconds } from './rules/groups.ts';
import type { ClosingCause, ClosingRecord } from './rules/record.ts';
import type { ShutdownConfig } from './settings.ts';
import { type ClosingStore, createClosingStore } from './store.ts';

export interface NodeShutdown extends Part {
  /** No pod is admitted. */
  isClosed(): boolean;
  /** Why the node is not Ready; undefined: it is open. */
  problem(): string | undefined;
  /** To be called when nothing of a pod runs any more, and its volumes are unmounted. */
  unmounted(uid: PodUid): void;
}

export interface ShutdownDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly bootId: string;
  readonly logind: Logind;
  readonly inotify: Pick<Inotify, 'watch'>;
  readonly pods: () => PodsOfNode;
  /** Resolves when the API server has the last status of each pod; undefined: there is none. */
  readonly untilSent: ((uids: readonly PodUid[], signal: AbortSignal) => Promise<void>) | undefined;
  readonly record: RecordNodeEvent;
  readonly meter: ShutdownMeter;
  /** The node was closed or opened: its status has to say so. */
  onChange(): void;
}

/** As the reference names it. */
const LOGIND_CONFIG = '/etc/systemd/logind.conf.d/99-kubelet.conf';
const PROBLEMS: Readonly<Record<ClosingCause, string>> = {
  shutdown: 'node is shutting down',
  drain: 'node is being drained',
};
const CANCELLED = 'the shutdown was cancelled';

export function createNodeShutdown(deps: ShutdownDeps, config: ShutdownConfig): NodeShutdown {
  const { log, supervisor, bootId } = deps;
  const store = createClosingStore(config.directory, log);
  const [requested, drainChanged] = [createWakeBit(), createWakeBit()];
  const state: ClosingState = {
    wanted: { shutdown: false, drain: false },
    record: undefined,
    closing: undefined,
    unmounted: new Set(),
    changed: createWakeBit(),
  };
  let loops: readonly Promise<void>[] = [];

  const want = (cause: ClosingCause, isWanted: boolean): void => {
    if (state.wanted[cause] === isWanted) return;
    state.wanted[cause] = isWanted;
    reportEvent(deps, cause, isWanted);
    if (state.record?.cause !== causeOf(state)) state.closing?.abort(CANCELLED);
    deps.onChange();
    requested.wake();
  };
  const onShutdown = (isActive: boolean) => want('shutdown', isActive);
  const inhibitor =
    config.periods.length === 0
      ? undefined
      : createInhibitor({ ...deps, writeConfig: writeLogindConfig, onShutdown }, wholeSeconds(config.periods));
  const lookForDrain = async (): Promise<void> => want('drain', await store.isDrainRequested(bootId));
  // Cancelled meanwhile: the lock that is held now is another one, for the next shutdown.
  const release = (): void => {
    if (state.wanted.shutdown) inhibitor?.release();
  };
  const tools: PassTools = { deps, config, store, state, again: requested.wake, release };

  return {
    name: 'node shutdown',
    start: async (signal) => {
      state.record = await loadRecord(tools);
      // Until logind has answered: it may have been cancelled while no kubelet ran.
      state.wanted.shutdown = state.record?.cause === 'shutdown' && inhibitor !== undefined;
      follow(deps, config, { state, drainChanged, signal });
      await lookForDrain();
      await inhibitor?.start(signal);
      requested.wake();
      loops = [
        supervisor.run({ name: 'drain request', pass: lookForDrain, rest: drainChanged.wait }, signal),
        supervisor.run({ name: 'node shutdown', pass: (own) => pass(tools, own), rest: requested.wait }, signal),
      ];
    },
    stop: async () => {
      await Promise.all([...loops, inhibitor?.stop()]);
    },
    isClosed: () => causeOf(state) !== undefined,
    problem: () => {
      const cause = causeOf(state);
      return cause && PROBLEMS[cause];
    },
    unmounted: (uid) => {
      state.unmounted.add(uid);
      state.changed.wake();
    },
  };
}

interface ClosingState {
  readonly wanted: Record<ClosingCause, boolean>;
  /** As it is on disk; undefined: the node is open. */
  record: ClosingRecord | undefined;
  /** While pods end. */
  closing: LinkedSignal | undefined;
  readonly unmounted: Set<PodUid>;
  /** Woken by each change of a pod. */
  readonly changed: WakeBit;
}

interface PassTools {
  readonly deps: ShutdownDeps;
  readonly config: ShutdownConfig;
  readonly store: ClosingStore;
  readonly state: ClosingState;
  /** Another pass is due. */
  again(): void;
  /** The machine may go down. */
  release(): void;
}

/** A machine that is shut down while it is drained goes down. */
function causeOf({ wanted }: ClosingState): ClosingCause | undefined {
  if (wanted.shutdown) return 'shutdown';
  return wanted.drain ? 'drain' : undefined;
}

/** Of this boot; what a shutdown before it left is removed. Shows the times of the last one. */
async function loadRecord({ deps, config, store }: PassTools): Promise<ClosingRecord | undefined> {
  const times = config.reportsTimes ? await store.loadTimes() : undefined;
  if (times !== undefined) deps.meter.times(times.startSeconds, times.endSeconds);
  const known = await store.load();
  if (known === undefined || known.bootId === deps.bootId) return known;
  await store.remove();
  return undefined;
}

function follow(
  { inotify, pods }: ShutdownDeps,
  { directory }: ShutdownConfig,
  given: { readonly state: ClosingState; readonly drainChanged: WakeBit; readonly signal: AbortSignal },
): void {
  const { state, drainChanged, signal } = given;
  const watch = inotify.watch(directory, IN.movedTo | IN.delete, ({ name, mask }) => {
    if (name === DRAIN_REQUEST || mask & IN.overflow) drainChanged.wake();
  });
  signal.addEventListener('abort', () => watch.close(), { once: true });
  pods().subscribe('node shutdown', (update) => {
    if (update.kind === 'gone') state.unmounted.delete(update.uid);
    state.changed.wake();
  });
}

async function pass(tools: PassTools, signal: AbortSignal): Promise<void> {
  const { deps, state, release } = tools;
  const { clock, log } = deps;
  const cause = causeOf(state);
  if (cause === undefined) return await reopen(tools);
  const record = state.record?.cause === cause ? state.record : await begin(tools, cause);
  const isNew = record.endedAt === undefined;
  if (isNew && !(await carryOut(tools, record, signal))) return;
  if (isNew) log.info('Node is closed', { cause, seconds: (clock.now() - record.startedAt) / 1000 });
  if (cause !== 'shutdown') return;
  if (isNew) await reportTimes(tools, record.startedAt, clock.now()).finally(release);
  else release();
  log.v(1)?.info('Shutdown manager completed processing shutdown event, node will shutdown shortly');
}

async function reopen({ deps, store, state }: PassTools): Promise<void> {
  if (state.record === undefined) return;
  deps.log.info('Node is open again', { cause: state.record.cause });
  await store.remove();
  state.record = undefined;
  deps.pods().reopen();
  deps.onChange();
}

async function begin(tools: PassTools, cause: ClosingCause): Promise<ClosingRecord> {
  const { deps, config, store, state } = tools;
  const active = deps
    .pods()
    .views()
    .filter(({ step }) => step !== 'terminated');
  const periods = config.periods.length > 0 ? config.periods : drainPeriods(active.map(({ pod }) => pod));
  const startedAt = deps.clock.now();
  const record = { cause, bootId: deps.bootId, startedAt, endedAt: undefined, periods, group: undefined };
  await store.save(record);
  state.record = record;
  if (cause === 'shutdown') await reportTimes(tools, startedAt, undefined);
  return record;
}

/** Whether it came to its end; otherwise it was cancelled, or goes on for another cause. */
async function carryOut(tools: PassTools, record: ClosingRecord, signal: AbortSignal): Promise<boolean> {
  const { deps, store, state, again } = tools;
  using closing = linkSignal(signal);
  state.closing = closing;
  const save = async (next: ClosingRecord): Promise<void> => {
    await store.save(next);
    state.record = next;
  };
  const isUnmounted = (uid: PodUid) => state.unmounted.has(uid);
  try {
    const { changed } = state;
    await closeNode({ ...deps, pods: deps.pods(), changed, isUnmounted, save }, record, closing.signal);
    return true;
  } catch (error) {
    if (signal.aborted || !closing.signal.aborted) throw error;
    again();
    return false;
  } finally {
    state.closing = undefined;
  }
}

/** A disk that is full does not keep the machine from going down. */
async function reportTimes(
  { deps, config, store }: PassTools,
  startedAt: number,
  endedAt: number | undefined,
): Promise<void> {
  if (!config.reportsTimes) return;
  deps.meter.times(Math.floor(startedAt / 1000), Math.floor((endedAt ?? 0) / 1000));
  try {
    await store.saveTimes(startedAt, endedAt);
  } catch (err) {
    deps.log.error('Failed to store graceful shutdown state', { err });
  }
}

const writeLogindConfig = (text: string): Promise<void> =>
  writeFileAtomically(LOGIND_CONFIG, text, { mode: 0o644, durable: false, directoryMode: 0o755 });

function reportEvent({ record }: ShutdownDeps, cause: ClosingCause, isWanted: boolean): void {
  const message =
    cause === 'drain'
      ? `Node drain was ${isWanted ? 'requested' : 'cancelled'}`
      : `Shutdown manager detected shutdown ${isWanted ? 'event' : 'cancellation'}`;
  record({ node: true, type: 'Normal', reason: cause === 'drain' ? 'Drain' : 'Shutdown', message });
}
