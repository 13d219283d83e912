/**
 * The file that survives a kubelet: which containers have which devices, and what the plugins answered. Other kubelets read it, so its format and
 * its checksum are those of the reference kubelet.
 */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import { fnv32a } from '../../base/fnv.ts';

/** Device ids by NUMA node; -1 for devices of which the plugin does not say where they are. */
export type DevicesByNode = Readonly<Record<string, readonly string[]>>;

export interface CheckpointEntry {
  readonly podUid: string;
  readonly container: string;
  readonly resource: string;
  readonly devices: DevicesByNode;
  /** The plugin's answer as it came, in base64. */
  readonly response: string;
}

export interface Checkpoint {
  readonly entries: readonly CheckpointEntry[];
  /** The ids of healthy devices, by resource. */
  readonly registered: ReadonlyMap<string, readonly string[]>;
}

export function encodeCheckpoint({ entries, registered }: Checkpoint): string {
  const data: RawData = {
    PodDeviceEntries: entries.length === 0 ? null : entries.map(toRaw),
    RegisteredDevices: Object.fromEntries(registered),
  };
  const list = data.PodDeviceEntries === null ? 'null' : `[${data.PodDeviceEntries.map(entryJson).join()}]`;
  const json = `{"Data":{"PodDeviceEntries":${list},"RegisteredDevices":${mapJson(data.RegisteredDevices)}}`;
  return escapeHtml(`${json},"Checksum":${checksumOf(data)}}`);
}

function entryJson({ DeviceIDs, AllocResp, ...names }: RawEntry): string {
  const [PodUID, ContainerName, ResourceName] = [names.PodUID, names.ContainerName, names.ResourceName];
  const head = JSON.stringify({ PodUID, ContainerName, ResourceName }).slice(0, -1);
  return `${head},"DeviceIDs":${mapJson(DeviceIDs ?? {})},"AllocResp":${JSON.stringify(AllocResp)}}`;
}

/** By hand: an object of this language has its numeric keys in another order. */
function mapJson(map: Readonly<Record<string, readonly string[] | null>>): string {
  return `{${sortedEntries(map)
    .map(([key, ids]) => `${JSON.stringify(key)}:${JSON.stringify(ids)}`)
    .join()}}`;
}

/** Go's encoder writes these as escapes. */
function escapeHtml(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function decodeCheckpoint(text: string): Parsed<Checkpoint> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unparsable('not JSON');
  }
  if (!isRecord(value) || !isRecord(value['Data'])) return unparsable('no data');
  const { PodDeviceEntries: entries, RegisteredDevices: registered } = value['Data'];
  const devices = registered ?? {};
  if (!isNullableList(entries) || (entries !== null && !entries.every(isEntry))) return unparsable('malformed entries');
  if (!isRecord(devices) || !Object.values(devices).every(isNullableTexts)) return unparsable('malformed devices');
  const data = { PodDeviceEntries: entries as readonly RawEntry[] | null, RegisteredDevices: devices as RawDevices };
  const checksum = checksumOf(data);
  if (value['Checksum'] !== checksum)
    return unparsable(`checkpoint is corrupted: checksum ${String(value['Checksum'])} instead of ${checksum}`);
  return parsed({
    entries: (data.PodDeviceEntries ?? []).map(fromRaw),
    registered: new Map(Object.entries(data.RegisteredDevices).map(([name, ids]) => [name, ids ?? []])),
  });
}

interface RawEntry {
  readonly PodUID: string;
  readonly ContainerName: string;
  readonly ResourceName: string;
  readonly DeviceIDs: Readonly<Record<string, readonly string[] | null>> | null;
  readonly AllocResp: string | null;
}

type RawDevices = Readonly<Record<string, readonly string[] | null>>;

interface RawData {
  readonly PodDeviceEntries: readonly RawEntry[] | null;
  readonly RegisteredDevices: RawDevices;
}

function toRaw({ podUid, container, resource, devices, response }: CheckpointEntry): RawEntry {
  return { PodUID: podUid, ContainerName: container, ResourceName: resource, DeviceIDs: devices, AllocResp: response };
}

function fromRaw({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: RawEntry): CheckpointEntry {
  const devices = Object.entries(DeviceIDs ?? {}).map(([node, ids]) => [node, ids ?? []] as const);
  return {
    podUid: PodUID,
    container: ContainerName,
    resource: ResourceName,
    devices: Object.fromEntries(devices),
    response: AllocResp ?? '',
  };
}

/** FNV-32a of how Go's debugging printer writes the value: this is what the reference kubelet computes it from. */
function checksumOf({ PodDeviceEntries: entries, RegisteredDevices: devices }: RawData): number {
  const list = entries === null ? '<nil>' : `[${entries.map(dumpEntry).join(' ')}]`;
  const resources = Object.entries(devices).sort(([a], [b]) => compareTexts(a, b));
  const map = resources.map(([name, ids]) => `${name}:${dumpTexts(ids)}`).join(' ');
  return fnv32a(
    '(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)' +
      `${list} RegisteredDevices:(map[string][]string)map[${map}]}`,
  );
}

function dumpEntry({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: RawEntry): string {
  const nodes = sortedEntries(DeviceIDs ?? {}).sort(([a], [b]) => Number(a) - Number(b));
  const devices =
    DeviceIDs === null ? '<nil>' : `map[${nodes.map(([node, ids]) => `${node}:${dumpTexts(ids)}`).join(' ')}]`;
  const bytes = AllocResp === null ? '<nil>' : `[${bytesOf(AllocResp).join(' ')}]`;
  return (
    `{PodUID:(string)${PodUID} ContainerName:(string)${ContainerName} ResourceName:(string)${ResourceName} ` +
    `DeviceIDs:(checkpoint.DevicesPerNUMA)${devices} AllocResp:([]uint8)${bytes}}`
  );
}

const dumpTexts = (texts: readonly string[] | null): string => (texts === null ? '<nil>' : `[${texts.join(' ')}]`);

const bytesOf = (base64: string): readonly number[] => [...Uint8Array.fromBase64(base64)];

/** In the order in which Go writes the keys of a map: as texts. A negative node then comes first. */
function sortedEntries<Value>(record: Readonly<Record<string, Value>>): [string, Value][] {
  return Object.entries(record).sort(([a], [b]) => compareTexts(a, b));
}

const compareTexts = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isNullableList = (value: unknown): value is readonly unknown[] | null => value === null || Array.isArray(value);

const isNullableTexts = (value: unknown): boolean =>
  value === null || (Array.isArray(value) && value.every((item) => typeof item === 'string'));

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function isEntry(value: unknown): value is RawEntry {
  if (!isRecord(value)) return false;
  const { PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp } = value;
  const names = [PodUID, ContainerName, ResourceName].every((name) => typeof name === 'string');
  const devices = DeviceIDs === null || (isRecord(DeviceIDs) && Object.values(DeviceIDs).every(isNullableTexts));
  const response = AllocResp === null || (typeof AllocResp === 'string' && BASE64.test(AllocResp));
  return names && devices && response && (AllocResp === null || AllocResp.length % 4 === 0);
}
