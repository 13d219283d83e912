/** How many processes were killed: for each container by its id, and by its name over all its restarts. */

export interface SavedTally {
  /** `[pod UID, container name, kills]` */
  readonly totals: readonly (readonly [string, string, number])[];
  /** `[container id, pod UID, kills]` */
  readonly containers: readonly (readonly [string, string, number])[];
}

export const EMPTY_TALLY: SavedTally = { totals: [], containers: [] };

export interface Tally {
  /** Undefined: this container was not seen before. */
  killsIn(id: string): number | undefined;
  total(uid: string, name: string): number;
  /** Also with none: the container is known from then on. */
  add(uid: string, container: { readonly id: string; readonly name: string }, kills: number): void;
  /** The runtime has no other containers of this pod. Whether something was dropped. */
  keepContainers(uid: string, ids: ReadonlySet<string>): boolean;
  forget(uid: string): boolean;
  save(): SavedTally;
}

export function createTally(saved: SavedTally = EMPTY_TALLY): Tally {
  const totals = new Map<string, Map<string, number>>();
  const containers = new Map<string, { readonly uid: string; readonly kills: number }>();
  const addTotal = (uid: string, name: string, kills: number) => {
    const names = totals.get(uid) ?? new Map<string, number>();
    totals.set(uid, names.set(name, (names.get(name) ?? 0) + kills));
  };
  for (const [uid, name, kills] of saved.totals) addTotal(uid, name, kills);
  for (const [id, uid, kills] of saved.containers) containers.set(id, { uid, kills });

  const drop = (isDropped: (id: string, uid: string) => boolean): boolean => {
    const before = containers.size;
    for (const [id, { uid }] of containers) if (isDropped(id, uid)) containers.delete(id);
    return containers.size < before;
  };

  return {
    killsIn: (id) => containers.get(id)?.kills,
    total: (uid, name) => totals.get(uid)?.get(name) ?? 0,
    add: (uid, { id, name }, kills) => {
      containers.set(id, { uid, kills: (containers.get(id)?.kills ?? 0) + kills });
      if (kills > 0) addTotal(uid, name, kills);
    },
    keepContainers: (uid, ids) => drop((id, owner) => owner === uid && !ids.has(id)),
    forget: (uid) => {
      const isDropped = drop((_, owner) => owner === uid);
      return totals.delete(uid) || isDropped;
    },
    save: () => ({
      totals: [...totals].flatMap(([uid, names]) => [...names].map(([name, kills]) => [uid, name, kills] as const)),
      containers: [...containers].map(([id, { uid, kills }]) => [id, uid, kills] as const),
    }),
  };
}
