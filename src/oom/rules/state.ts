/** The form of the state file. What has another form, or is of an earlier boot, counts as none: its records are gone, too. */

export interface OomState {
  /** The last record of the kernel's log that was read. */
  readonly sequence: number;
  readonly totals: readonly (readonly [string, string, number])[];
  readonly containers: readonly (readonly [string, string, number])[];
}

const VERSION = 1;

export function encodeState(state: OomState, bootId: string): string {
  return `${JSON.stringify({ version: VERSION, bootId, ...state })}\n`;
}

/** Throws where it is no JSON. */
export function decodeState(text: string, bootId: string): OomState | undefined {
  const read: unknown = JSON.parse(text);
  if (typeof read !== 'object' || read === null) return undefined;
  const { version, bootId: of, sequence, totals, containers } = read as Record<string, unknown>;
  if (version !== VERSION || of !== bootId || typeof sequence !== 'number') return undefined;
  return isRows(totals) && isRows(containers) ? { sequence, totals, containers } : undefined;
}

function isRows(value: unknown): value is OomState['totals'] {
  return Array.isArray(value) && value.every((row: unknown) => Array.isArray(row) && isRow(row));
}

const isRow = ([first, second, count, ...more]: readonly unknown[]) =>
  typeof first === 'string' && typeof second === 'string' && typeof count === 'number' && more.length === 0;
