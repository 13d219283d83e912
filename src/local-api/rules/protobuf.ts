/** Some commands of kubectl send objects in Kubernetes' protobuf form: those kinds are read here, into what their JSON would be. */
import { badRequest, Refusal } from './refusal.ts';

/** How one field is written: its name in JSON, and what it holds. */
type Field = readonly [name: string, kind: Kind, list?: 'list'];
type Kind = 'text' | 'bytes' | 'int' | 'bool' | 'time' | 'texts' | 'blobs' | Message;
interface Message {
  readonly [number: number]: Field;
}

const META: Message = {
  1: ['name', 'text'],
  2: ['generateName', 'text'],
  3: ['namespace', 'text'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
  7: ['generation', 'int'],
  11: ['labels', 'texts'],
  12: ['annotations', 'texts'],
  14: ['finalizers', 'text', 'list'],
};
const DELETE_OPTIONS: Message = {
  1: ['gracePeriodSeconds', 'int'],
  2: ['preconditions', { 1: ['uid', 'text'], 2: ['resourceVersion', 'text'] }],
  3: ['orphanDependents', 'bool'],
  4: ['propagationPolicy', 'text'],
  5: ['dryRun', 'text', 'list'],
};
const RESOURCE_ATTRIBUTES: Message = {
  1: ['namespace', 'text'],
  2: ['verb', 'text'],
  3: ['group', 'text'],
  4: ['version', 'text'],
  5: ['resource', 'text'],
  6: ['subresource', 'text'],
  7: ['name', 'text'],
};
const KINDS: Readonly<Record<string, Message>> = {
  Namespace: { 1: ['metadata', META] },
  ConfigMap: { 1: ['metadata', META], 2: ['data', 'texts'], 3: ['binaryData', 'blobs'], 4: ['immutable', 'bool'] },
  Secret: {
    1: ['metadata', META],
    2: ['data', 'blobs'],
    3: ['type', 'text'],
    4: ['stringData', 'texts'],
    5: ['immutable', 'bool'],
  },
  ServiceAccount: {
    1: ['metadata', META],
    3: ['imagePullSecrets', { 1: ['name', 'text'] }, 'list'],
    4: ['automountServiceAccountToken', 'bool'],
  },
  DeleteOptions: DELETE_OPTIONS,
  TokenRequest: {
    1: ['metadata', META],
    2: [
      'spec',
      {
        1: ['audiences', 'text', 'list'],
        3: [
          'boundObjectRef',
          { 1: ['kind', 'text'], 2: ['apiVersion', 'text'], 3: ['name', 'text'], 4: ['uid', 'text'] },
        ],
        4: ['expirationSeconds', 'int'],
      },
    ],
  },
  SelfSubjectAccessReview: {
    2: [
      'spec',
      {
        1: ['resourceAttributes', RESOURCE_ATTRIBUTES],
        2: ['nonResourceAttributes', { 1: ['path', 'text'], 2: ['verb', 'text'] }],
      },
    ],
  },
  SelfSubjectReview: {},
  Eviction: { 1: ['metadata', META], 2: ['deleteOptions', DELETE_OPTIONS] },
};
const ENVELOPE: Message = { 1: ['type', { 1: ['apiVersion', 'text'], 2: ['kind', 'text'] }], 2: ['raw', 'bytes'] };

/** `k8s` and a zero byte. */
const MAGIC = [0x6b, 0x38, 0x73, 0];

export function readProtobuf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  if (!MAGIC.every((byte, index) => bytes[index] === byte)) throw unreadable();
  const { type, raw } = readMessage(ENVELOPE, bytes.subarray(MAGIC.length)) as {
    readonly type?: { readonly apiVersion?: string; readonly kind?: string };
    readonly raw?: Uint8Array;
  };
  const { kind = '', apiVersion = '' } = type ?? {};
  const fields = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (fields === undefined) {
    throw new Refusal(
      415,
      'UnsupportedMediaType',
      `the local API reads ${kind.slice(0, 100) || 'objects'} as JSON or YAML, not as protobuf`,
      {},
    );
  }
  return { apiVersion, kind, ...readMessage(fields, raw ?? new Uint8Array()) };
}

const unreadable = () => badRequest('the body of the request is not the protobuf form of an object');

function readMessage(message: Message, bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const result: Record<string, unknown> = {};
  const reader = new Reader(bytes);
  while (!reader.isDone()) {
    const { number, value } = reader.field();
    const field = Object.hasOwn(message, number) ? message[number] : undefined;
    if (field !== undefined) take(result, field, value);
  }
  return result;
}

function take(result: Record<string, unknown>, [name, kind, list]: Field, value: bigint | Uint8Array): void {
  if (kind === 'texts' || kind === 'blobs') {
    const entry = readMessage(
      { 1: ['key', 'text'], 2: ['value', kind === 'texts' ? 'text' : 'bytes'] },
      bytesOf(value),
    );
    const { key = '', value: item = kind === 'texts' ? '' : new Uint8Array() } = entry as {
      key?: string;
      value?: string | Uint8Array;
    };
    result[name] ??= Object.create(null);
    const map = result[name] as Record<string, unknown>;
    map[key] = typeof item === 'string' ? item : toBase64(item);
    return;
  }
  const read = readValue(kind, value);
  if (list !== undefined) result[name] = [...((result[name] as unknown[] | undefined) ?? []), read];
  // What is empty is written all the same, and means nothing.
  else if (read !== '') result[name] = read;
}

function readValue(kind: Exclude<Kind, 'texts' | 'blobs'>, value: bigint | Uint8Array): unknown {
  switch (kind) {
    case 'text':
      return decodeText(bytesOf(value));
    case 'bytes':
    case 'time':
      return bytesOf(value);
    case 'int':
      if (typeof value !== 'bigint') throw unreadable();
      return Number(BigInt.asIntN(64, value));
    case 'bool':
      return value !== 0n;
    default:
      return readMessage(kind, bytesOf(value));
  }
}

function bytesOf(value: bigint | Uint8Array): Uint8Array {
  if (typeof value === 'bigint') throw unreadable();
  return value;
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable();
  }
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

const LONGEST_NUMBER = 10;

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  isDone(): boolean {
    return this.#at >= this.#bytes.length;
  }

  field(): { readonly number: number; readonly value: bigint | Uint8Array } {
    const tag = this.#number();
    const number = Number(tag >> 3n);
    switch (tag & 7n) {
      case 0n:
        return { number, value: this.#number() };
      case 1n:
        return { number, value: this.#take(8) };
      case 2n:
        return { number, value: this.#take(Number(this.#number())) };
      case 5n:
        return { number, value: this.#take(4) };
      default:
        throw unreadable();
    }
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw unreadable();
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  #number(): bigint {
    let value = 0n;
    for (let count = 0; count < LONGEST_NUMBER; count++) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw unreadable();
      this.#at += 1;
      value |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return value;
    }
    throw unreadable();
  }
}
