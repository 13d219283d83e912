/**
 * The files of a volume that is made from objects, before they are written: which names, which contents, which modes. Error texts
 * are those that users search for.
 */
import type { StringMap } from '../../api/meta.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { KeyToPath } from '../../api/volume.ts';

export interface ProjectedFile {
  readonly data: Uint8Array;
  readonly mode: number;
  /** The user that owns it; undefined: root. */
  readonly owner?: number;
}

/** By the path in the volume, `etc/app.conf`. */
export type Payload = ReadonlyMap<string, ProjectedFile>;

export interface KeyedSource {
  /** None: every key is a file. */
  readonly items?: readonly KeyToPath[] | undefined;
  readonly defaultMode: number;
  readonly optional: boolean;
}

export interface ConfigMapContent {
  readonly data?: StringMap;
  /** Base64. */
  readonly binaryData?: StringMap;
}

export interface SecretContent {
  /** Base64. */
  readonly data?: StringMap;
}

/** 0644: the API server's default. */
export const DEFAULT_MODE = 0o644;

const text = new TextEncoder();

export function configMapPayload(
  source: KeyedSource,
  { data = {}, binaryData = {} }: ConfigMapContent,
): Parsed<Payload> {
  return keyedPayload(source, {
    keys: [...Object.keys(data), ...Object.keys(binaryData)],
    read: (key) => ownBytes(data, key, (value) => text.encode(value)) ?? ownBytes(binaryData, key, fromBase64),
    missing: (key) => `configmap references non-existent config key: ${key}`,
  });
}

export function secretPayload(source: KeyedSource, { data = {} }: SecretContent): Parsed<Payload> {
  return keyedPayload(source, {
    keys: Object.keys(data),
    read: (key) => ownBytes(data, key, fromBase64),
    missing: (key) => `references non-existent secret key: ${key}`,
  });
}

interface Keyed {
  readonly keys: readonly string[];
  readonly read: (key: string) => Uint8Array | undefined;
  readonly missing: (key: string) => string;
}

function keyedPayload({ items = [], defaultMode, optional }: KeyedSource, keyed: Keyed): Parsed<Payload> {
  const paths: readonly KeyToPath[] = items.length > 0 ? items : keyed.keys.map((key) => ({ key, path: key }));
  const payload = new Map<string, ProjectedFile>();
  // Ten thousand paths can show the same key.
  const contents = new Map<string, Uint8Array | undefined>();
  for (const { key, path, mode = defaultMode } of paths) {
    if (!contents.has(key)) contents.set(key, keyed.read(key));
    const data = contents.get(key);
    if (data !== undefined) payload.set(path, { data, mode });
    else if (!optional) return unparsable(keyed.missing(key));
  }
  return parsed(payload);
}

function ownBytes(map: StringMap, key: string, decode: (value: string) => Uint8Array): Uint8Array | undefined {
  // A key may be called like something that every object has.
  return Object.hasOwn(map, key) ? decode(map[key] ?? '') : undefined;
}

const fromBase64 = (value: string): Uint8Array => Uint8Array.fromBase64(value);

/**
 * Bytes of all files of one volume. Most such volumes are in memory, and the files that a pod asks for can be many thousand times
 * larger than the pod: each of them may show all annotations, or the same key of a secret.
 */
export const LARGEST_PAYLOAD = 64 * 1024 * 1024;

/** The problem with its size, or undefined. */
export function sizeFault(payload: Payload): string | undefined {
  let bytes = 0;
  for (const { data } of payload.values()) bytes += data.length;
  return bytes > LARGEST_PAYLOAD ? `the files of the volume are larger than ${LARGEST_PAYLOAD} bytes` : undefined;
}

/** Several sources in one volume: where several have the same path, the last one is used. */
export function mergePayloads(payloads: readonly Payload[]): Payload {
  const [only] = payloads;
  return payloads.length === 1 && only !== undefined ? only : new Map(payloads.flatMap((payload) => [...payload]));
}

/** All problems in one text: a single problem as it is, several as a list without repetitions. */
export function describeProblems(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}
