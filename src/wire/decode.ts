/**
 * Bytes to messages. Unknown fields are skipped, invalid UTF-8 becomes U+FFFD, and whatever else is wrong with the bytes
 * is a CodedError `invalid`: the peer is another program, and its mistakes must not look like ours.
 */
import { CodedError } from '../base/errors.ts';
import {
  type AnyMessage,
  type Field,
  Kind,
  type MessageType,
  NO_BYTES,
  NO_ENTRIES,
  NO_ITEMS,
  Shape,
  WireType,
  wireTypeOf,
} from './message.ts';

/** Nothing we read nests deeper than 10; more than this is an attack on the stack. */
const DEEPEST = 100;
/** Below this many bytes a loop in JavaScript beats the call into Node's string decoder. */
const SHORT_STRING = 24;

type Target = Record<string, unknown>;

export function decode<T>(type: MessageType<T>, bytes: Uint8Array): T {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return readMessage(new Reader(buffer, type.name), type, buffer.length, 0) as T;
}

class Reader {
  readonly bytes: Buffer;
  readonly what: string;
  position = 0;
  /** The two halves of the varint read last. */
  low = 0;
  high = 0;

  constructor(bytes: Buffer, what: string) {
    this.bytes = bytes;
    this.what = what;
  }

  malformed(problem: string): CodedError {
    return new CodedError('invalid', `${this.what}: ${problem} at byte ${this.position} of ${this.bytes.length}`);
  }

  varint(end: number): number {
    const first = this.bytes[this.position];
    if (first !== undefined && first < 0x80 && this.position < end) {
      this.position++;
      this.high = 0;
      this.low = first;
      return first;
    }
    return this.longVarint(end);
  }

  /** Returns the low 32 bits, unsigned; `high` has the rest. */
  private longVarint(end: number): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.position >= end) throw this.malformed('a number is cut off');
      const byte = this.bytes[this.position++] ?? 0;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        return this.low;
      }
    }
    throw this.malformed('a number has more than 10 bytes');
  }

  /** The end of a length-prefixed value that begins here. */
  lengthEnd(end: number): number {
    const length = this.varint(end);
    const stop = this.position + length;
    if (this.high !== 0 || stop > end) throw this.malformed(`a value of ${length} bytes is cut off`);
    return stop;
  }

  double(end: number): number {
    if (this.position + 8 > end) throw this.malformed('a double is cut off');
    const value = this.bytes.readDoubleLE(this.position);
    this.position += 8;
    return value;
  }

  string(end: number): string {
    const start = this.position;
    this.position = end;
    if (end - start < SHORT_STRING) {
      let text = '';
      let at = start;
      for (; at < end; at++) {
        const byte = this.bytes[at] ?? 0;
        if (byte >= 0x80) break;
        text += String.fromCharCode(byte);
      }
      if (at === end) return text;
    }
    return this.bytes.toString('utf8', start, end);
  }
}

function readMessage(reader: Reader, type: AnyMessage, end: number, depth: number): unknown {
  if (depth > DEEPEST) throw reader.malformed(`more than ${DEEPEST} messages nested`);
  const target = type.zero() as Target;
  while (reader.position < end) {
    const tag = reader.varint(end);
    if (reader.high !== 0 || tag < 8) throw reader.malformed(`no such field tag (${tag})`);
    const field = type.byNumber[tag >>> 3];
    if (field === undefined) skip(reader, tag, end, depth);
    else if (field.tag === tag) readField(reader, field, target, end, depth);
    else if (field.packed && tag === ((field.number << 3) | wireTypeOf(field.kind)))
      append(target, field, readValue(reader, field, end, depth));
    else skip(reader, tag, end, depth);
  }
  return target;
}

function readField(reader: Reader, field: Field, target: Target, end: number, depth: number): void {
  if (field.shape === Shape.one || field.shape === Shape.optional) {
    for (const rival of field.rivals) target[rival] = undefined;
    const value = readValue(reader, field, end, depth);
    const old = field.kind === Kind.message ? target[field.name] : undefined;
    target[field.name] = old === undefined ? value : merge(field, old as Target, value as Target);
  } else if (field.shape === Shape.map) {
    readEntry(reader, field, target, reader.lengthEnd(end), depth);
  } else if (field.packed) {
    const stop = reader.lengthEnd(end);
    while (reader.position < stop) append(target, field, readValue(reader, field, stop, depth));
  } else {
    append(target, field, readValue(reader, field, end, depth));
  }
}

function append(target: Target, field: Field, value: unknown): void {
  const list = target[field.name] as unknown[] | typeof NO_ITEMS;
  // The shared empty list of the zero value gives way to one of our own.
  if (list === NO_ITEMS) target[field.name] = [value];
  else (list as unknown[]).push(value);
}

function readEntry(reader: Reader, field: Field, target: Target, end: number, depth: number): void {
  let key = '';
  let value: unknown;
  while (reader.position < end) {
    const tag = reader.varint(end);
    if (reader.high !== 0 || tag < 8) throw reader.malformed(`no such field tag (${tag})`);
    if (tag === KEY_TAG) key = reader.string(reader.lengthEnd(end));
    else if (tag === ((2 << 3) | wireTypeOf(field.kind))) value = readValue(reader, field, end, depth);
    else skip(reader, tag, end, depth);
  }
  if (value === undefined) value = zeroOf(field);
  const map = target[field.name] as Target;
  if (map === NO_ENTRIES) target[field.name] = entry({}, key, value);
  else entry(map, key, value);
}

const KEY_TAG = (1 << 3) | WireType.bytes;

function entry(map: Target, key: string, value: unknown): Target {
  // Plain assignment to this one name would set the prototype and lose the entry.
  if (key === '__proto__')
    Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true });
  else map[key] = value;
  return map;
}

/** The value of a map entry that has only a key. */
function zeroOf(field: Field): unknown {
  switch (field.kind) {
    case Kind.string:
      return '';
    case Kind.bytes:
      return NO_BYTES;
    case Kind.bool:
      return false;
    case Kind.int64:
    case Kind.uint64:
      return 0n;
    case Kind.message:
      return field.message?.().zero();
    default:
      return 0;
  }
}

function readValue(reader: Reader, field: Field, end: number, depth: number): unknown {
  switch (field.kind) {
    case Kind.string:
      return reader.string(reader.lengthEnd(end));
    case Kind.message: {
      const stop = reader.lengthEnd(end);
      return readMessage(reader, (field.message as () => AnyMessage)(), stop, depth + 1);
    }
    case Kind.bytes: {
      const stop = reader.lengthEnd(end);
      const copy = new Uint8Array(reader.bytes.subarray(reader.position, stop));
      reader.position = stop;
      return copy;
    }
    case Kind.bool:
      return reader.varint(end) !== 0 || reader.high !== 0;
    case Kind.int32:
    case Kind.enum:
      return reader.varint(end) | 0;
    case Kind.uint32:
      return reader.varint(end);
    case Kind.double:
      return reader.double(end);
    case Kind.int64Number:
      reader.varint(end);
      return (reader.high | 0) * 2 ** 32 + reader.low;
    case Kind.uint64Number:
      reader.varint(end);
      return reader.high * 2 ** 32 + reader.low;
    case Kind.int64:
      reader.varint(end);
      return BigInt.asIntN(64, (BigInt(reader.high) << 32n) | BigInt(reader.low));
    case Kind.uint64:
      reader.varint(end);
      return (BigInt(reader.high) << 32n) | BigInt(reader.low);
  }
}

/** A message field that comes twice counts as one: what the second sets wins, lists and maps add up. */
function merge(field: Field, old: Target, fresh: Target): Target {
  const type = (field.message as () => AnyMessage)();
  const zero = type.zero() as Target;
  const merged: Target = { ...old };
  for (const inner of type.fields) {
    const [before, after] = [old[inner.name], fresh[inner.name]];
    if (inner.shape === Shape.list) merged[inner.name] = [...(before as unknown[]), ...(after as unknown[])];
    else if (inner.shape === Shape.map) merged[inner.name] = { ...(before as Target), ...(after as Target) };
    else if (after === zero[inner.name]) continue;
    else if (inner.kind === Kind.message && before !== undefined)
      merged[inner.name] = merge(inner, before as Target, after as Target);
    else {
      for (const rival of inner.rivals) merged[rival] = undefined;
      merged[inner.name] = after;
    }
  }
  return merged;
}

function skip(reader: Reader, tag: number, end: number, depth: number): void {
  switch (tag & 7) {
    case WireType.varint:
      reader.varint(end);
      return;
    case WireType.fixed64:
      reader.position += 8;
      break;
    case WireType.bytes:
      reader.position = reader.lengthEnd(end);
      break;
    case WireType.fixed32:
      reader.position += 4;
      break;
    case WireType.groupStart:
      skipGroup(reader, tag, end, depth + 1);
      break;
    default:
      throw reader.malformed(`no such wire type (${tag & 7})`);
  }
  if (reader.position > end) throw reader.malformed('a value is cut off');
}

function skipGroup(reader: Reader, start: number, end: number, depth: number): void {
  if (depth > DEEPEST) throw reader.malformed(`more than ${DEEPEST} groups nested`);
  while (reader.position < end) {
    const tag = reader.varint(end);
    if (reader.high !== 0 || tag < 8) throw reader.malformed(`no such field tag (${tag})`);
    if ((tag & 7) !== WireType.groupEnd) skip(reader, tag, end, depth);
    else if (tag >>> 3 === start >>> 3) return;
    else throw reader.malformed('a group ends that did not begin');
  }
  throw reader.malformed('a group does not end');
}
