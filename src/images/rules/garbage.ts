/** Which images to remove: the longest unused first, by age or until enough of the disk is free. */
export interface GarbageSettings {
  /** At this use of the disk images are removed; 100 for never. */
  readonly highPercent: number;
  /** Until this use of the disk. */
  readonly lowPercent: number;
  /** Younger ones stay: they may have been pulled for a container that is about to start. */
  readonly minimumAgeMs: number;
  /** Unused for longer: removed whatever the disk says. 0 for never. */
  readonly maximumAgeMs: number;
  /** Names of images that stay whatever happens; a name may end in `*`. */
  readonly keep: readonly string[];
}

export interface SeenImage {
  readonly id: string;
  readonly bytes: number;
  readonly pinned: boolean;
}

export interface ImageMemory {
  /** Wall clock, milliseconds. */
  readonly firstSeen: number;
  /** 0 for one that no one has used since this kubelet started. */
  readonly lastUsed: number;
  readonly bytes: number;
  readonly pinned: boolean;
}

/** By image id. */
export type ImageMemories = ReadonlyMap<string, ImageMemory>;

/** A name without a tag means every tag of it. */
export function isKept(names: readonly string[], { keep }: Pick<GarbageSettings, 'keep'>): boolean {
  return keep.some((pattern) =>
    names.some((name) =>
      pattern.endsWith('*')
        ? name.startsWith(pattern.slice(0, -1))
        : name === pattern || name.startsWith(`${pattern}:`) || name.startsWith(`${pattern}@`),
    ),
  );
}

/** What is known of images after a look at the runtime. Images that are gone are forgotten. */
export function rememberImages(
  memories: ImageMemories,
  images: readonly SeenImage[],
  inUse: ReadonlySet<string>,
  now: number,
): ImageMemories {
  return new Map(
    images.map(({ id, bytes, pinned }) => {
      const known = memories.get(id);
      const lastUsed = inUse.has(id) ? now : (known?.lastUsed ?? 0);
      return [id, { firstSeen: known?.firstSeen ?? now, lastUsed, bytes, pinned }];
    }),
  );
}

export function markUsed(memories: ImageMemories, id: string, now: number): ImageMemories {
  const known = memories.get(id) ?? { firstSeen: now, lastUsed: 0, bytes: 0, pinned: false };
  return new Map([...memories, [id, { ...known, lastUsed: now }]]);
}

export interface Candidate extends ImageMemory {
  readonly id: string;
}

/** What may be removed at all, the longest unused first. One that was just made ready for a container counts as used. */
export function removalOrder(
  memories: ImageMemories,
  inUse: ReadonlySet<string>,
  { minimumAgeMs }: GarbageSettings,
  now: number,
): readonly Candidate[] {
  return [...memories]
    .filter(([id, { pinned, lastUsed }]) => {
      const justUsed = lastUsed > 0 && now - lastUsed < minimumAgeMs;
      return !pinned && !inUse.has(id) && !justUsed;
    })
    .map(([id, memory]) => ({ id, ...memory }))
    .toSorted((a, b) => a.lastUsed - b.lastUsed || a.firstSeen - b.firstSeen);
}

/** Too long unused. Nothing is, before this kubelet has watched for that long itself. */
export function planByAge(
  candidates: readonly Candidate[],
  { maximumAgeMs }: GarbageSettings,
  { now, watchingSince }: { readonly now: number; readonly watchingSince: number },
): readonly Candidate[] {
  if (maximumAgeMs === 0 || now - watchingSince <= maximumAgeMs) return [];
  return candidates.filter(({ lastUsed }) => now - lastUsed > maximumAgeMs);
}

export interface DiskUse {
  readonly capacityBytes: number;
  readonly availableBytes: number;
}

export type SpaceVerdict =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'enough'; readonly usedPercent: number }
  | { readonly kind: 'short'; readonly usedPercent: number; readonly bytesToFree: number };

export function judgeSpace(disk: DiskUse, { highPercent, lowPercent }: GarbageSettings): SpaceVerdict {
  const { capacityBytes: capacity } = disk;
  if (capacity === 0) return { kind: 'unknown' };
  const available = Math.min(disk.availableBytes, capacity);
  const usedPercent = 100 - Math.floor((available * 100) / capacity);
  if (usedPercent < highPercent) return { kind: 'enough', usedPercent };
  return {
    kind: 'short',
    usedPercent,
    bytesToFree: Math.floor((capacity * (100 - lowPercent)) / 100) - available,
  };
}

export function isOldEnough({ firstSeen }: Candidate, { minimumAgeMs }: GarbageSettings, now: number): boolean {
  return now - firstSeen >= minimumAgeMs;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function formatSize(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? Math.trunc(size) : size.toFixed(1)} ${UNITS[unit]}`;
}

export function notEnoughFreed(usedPercent: number, capacityBytes: number, freedBytes: number): string {
  return [
    `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ${formatSize(capacityBytes)} used).`,
    `Failed to free sufficient space by deleting unused images (freed ${freedBytes} bytes).`,
    'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.',
  ].join(' ');
}
