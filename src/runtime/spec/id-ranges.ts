/**
 * Ranges of host user ids for pods with a user namespace of their own. A pod's range is written to its directory (file
 * `userns`) before its sandbox is made, in the reference's form, so that no restart gives it to another pod.
 */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { IdRange } from './namespaces.ts';

export const ID_RANGE_FILE = 'userns';
/** The least that a pod gets: enough for `no one`, 65534. */
const UNIT = 65_536;
const ALL_IDS = 2 ** 32;

/** The ids that all pods share. */
export interface IdSpace {
  readonly first: number;
  readonly length: number;
  readonly perPod: number;
}

/** Without other requests every id above those that the node itself may use. */
export function defaultIdSpace(perPod: number = UNIT): IdSpace {
  return { first: perPod, length: ALL_IDS - perPod, perPod };
}

/** What `getsubids` prints for the user `kubelet`: one line, `0: kubelet FIRST LENGTH`. */
export function parseSubIds(text: string, perPod: number = UNIT): Parsed<IdSpace> {
  const lines = text.trim().split('\n');
  const [, , first = '', length = ''] = lines[0]?.trim().split(/\s+/) ?? [];
  if (lines.length !== 1 || !/^\d+$/.test(first) || !/^\d+$/.test(length)) {
    return unparsable(`${JSON.stringify(text)} is no single line of the form "0: kubelet FIRST LENGTH"`);
  }
  return parsed({ first: Number(first), length: Number(length), perPod });
}

/** Why no pods can be given ranges of this space; undefined where they can. */
export function idSpaceFault({ first, length, perPod }: IdSpace, maxPods: number): string | undefined {
  if (perPod <= 0 || perPod % UNIT !== 0) return `the ids for each pod (${perPod}) must be a multiple of ${UNIT}`;
  if (first % perPod !== 0 || first < perPod) return `the first id (${first}) must be a multiple of ${perPod}, not 0`;
  if (length % perPod !== 0) return `the number of ids (${length}) must be a multiple of ${perPod}`;
  if (length / perPod < maxPods) return `${length} ids are not enough for ${maxPods} pods with ${perPod} each`;
  return undefined;
}

/**
 * The first free range at or after slot `start` (any number: it wraps around), or undefined where all are taken. Callers
 * choose the start at random, lest a new pod gets the ids of one that is just gone, and its files with them.
 */
export function chooseIdRange(space: IdSpace, taken: ReadonlySet<number>, start: number): IdRange | undefined {
  const { first, length, perPod } = space;
  const slots = Math.floor(length / perPod);
  for (let step = 0; step < slots; step += 1) {
    const hostId = first + ((start + step) % slots) * perPod;
    if (!taken.has(hostId)) return { hostId, length: perPod };
  }
  return undefined;
}

export function encodeIdRange({ hostId, length }: IdRange): string {
  const mappings = [{ hostId, containerId: 0, length }];
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
}

export function parseIdRange(text: string): Parsed<IdRange> {
  const [uids, gids] = [mappingsOf(text, 'uidMappings'), mappingsOf(text, 'gidMappings')];
  const [mapping] = uids ?? [];
  if (mapping === undefined || uids?.length !== 1 || JSON.stringify(uids) !== JSON.stringify(gids)) {
    return unparsable('a file of user id ranges must have one range, the same for users and groups');
  }
  const { hostId, containerId, length } = mapping;
  if (containerId !== 0) return unparsable(`the range must begin with id 0 in the container, not ${containerId}`);
  return parsed({ hostId, length });
}

interface Mapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

function mappingsOf(text: string, key: string): readonly Mapping[] | undefined {
  const list = asRecord(parseJson(text))?.[key];
  if (!Array.isArray(list)) return undefined;
  const mappings = list.map(asMapping);
  return mappings.every((mapping) => mapping !== undefined) ? mappings : undefined;
}

function asMapping(value: unknown): Mapping | undefined {
  const { hostId, containerId, length } = asRecord(value) ?? {};
  const isId = (id: unknown): id is number => Number.isInteger(id) && Number(id) >= 0 && Number(id) <= ALL_IDS;
  return isId(hostId) && isId(containerId) && isId(length) ? { hostId, containerId, length } : undefined;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
