/** Ranges of user and group ids for pods with users of their own: aligned, apart from each other, and kept in the pod's folder. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

export interface IdRange {
  readonly hostId: number;
  readonly length: number;
}

/** Ids are 32-bit numbers; the last one stands for "none". */
const IDS = 2 ** 32;

/**
 * A free range. `chance` (0 up to 1) says where to begin to look: pods that come and go should not get the ids of others.
 * The first range is the node's own.
 */
export function chooseRange(used: readonly IdRange[], length: number, chance: number): Parsed<IdRange> {
  const places = Math.floor(IDS / length) - 1;
  const taken = new Set(used.map(({ hostId }) => Math.floor(hostId / length)));
  if (taken.size >= places) return unparsable(`no range of ${length} user ids is free: ${taken.size} pods have one`);
  let place = 1 + Math.floor(chance * places);
  while (taken.has(place)) place = place >= places ? 1 : place + 1;
  return parsed({ hostId: place * length, length });
}

export function encodeRange({ hostId, length }: IdRange): string {
  const mappings = [{ hostId, containerId: 0, length }];
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
}

export function decodeRange(text: string): Parsed<IdRange> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return unparsable(`no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { uidMappings, gidMappings } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const [uids, gids] = [firstMapping(uidMappings), firstMapping(gidMappings)];
  if (uids === undefined || gids === undefined || uids.hostId !== gids.hostId || uids.length !== gids.length) {
    return unparsable(`uidMappings and gidMappings must be one and the same range that begins at 0: ${text}`);
  }
  return parsed(uids);
}

function firstMapping(value: unknown): IdRange | undefined {
  if (!Array.isArray(value) || value.length !== 1) return undefined;
  const { hostId, containerId, length } = (value[0] ?? {}) as Readonly<Record<string, unknown>>;
  const isCount = (count: unknown): count is number =>
    typeof count === 'number' && Number.isInteger(count) && count > 0;
  return isCount(hostId) && isCount(length) && (containerId ?? 0) === 0 ? { hostId, length } : undefined;
}
