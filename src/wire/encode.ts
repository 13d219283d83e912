/**
 * Messages to bytes, written from the end to the front: then a length is known when its turn comes, and nothing is
 * measured twice or moved.
 */
import { CodedError } from '../base/errors.ts';
import {
  type AnyMessage,
  type Field,
  type Init,
  Kind,
  type MessageType,
  Shape,
  WireType,
  wireTypeOf,
} from './message.ts';

type Source = Readonly<Record<string, unknown>>;

export function encode<T>(type: MessageType<T>, value: Init<T>): Uint8Array {
  const writer = new Writer();
  writeMessage(writer, type, value as Source);
  return writer.result();
}

class Writer {
  private bytes = Buffer.allocUnsafe(512);
  position = this.bytes.length;

  result(): Uint8Array {
    return this.bytes.subarray(this.position);
  }

  /** Bytes written so far. */
  get written(): number {
    return this.bytes.length - this.position;
  }

  private makeRoom(count: number): void {
    if (this.position >= count) return;
    const grown = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.written + count));
    const position = grown.length - this.written;
    this.bytes.copy(grown, position, this.position);
    this.bytes = grown;
    this.position = position;
  }

  varint(low: number, high = 0): void {
    const bits = high === 0 ? 32 - Math.clz32(low | 1) : 64 - Math.clz32(high);
    const size = Math.ceil(bits / 7);
    this.makeRoom(size);
    this.position -= size;
    let at = this.position;
    for (let left = size; left > 1; left--) {
      this.bytes[at++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    this.bytes[at] = low & 0x7f;
  }

  bigint(value: bigint): void {
    const bits = BigInt.asUintN(64, value);
    this.varint(Number(bits & 0xffff_ffffn), Number(bits >> 32n));
  }

  string(value: string): void {
    const size = Buffer.byteLength(value);
    this.makeRoom(size);
    this.position -= size;
    this.bytes.write(value, this.position, 'utf8');
    this.varint(size);
  }

  raw(value: Uint8Array): void {
    this.makeRoom(value.length);
    this.position -= value.length;
    this.bytes.set(value, this.position);
    this.varint(value.length);
  }

  double(value: number): void {
    this.makeRoom(8);
    this.position -= 8;
    this.bytes.writeDoubleLE(value, this.position);
  }
}

function writeMessage(writer: Writer, type: AnyMessage, source: Source): void {
  for (let at = type.fields.length - 1; at >= 0; at--) {
    const field = type.fields[at];
    if (field === undefined) continue;
    const value = source[field.name];
    if (value === undefined) continue;
    switch (field.shape) {
      case Shape.one:
        if (isZero(value)) break;
        writeTagged(writer, type, field, value);
        break;
      case Shape.optional:
        writeTagged(writer, type, field, value);
        break;
      case Shape.list:
        writeList(writer, type, field, value as readonly unknown[]);
        break;
      case Shape.map:
        writeMap(writer, type, field, value as Source);
        break;
    }
  }
}

function isZero(value: unknown): boolean {
  if (value instanceof Uint8Array) return value.length === 0;
  // -0.0 is not the zero value: its sign is information.
  return value === '' || value === false || value === 0n || Object.is(value, 0);
}

function writeTagged(writer: Writer, type: AnyMessage, field: Field, value: unknown): void {
  writeValue(writer, type, field, value);
  writer.varint(field.tag);
}

function writeList(writer: Writer, type: AnyMessage, field: Field, list: readonly unknown[]): void {
  if (list.length === 0) return;
  const before = writer.written;
  for (let at = list.length - 1; at >= 0; at--) {
    if (field.packed) writeValue(writer, type, field, list[at]);
    else writeTagged(writer, type, field, list[at]);
  }
  if (!field.packed) return;
  writer.varint(writer.written - before);
  writer.varint(field.tag);
}

function writeMap(writer: Writer, type: AnyMessage, field: Field, map: Source): void {
  for (const [key, value] of Object.entries(map).reverse()) {
    const before = writer.written;
    writeValue(writer, type, field, value);
    writer.varint((2 << 3) | wireTypeOf(field.kind));
    writer.string(key);
    writer.varint((1 << 3) | WireType.bytes);
    writer.varint(writer.written - before);
    writer.varint(field.tag);
  }
}

function writeValue(writer: Writer, type: AnyMessage, field: Field, value: unknown): void {
  const { kind } = field;
  if (kind === Kind.string && typeof value === 'string') writer.string(value);
  else if (kind === Kind.message && typeof value === 'object' && value !== null) {
    const before = writer.written;
    writeMessage(writer, (field.message as () => AnyMessage)(), value as Source);
    writer.varint(writer.written - before);
  } else if (kind === Kind.bytes && value instanceof Uint8Array) writer.raw(value);
  else if (kind === Kind.bool && typeof value === 'boolean') writer.varint(value ? 1 : 0);
  else if (kind === Kind.double && typeof value === 'number') writer.double(value);
  else if (typeof value === 'number' || typeof value === 'bigint') writeInteger(writer, type, field, value);
  else throw unfit(type, field, value);
}

const RANGES: Readonly<Partial<Record<Kind, readonly [bigint, bigint]>>> = {
  [Kind.int32]: [-(2n ** 31n), 2n ** 31n - 1n],
  [Kind.enum]: [-(2n ** 31n), 2n ** 31n - 1n],
  [Kind.uint32]: [0n, 2n ** 32n - 1n],
  [Kind.int64]: [-(2n ** 63n), 2n ** 63n - 1n],
  [Kind.int64Number]: [-(2n ** 63n), 2n ** 63n - 1n],
  [Kind.uint64]: [0n, 2n ** 64n - 1n],
  [Kind.uint64Number]: [0n, 2n ** 64n - 1n],
};

function writeInteger(writer: Writer, type: AnyMessage, field: Field, value: number | bigint): void {
  const range = RANGES[field.kind];
  if (
    range === undefined ||
    (typeof value === 'number' && !Number.isInteger(value)) ||
    value < range[0] ||
    value > range[1]
  ) {
    throw unfit(type, field, value);
  }
  if (typeof value === 'number' && value >= 0 && value <= 0xffff_ffff) writer.varint(value);
  else writer.bigint(BigInt(value));
}

function unfit(type: AnyMessage, field: Field, value: unknown): CodedError {
  const kind = Object.entries(Kind).find(([, number]) => number === field.kind)?.[0] ?? '?';
  const shown = typeof value === 'object' ? typeof value : String(value);
  return new CodedError('invalid', `${type.name}.${field.name}: ${shown} (${typeof value}) does not fit ${kind}`);
}
