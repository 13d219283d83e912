/** Sizes of small directories and files, measured at most once in a while: several pages ask for the same ones in one scrape. */
export interface FilesUse {
  readonly bytes: number;
  readonly inodes: number;
}

interface Kept {
  readonly use: Promise<FilesUse>;
  readonly until: number;
}

export function createKeptUses(measure: (path: string) => Promise<FilesUse>, now: () => number) {
  const kept = new Map<string, Kept>();
  let sweptAt = now();

  const sweep = (): void => {
    if (now() - sweptAt < SWEEP_MS) return;
    sweptAt = now();
    for (const [path, { until }] of kept) if (until <= sweptAt) kept.delete(path);
  };

  /** A measurement that fails is not kept. */
  return (path: string, forMs: number): Promise<FilesUse> => {
    sweep();
    const known = kept.get(path);
    if (known !== undefined && known.until > now()) return known.use;
    const use = measure(path);
    kept.set(path, { use, until: now() + forMs });
    use.catch(() => kept.delete(path));
    return use;
  };
}

const SWEEP_MS = 60_000;
