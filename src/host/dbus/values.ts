/** Values of D-Bus messages as bytes, both ways. Little-endian, which every peer must read. */
import { CodedError } from '../../base/errors.ts';
import { alignmentOf, type DBusType, parseSignature } from './signature.ts';

/** A value that carries its own type. */
export interface Variant {
  readonly signature: string;
  readonly value: DBusValue;
}

/**
 * `x` and `t` are bigints, other numbers are numbers; structs, arrays and entries of dictionaries are arrays. `h` is the position
 * of a file descriptor among those that came with the message.
 */
export type DBusValue = number | bigint | string | boolean | Variant | readonly DBusValue[];

const LONGEST_ARRAY = 1 << 26;

/** The bytes of the values. What follows in the same message must begin at a multiple of eight. */
export function encodeValues(signature: string, values: readonly DBusValue[]): Buffer {
  const writer = createWriter();
  const types = parseSignature(signature);
  if (types.length !== values.length) throw new CodedError('invalid', `${values.length} values for "${signature}"`);
  for (const [index, type] of types.entries()) writeValue(writer, type, values[index] as DBusValue);
  return writer.bytes();
}

export function decodeValues(signature: string, bytes: Buffer, littleEndian = true): readonly DBusValue[] {
  const reader: Reader = {
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
    bytes,
    at: 0,
    littleEndian,
  };
  return parseSignature(signature).map((type) => readValue(reader, type));
}

interface Writer {
  pad(alignment: number): void;
  put(size: number, write: (bytes: Buffer, at: number) => void): number;
  text(value: string): void;
  length(): number;
  /** Overwrites four bytes that were left for a length. */
  patch(at: number, value: number): void;
  bytes(): Buffer;
}

function createWriter(): Writer {
  let buffer = Buffer.alloc(512);
  let used = 0;
  const reserve = (size: number) => {
    if (used + size > buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(Math.max(buffer.length, size))]);
    used += size;
    return used - size;
  };
  const put: Writer['put'] = (size, write) => {
    const at = reserve(size);
    write(buffer, at);
    return at;
  };
  return {
    pad: (alignment) => void reserve((alignment - (used % alignment)) % alignment),
    put,
    text: (value) => void put(Buffer.byteLength(value) + 1, (bytes, at) => bytes.write(value, at)),
    length: () => used,
    patch: (at, value) => void buffer.writeUInt32LE(value, at),
    bytes: () => buffer.subarray(0, used),
  };
}

const WRITERS: Readonly<Record<string, (writer: Writer, value: DBusValue) => void>> = {
  y: (writer, value) => writer.put(1, (bytes, at) => bytes.writeUInt8(Number(value), at)),
  b: (writer, value) => writer.put(4, (bytes, at) => bytes.writeUInt32LE(value === true ? 1 : 0, at)),
  n: (writer, value) => writer.put(2, (bytes, at) => bytes.writeInt16LE(Number(value), at)),
  q: (writer, value) => writer.put(2, (bytes, at) => bytes.writeUInt16LE(Number(value), at)),
  i: (writer, value) => writer.put(4, (bytes, at) => bytes.writeInt32LE(Number(value), at)),
  u: (writer, value) => writer.put(4, (bytes, at) => bytes.writeUInt32LE(Number(value), at)),
  h: (writer, value) => writer.put(4, (bytes, at) => bytes.writeUInt32LE(Number(value), at)),
  x: (writer, value) => writer.put(8, (bytes, at) => bytes.writeBigInt64LE(BigInt(value as bigint), at)),
  t: (writer, value) => writer.put(8, (bytes, at) => bytes.writeBigUInt64LE(BigInt(value as bigint), at)),
  d: (writer, value) => writer.put(8, (bytes, at) => bytes.writeDoubleLE(Number(value), at)),
  s: writeText,
  o: writeText,
  g: (writer, value) => {
    writer.put(1, (bytes, at) => bytes.writeUInt8(String(value).length, at));
    writer.text(String(value));
  },
};

function writeText(writer: Writer, value: DBusValue): void {
  if (typeof value !== 'string' || value.includes('\0')) {
    throw new CodedError('invalid', `${JSON.stringify(String(value))} can't be sent as text over D-Bus`);
  }
  writer.put(4, (bytes, at) => bytes.writeUInt32LE(Buffer.byteLength(value), at));
  writer.text(value);
}

function writeValue(writer: Writer, type: DBusType, value: DBusValue): void {
  writer.pad(alignmentOf(type.code));
  const basic = WRITERS[type.code];
  if (basic !== undefined) basic(writer, value);
  else if (type.code === 'v') writeVariant(writer, value as Variant);
  else if (type.code === 'a') writeArray(writer, type, value as readonly DBusValue[]);
  else writeMembers(writer, type, value as readonly DBusValue[]);
}

function writeMembers(writer: Writer, type: DBusType, values: readonly DBusValue[]): void {
  for (const [index, member] of type.inner.entries()) writeValue(writer, member, values[index] as DBusValue);
}

function writeVariant(writer: Writer, { signature, value }: Variant): void {
  WRITERS['g']?.(writer, signature);
  const [type] = parseSignature(signature);
  if (type !== undefined) writeValue(writer, type, value);
}

/** Its length does not count the padding before the first element. */
function writeArray(writer: Writer, { inner: [element] }: DBusType, values: readonly DBusValue[]): void {
  if (element === undefined) return;
  const length = writer.put(4, () => undefined);
  writer.pad(alignmentOf(element.code));
  const start = writer.length();
  for (const value of values) writeValue(writer, element, value);
  writer.patch(length, writer.length() - start);
}

interface Reader {
  readonly view: DataView;
  readonly bytes: Buffer;
  at: number;
  readonly littleEndian: boolean;
}

function take(reader: Reader, size: number): number {
  const at = reader.at;
  if (size < 0 || at + size > reader.bytes.length) throw new CodedError('invalid', 'a D-Bus message is cut off');
  reader.at += size;
  return at;
}

const READERS: Readonly<Record<string, (reader: Reader) => DBusValue>> = {
  y: (reader) => reader.view.getUint8(take(reader, 1)),
  b: (reader) => reader.view.getUint32(take(reader, 4), reader.littleEndian) !== 0,
  n: (reader) => reader.view.getInt16(take(reader, 2), reader.littleEndian),
  q: (reader) => reader.view.getUint16(take(reader, 2), reader.littleEndian),
  i: (reader) => reader.view.getInt32(take(reader, 4), reader.littleEndian),
  u: readCount,
  h: readCount,
  x: (reader) => reader.view.getBigInt64(take(reader, 8), reader.littleEndian),
  t: (reader) => reader.view.getBigUint64(take(reader, 8), reader.littleEndian),
  d: (reader) => reader.view.getFloat64(take(reader, 8), reader.littleEndian),
  s: (reader) => readText(reader, readCount(reader)),
  o: (reader) => readText(reader, readCount(reader)),
  g: (reader) => readText(reader, reader.view.getUint8(take(reader, 1))),
};

function readCount(reader: Reader): number {
  return reader.view.getUint32(take(reader, 4), reader.littleEndian);
}

function readText(reader: Reader, length: number): string {
  const at = take(reader, length + 1);
  return reader.bytes.toString('utf8', at, at + length);
}

function align(reader: Reader, alignment: number): void {
  take(reader, (alignment - (reader.at % alignment)) % alignment);
}

function readValue(reader: Reader, type: DBusType): DBusValue {
  align(reader, alignmentOf(type.code));
  const basic = READERS[type.code];
  if (basic !== undefined) return basic(reader);
  if (type.code === 'v') return readVariant(reader);
  if (type.code === 'a') return readArray(reader, type);
  return type.inner.map((member) => readValue(reader, member));
}

function readVariant(reader: Reader): Variant {
  const signature = String(READERS['g']?.(reader));
  const [type, ...more] = parseSignature(signature);
  if (type === undefined || more.length > 0) throw new CodedError('invalid', 'a D-Bus variant has not one type');
  return { signature, value: readValue(reader, type) };
}

function readArray(reader: Reader, { inner: [element] }: DBusType): readonly DBusValue[] {
  const length = readCount(reader);
  if (element === undefined || length > LONGEST_ARRAY) throw new CodedError('invalid', 'a D-Bus array is too long');
  align(reader, alignmentOf(element.code));
  const end = reader.at + length;
  const values: DBusValue[] = [];
  while (reader.at < end) values.push(readValue(reader, element));
  return values;
}
