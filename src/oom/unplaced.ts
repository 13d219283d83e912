/**
 * Kills of which the kernel logged no cgroup: more than ten in five seconds on the whole machine, or records that it dropped. Each
 * cgroup counts its own kills, so how many there were is exact; which process it was is known only where there is one answer.
 */
import type { Kill } from './rules/kernel-report.ts';
import type { OomContainer, OomPod } from './rules/owner.ts';

export interface UnplacedPorts {
  readonly pods: () => readonly OomPod[];
  /** What the kernel counts for this cgroup alone; undefined: it is gone. */
  readonly killCount: (cgroup: string) => number | undefined;
  /** What was reported of this container. */
  readonly reported: (id: string) => number;
}

export interface Placed {
  readonly pod: OomPod;
  readonly container: OomContainer;
  /** Undefined: several processes come into question. */
  readonly kill: Kill | undefined;
}

export interface Unplaced {
  add(kill: Kill, now: number): void;
  /** The counters as they are now: cgroups go soon after their last process. */
  takeCounts(): void;
  /** What was counted and not reported. To be called when the log has been read up to the moment of the counts. */
  place(): readonly Placed[];
  /** Containers that ended for lack of memory before their counter could be read. */
  placeEnded(since: number): readonly Placed[];
  /** Kills of others on this machine. */
  dropBefore(time: number): void;
  readonly size: number;
}

export function createUnplaced(ports: UnplacedPorts): Unplaced {
  let kills: readonly { readonly kill: Kill; readonly at: number }[] = [];
  const counts = new Map<string, number>();

  const take = (some: readonly { pod: OomPod; container: OomContainer; missing: number }[]): readonly Placed[] => {
    const total = some.reduce((sum, { missing }) => sum + missing, 0);
    const isCertain = some.length === 1 && total === kills.length;
    const known = kills;
    kills = kills.slice(total);
    return some.flatMap(({ pod, container, missing }) =>
      Array.from({ length: missing }, (_, at) => ({
        pod,
        container,
        kill: isCertain ? known[at]?.kill : undefined,
      })),
    );
  };

  const containers = () => ports.pods().flatMap((pod) => pod.containers.map((container) => ({ pod, container })));

  return {
    add: (kill, now) => {
      kills = [...kills, { kill, at: now }];
    },
    takeCounts: () => {
      for (const { container } of containers()) {
        const count = ports.killCount(container.cgroup);
        if (count !== undefined) counts.set(container.id, count);
      }
    },
    place: () => {
      const found = containers().map(({ pod, container }) => {
        const missing = (counts.get(container.id) ?? 0) - ports.reported(container.id);
        return { pod, container, missing };
      });
      counts.clear();
      return take(found.filter(({ missing }) => missing > 0));
    },
    placeEnded: (since) => {
      const ended = containers().filter(
        ({ container: { id, oomKilledAt } }) => (oomKilledAt ?? 0) >= since && ports.reported(id) === 0,
      );
      return take(ended.map((one) => ({ ...one, missing: 1 })));
    },
    dropBefore: (time) => {
      kills = kills.filter(({ at }) => at >= time);
    },
    get size() {
      return kills.length;
    },
  };
}
