/**
 * Files that this kernel has in no cgroup, such as those of a disk scheduler that is not in use: to look for them costs more than to
 * read one. What several cgroups did not have, and none had, is not looked for again for a while.
 */
export interface AbsentFiles {
  isAbsent(file: string): boolean;
  /** Of one cgroup that is there: what was read of it, and what it did not have. */
  learn(present: readonly string[], missing: readonly string[]): void;
  /** The kernel's settings may have changed since. */
  forget(): void;
}

/** The root of the hierarchies has fewer files than all others. */
const ENOUGH_CGROUPS = 4;

export function createAbsentFiles(): AbsentFiles {
  const present = new Set<string>();
  const misses = new Map<string, number>();
  return {
    isAbsent: (file) => !present.has(file) && (misses.get(file) ?? 0) >= ENOUGH_CGROUPS,
    learn: (found, missing) => {
      for (const file of found) present.add(file);
      for (const file of missing) misses.set(file, (misses.get(file) ?? 0) + 1);
    },
    forget: () => {
      present.clear();
      misses.clear();
    },
  };
}
