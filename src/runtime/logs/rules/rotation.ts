/** What becomes of the older files when a container's log has grown too large. */
import type { ContainerId } from '../../../api/ids.ts';
import type { ObservedContainer } from '../../../model/observation.ts';

export interface Rotation {
  /** Leftovers of a rotation that was cut off, and what is too old, oldest first. */
  readonly remove: readonly string[];
  /** The name that the full file gets. */
  readonly rotated: string;
  /** To be compressed once the runtime writes to a new file. The one that is rotated now waits: it may still be read. */
  readonly compress: readonly string[];
}

export interface RotationInput {
  /** The file that the runtime writes, without its directory: `0.log`. */
  readonly log: string;
  /** All names in its directory. */
  readonly names: readonly string[];
  /** Of one container, with the one that is written and the one that is rotated now. */
  readonly maxFiles: number;
  /** See `logStamp`. */
  readonly stamp: string;
}

/** The logs that running containers write now. */
export function writtenLogs(
  containers: readonly Pick<ObservedContainer, 'id' | 'state' | 'logPath'>[],
): readonly { readonly containerId: ContainerId; readonly path: string }[] {
  return containers
    .filter(({ state, logPath }) => state === 'running' && logPath !== '')
    .map(({ id, logPath }) => ({ containerId: id, path: logPath }));
}

export const COMPRESSED = '.gz';
export const HALF_DONE = '.tmp';

export function planRotation({ log, names, maxFiles, stamp }: RotationInput): Rotation {
  const older = names.filter((name) => name.startsWith(`${log}.`));
  const isLeftover = (name: string) => name.endsWith(HALF_DONE) || older.includes(`${name}${COMPRESSED}`);
  const kept = older.filter((name) => !isLeftover(name)).toSorted(byAge);
  const excess = Math.max(0, kept.length - Math.max(0, maxFiles - 2));
  return {
    remove: [...older.filter(isLeftover), ...kept.slice(0, excess)],
    rotated: `${log}.${stampAfter(stampOf(kept.at(-1), log), stamp)}`,
    compress: kept.slice(excess).filter((name) => !name.endsWith(COMPRESSED)),
  };
}

function byAge(a: string, b: string): number {
  const [one, other] = [plain(a), plain(b)];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function plain(name: string): string {
  return name.endsWith(COMPRESSED) ? name.slice(0, -COMPRESSED.length) : name;
}

function stampOf(name: string | undefined, log: string): string {
  return name === undefined ? '' : plain(name).slice(log.length + 1);
}

/**
 * Usually the time. Where the clock was set back, or a second was not over, a name that is free and sorts after the newest:
 * a rotated file must never be written over, and the oldest must be the first to go.
 */
export function stampAfter(newest: string, now: string): string {
  if (now > newest) return now;
  const [, base = newest, count = '0'] = /^(.*)x(\d{6})$/.exec(newest) ?? [];
  return `${base}x${String(Number(count) + 1).padStart(6, '0')}`;
}

/** Rotated files that are not compressed: `0.log.20260104-000000`. */
export function rotatedNames(log: string, names: readonly string[]): readonly string[] {
  return names.filter((name) => name.startsWith(`${log}.`) && !name.endsWith(COMPRESSED) && !name.endsWith(HALF_DONE));
}

/**
 * Where the part of a rotated file begins that is kept on a node short of disk; undefined: all of it. A file is rotated some seconds after it has
 * reached its size, so that it may be somewhat larger.
 */
export function oversizeFrom(bytes: number, maxSize: number): number | undefined {
  return maxSize > 0 && bytes > 2 * maxSize ? bytes - maxSize : undefined;
}
