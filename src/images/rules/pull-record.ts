/**
 * What is remembered of pulls: that one was begun (an intent), and which credentials gave access to an image. The files are those
 * of the reference, so that either can take over from the other.
 */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import { escapeJson } from '../../base/go-text.ts';

export interface SecretUsed {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** SHA-256 of the login in it. */
  readonly credentialHash: string;
}

export interface ServiceAccountUsed {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** With which credentials an image was pulled under one name. */
export interface PullCredentials {
  readonly secrets: readonly SecretUsed[];
  readonly serviceAccounts: readonly ServiceAccountUsed[];
  /** Pulled with none, or with the node's own: every pod of the node may use it. */
  readonly everyPod: boolean;
}

export interface PulledRecord {
  readonly imageRef: string;
  /** RFC 3339. */
  readonly updatedAt: string;
  /** By the name that pods use, without tag and digest. */
  readonly credentials: ReadonlyMap<string, PullCredentials>;
}

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
/** Written by earlier versions of the reference, with the same fields. */
const READABLE_VERSIONS = new Set([API_VERSION, 'kubelet.config.k8s.io/v1alpha1']);

/** Adds how an image was just pulled under `name`; the same record if there is nothing new. Undefined: no one knows how. */
export function mergeCredentials(
  record: PulledRecord,
  name: string,
  used: PullCredentials | undefined,
  now: string,
): PulledRecord {
  if (used === undefined || isEmpty(used)) return record;
  const known = record.credentials.get(name);
  const merged = known === undefined ? used : mergeKnown(known, used);
  if (merged === known) return record;
  return { ...record, updatedAt: now, credentials: new Map([...record.credentials, [name, merged]]) };
}

const isEmpty = ({ secrets, serviceAccounts, everyPod }: PullCredentials): boolean =>
  !everyPod && secrets.length === 0 && serviceAccounts.length === 0;

function mergeKnown(known: PullCredentials, used: PullCredentials): PullCredentials {
  if (known.everyPod) return known;
  if (used.everyPod) return { secrets: [], serviceAccounts: [], everyPod: true };
  const secrets = mergeList(known.secrets, used.secrets);
  const serviceAccounts = mergeList(known.serviceAccounts, used.serviceAccounts);
  if (secrets === known.secrets && serviceAccounts === known.serviceAccounts) return known;
  return { secrets, serviceAccounts, everyPod: false };
}

/** One entry for each object, the newer one counting; sorted by namespace, name and UID. */
function mergeList<T extends ServiceAccountUsed & { credentialHash?: string }>(
  known: readonly T[],
  used: readonly T[],
): readonly T[] {
  const fresh = used.filter(
    (one) => !known.some((other) => isSameObject(one, other) && one.credentialHash === other.credentialHash),
  );
  if (fresh.length === 0) return known;
  const kept = known.filter((one) => !fresh.some((other) => isSameObject(one, other)));
  return [...kept, ...fresh].toSorted(
    (a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name) || compare(a.uid, b.uid),
  );
}

export function isSameObject(one: ServiceAccountUsed, other: ServiceAccountUsed): boolean {
  return one.uid === other.uid && one.namespace === other.namespace && one.name === other.name;
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

export function formatIntent(image: string): string {
  return line({ kind: 'ImagePullIntent', apiVersion: API_VERSION, image });
}

export function formatPulledRecord({ imageRef, updatedAt, credentials }: PulledRecord): string {
  const names = [...credentials.keys()].toSorted(compare);
  return line({
    kind: 'ImagePulledRecord',
    apiVersion: API_VERSION,
    lastUpdatedTime: updatedAt,
    imageRef,
    ...(names.length === 0
      ? {}
      : {
          credentialMapping: Object.fromEntries(names.map((name) => [name, writeCredentials(credentials.get(name))])),
        }),
  });
}

function writeCredentials(credentials: PullCredentials | undefined): Readonly<Record<string, unknown>> {
  const { secrets = [], serviceAccounts = [], everyPod = false } = credentials ?? {};
  return {
    ...(secrets.length === 0
      ? {}
      : {
          kubernetesSecrets: secrets.map(({ uid, namespace, name, credentialHash }) => ({
            uid,
            namespace,
            name,
            credentialHash,
          })),
        }),
    ...(serviceAccounts.length === 0
      ? {}
      : { kubernetesServiceAccounts: serviceAccounts.map(({ uid, namespace, name }) => ({ uid, namespace, name })) }),
    ...(everyPod ? { nodePodsAccessible: true } : {}),
  };
}

const line = (value: unknown): string => `${escapeJson(JSON.stringify(value))}\n`;

export function parseIntent(text: string): Parsed<string> {
  const root = parseRoot(text, 'ImagePullIntent');
  if (!root.ok) return root;
  const { image } = root.value;
  return typeof image === 'string' && image !== '' ? parsed(image) : unparsable('image must be a name');
}

export function parsePulledRecord(text: string): Parsed<PulledRecord> {
  const root = parseRoot(text, 'ImagePulledRecord');
  if (!root.ok) return root;
  const { imageRef, lastUpdatedTime, credentialMapping = {} } = root.value;
  if (typeof imageRef !== 'string' || imageRef === '') return unparsable('imageRef must be the name of an image');
  if (!isObject(credentialMapping)) return unparsable('credentialMapping must be an object');
  const credentials = new Map<string, PullCredentials>();
  for (const [name, value] of Object.entries(credentialMapping)) {
    const read = readCredentials(value);
    if (read === undefined) return unparsable(`credentialMapping[${JSON.stringify(name)}] is not understood`);
    credentials.set(name, read);
  }
  return parsed({ imageRef, updatedAt: typeof lastUpdatedTime === 'string' ? lastUpdatedTime : '', credentials });
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseRoot(text: string, kind: string): Parsed<Json> {
  try {
    const root: unknown = JSON.parse(text);
    if (!isObject(root) || root['kind'] !== kind) return unparsable(`it is no ${kind}`);
    const version = root['apiVersion'];
    if (typeof version === 'string' && READABLE_VERSIONS.has(version)) return parsed(root);
    return unparsable(`apiVersion must be one of ${[...READABLE_VERSIONS].join(', ')}, not ${JSON.stringify(version)}`);
  } catch (error) {
    return unparsable(`it is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readCredentials(value: unknown): PullCredentials | undefined {
  if (!isObject(value)) return undefined;
  const { kubernetesSecrets = [], kubernetesServiceAccounts = [], nodePodsAccessible = false } = value;
  const secrets = readList(kubernetesSecrets, ['uid', 'namespace', 'name', 'credentialHash'] as const);
  const serviceAccounts = readList(kubernetesServiceAccounts, ['uid', 'namespace', 'name'] as const);
  if (secrets === undefined || serviceAccounts === undefined || typeof nodePodsAccessible !== 'boolean') {
    return undefined;
  }
  return { secrets, serviceAccounts, everyPod: nodePodsAccessible };
}

function readList<K extends string>(value: unknown, keys: readonly K[]): Record<K, string>[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: Record<K, string>[] = [];
  for (const item of value) {
    if (!isObject(item)) return undefined;
    const entries = keys.map((key): readonly [K, unknown] => [key, item[key]]);
    if (!entries.every((entry): entry is readonly [K, string] => typeof entry[1] === 'string')) return undefined;
    items.push(Object.fromEntries(entries) as Record<K, string>);
  }
  return items;
}
