/**
 * Follows the kernel's log and reports processes that were killed because memory was short: an event on the node where the machine
 * had none left, an event on the pod for each kill inside it, and a count for each container that outlives it. See docs/oom.md.
 */
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Loop, Supervisor } from '../base/supervise.ts';
import type { RecordEvent } from '../model/event.ts';
import { createLogReader } from './log-reader.ts';
import { createPlacing, type PlacingPorts } from './placing.ts';
import { podOomEvent, systemOomEvent } from './rules/event-text.ts';
import type { Kill } from './rules/kernel-report.ts';
import { levelOf, type OomPod, type Owner } from './rules/owner.ts';
import { createStateFile } from './state-file.ts';
import { createTally } from './tally.ts';

/** See `host/kernel-log.ts`. */
export interface KernelLogListener {
  onRecord(text: string): void;
  onGap(): void;
  onDrained(): void;
  onFailure(error: unknown): void;
}

export interface OomDeps extends Pick<PlacingPorts, 'pods' | 'groups' | 'killCount' | 'cgroupOf'> {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Pick<Supervisor, 'run' | 'guard'>;
  readonly record: RecordEvent;
  /** Throws where this process may not read the kernel's log. */
  readonly followKernelLog: (listener: KernelLogListener) => { close(): void };
}

export interface OomConfig {
  readonly statePath: string;
  readonly bootId: string;
}

export interface OomWatcher extends Part {
  podChanged(pod: OomPod): void;
  podGone(uid: string): void;
  /** Kills in all containers that this pod has had under that name. */
  kills(uid: string, container: string): number;
}

export function createOomWatcher(deps: OomDeps, config: OomConfig): OomWatcher {
  const { clock, supervisor } = deps;
  const log = deps.log.named('oom');
  const file = createStateFile(config.statePath, config.bootId, log);
  let tally = createTally();
  let running: Promise<void> | undefined;
  /** Set where nothing is known of the time before the start, and where the log can't be read. */
  let [freshAt, blindAt]: readonly [number?, number?] = [];

  const save = () => file.save(() => ({ sequence: reader.position(), ...tally.save() }));
  const guard = (call: () => void) => void supervisor.guard('oom watcher', {}, call);

  const report = (kill: Kill | undefined, owner: Owner): void => {
    const { pod, container } = owner;
    tally.add(pod.uid, { id: container?.id ?? pod.uid, name: container?.name ?? '' }, 1);
    save();
    const level = kill === undefined ? 'unknown' : levelOf(kill, owner, deps.groups());
    const { uid, name, namespace } = pod;
    deps.record({
      pod: { uid, name, namespace },
      ...(container === undefined ? {} : { container: container.fieldPath }),
      ...podOomEvent({ victim: kill, container: container?.name, level, limitBytes: kill?.limitBytes }),
    });
    // A kubelet that runs in a cgroup of its own has no more memory than that cgroup.
    if (level === 'node' && kill?.isGlobal === false) deps.record({ node: true, ...systemOomEvent(kill) });
  };

  const placing = createPlacing({ ...deps, reported: (id) => tally.killsIn(id) ?? 0, report, guard });
  const reader = createLogReader({
    onKill: (kill, isOld) => {
      if (kill.isGlobal) deps.record({ node: true, ...systemOomEvent(kill) });
      placing.add(kill, isOld);
    },
    onCaughtUp: save,
    onLoss: placing.compareCounts,
  });
  const listener: Omit<KernelLogListener, 'onFailure'> = {
    onRecord: (raw) => guard(() => reader.onRecord(raw)),
    onGap: reader.onGap,
    onDrained: () =>
      guard(() => {
        reader.onDrained();
        if (placing.hasUnplaced()) placing.compareCounts();
      }),
  };
  const onDenied = (error: unknown): void => {
    blindAt = clock.now();
    const err = describeError(error);
    log.error('Failed to follow the kernel log, OOM kills are known from the runtime only', { err });
  };

  /** What a kubelet without a state file finds is old: the kernel has counted it. */
  const adopt = ({ uid, containers }: OomPod): void => {
    for (const { id, name, cgroup, createdAt } of containers) {
      if (tally.killsIn(id) !== undefined) continue;
      const isOld = freshAt !== undefined && createdAt < freshAt;
      tally.add(uid, { id, name }, isOld ? (deps.killCount(cgroup) ?? 0) : 0);
    }
  };

  return {
    name: 'oom watcher',
    start: async (signal) => {
      const saved = await file.load();
      if (saved === undefined) freshAt = clock.now();
      else {
        reader.resumeAt(saved.sequence);
        tally = createTally(saved);
      }
      running = supervisor.run(followLoop(deps.followKernelLog, listener, onDenied), signal);
    },
    stop: async () => {
      await running;
      placing.stop();
      await file.settled();
    },
    podChanged: (pod) => {
      placing.retry(blindAt);
      adopt(pod);
      tally.keepContainers(pod.uid, new Set([pod.uid, ...pod.containers.map(({ id }) => id)]));
    },
    podGone: (uid) => {
      if (tally.forget(uid)) save();
    },
    kills: (uid, container) => tally.total(uid, container),
  };
}

/** One pass follows the log until reading fails; then it is opened again, and what was read is skipped. */
function followLoop(
  follow: OomDeps['followKernelLog'],
  listener: Omit<KernelLogListener, 'onFailure'>,
  onDenied: (error: unknown) => void,
): Loop {
  const open = (onFailure: (error: unknown) => void) => {
    try {
      return follow({ ...listener, onFailure });
    } catch (error) {
      onDenied(error);
      return undefined;
    }
  };
  const loop: Loop = {
    name: 'oom watcher',
    pass: async (signal) => {
      const ended = Promise.withResolvers<void>();
      const onAbort = () => ended.resolve();
      signal.addEventListener('abort', onAbort, { once: true });
      const log = open(ended.reject);
      try {
        if (!signal.aborted) await ended.promise;
      } finally {
        signal.removeEventListener('abort', onAbort);
        log?.close();
      }
    },
    rest: () => Promise.resolve(),
  };
  return loop;
}
