/** Finds the pod and the container of each kill, and waits for those that are not observed yet. */
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import type { Kill } from './rules/kernel-report.ts';
import { findOwner, type OomGroups, type Owner } from './rules/owner.ts';
import { createUnplaced, type UnplacedPorts } from './unplaced.ts';

export interface PlacingPorts extends UnplacedPorts {
  readonly clock: Clock;
  readonly groups: () => OomGroups | undefined;
  /** The memory cgroup of a process; undefined: the process is gone. */
  readonly cgroupOf: (pid: number) => string | undefined;
  /** The kill is undefined where only the number of kills is known. */
  readonly report: (kill: Kill | undefined, owner: Owner) => void;
  /** Calls back, and logs what is thrown. */
  readonly guard: (call: () => void) => void;
}

/** How long a kill waits for the observation of its pod or container, and one without a cgroup for a container that ended. */
const WAIT_MS = 10_000;
/** The same for what happened before the start: pods are not known yet. */
const FIRST_WAIT_MS = 60_000;
/** A kill is counted a moment before the kernel logs it. */
const SETTLE_MS = 300;

type PlacedKill = Kill & { readonly cgroup: string };

export function createPlacing(ports: PlacingPorts) {
  const { clock } = ports;
  const unplaced = createUnplaced(ports);
  let waiting: readonly { readonly kill: PlacedKill; readonly until: number }[] = [];

  /** Whether there is nothing left to wait for. */
  const place = (kill: PlacedKill, isLast: boolean): boolean => {
    const owner = findOwner(kill.cgroup, ports.pods());
    if (owner !== undefined && (isLast || owner.container !== undefined)) {
      ports.report(kill, owner);
      return true;
    }
    const above = ports.groups()?.pods;
    return isLast || above === undefined || !kill.cgroup.includes(`${above}/`);
  };

  const placeWaiting = (): void => {
    const now = clock.now();
    waiting = waiting.filter(({ kill, until }) => !place(kill, until <= now));
    for (const { until } of waiting) alarm.ringAt(until);
  };

  const placeEnded = (since: number): void => {
    for (const { pod, container, kill } of unplaced.placeEnded(since))
      ports.report(kill, { pod, container, prefix: '' });
  };

  const settle = (): void => {
    for (const { pod, container, kill } of unplaced.place()) ports.report(kill, { pod, container, prefix: '' });
    unplaced.dropBefore(clock.now() - WAIT_MS);
    if (unplaced.size > 0) placeEnded(clock.now() - WAIT_MS);
  };
  const alarm = createAlarm(clock, () => ports.guard(placeWaiting));
  const settling = createAlarm(clock, () => ports.guard(settle));

  return {
    add: (kill: Kill, isOld: boolean): void => {
      const cgroup = kill.cgroup ?? ports.cgroupOf(kill.pid);
      // A process that ends leaves its cgroup for the root.
      if (cgroup === undefined || (kill.cgroup === undefined && cgroup === '/')) {
        unplaced.add(kill, clock.now());
        return;
      }
      const placed = { ...kill, cgroup };
      if (place(placed, false)) return;
      const until = clock.now() + (isOld ? FIRST_WAIT_MS : WAIT_MS);
      waiting = [...waiting, { kill: placed, until }];
      alarm.ringAt(until);
    },
    hasUnplaced: () => unplaced.size > 0,
    /** Takes the kernel's counts now, and reports what they are ahead of the log a moment later. */
    compareCounts: (): void => {
      unplaced.takeCounts();
      settling.ringAt(clock.now() + SETTLE_MS);
    },
    /** Something was observed. `since`: containers that ended from then on count as killed, if the runtime says so. */
    retry: (since: number | undefined): void => {
      if (waiting.length > 0) placeWaiting();
      if (since !== undefined) placeEnded(since);
      else if (unplaced.size > 0) placeEnded(clock.now() - WAIT_MS);
    },
    stop: (): void => {
      alarm.clear();
      settling.clear();
    },
  };
}
