/** Messages of D-Bus: a fixed beginning, fields, then a body whose signature is one of the fields. */
import { CodedError } from '../../base/errors.ts';
import { type DBusValue, decodeValues, encodeValues, type Variant } from './values.ts';

export const MESSAGE_TYPE = { call: 1, reply: 2, error: 3, signal: 4 } as const;

export interface DBusMessage {
  readonly type: number;
  readonly serial: number;
  readonly replySerial: number | undefined;
  readonly path: string | undefined;
  readonly interface: string | undefined;
  readonly member: string | undefined;
  readonly errorName: string | undefined;
  readonly sender: string | undefined;
  readonly body: readonly DBusValue[];
  /** How many file descriptors belong to it. */
  readonly fdCount: number;
}

export interface MethodCall {
  /** Undefined on a connection that leads to one peer without a bus. */
  readonly destination: string | undefined;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature: string;
  readonly body: readonly DBusValue[];
}

const PROTOCOL_VERSION = 1;
const LITTLE_ENDIAN = 'l'.charCodeAt(0);
/** Before the fields: four bytes, the length of the body, the serial and the length of the fields. */
const FIXED_BYTES = 16;
/** Far above what systemd and logind send. The specification allows 128 MiB. */
export const LONGEST_MESSAGE = 8 * 1024 * 1024;
const FIELD = {
  path: 1,
  interface: 2,
  member: 3,
  errorName: 4,
  replySerial: 5,
  destination: 6,
  sender: 7,
  signature: 8,
  unixFds: 9,
} as const;
const FIELDS_SIGNATURE = 'a(yv)';

export interface OutgoingMessage extends Partial<Omit<MethodCall, 'signature' | 'body'>> {
  readonly type: number;
  readonly serial: number;
  readonly replySerial?: number;
  readonly errorName?: string;
  readonly signature: string;
  readonly body: readonly DBusValue[];
}

export function encodeCall(call: MethodCall, serial: number): Buffer {
  return encodeMessage({ ...call, type: MESSAGE_TYPE.call, serial });
}

export function encodeMessage(message: OutgoingMessage): Buffer {
  const body = encodeValues(message.signature, message.body);
  const field = (code: number, signature: string, value: DBusValue | undefined) =>
    value === undefined || value === '' ? [] : [[code, { signature, value }]];
  const header = encodeValues(`yyyyuu${FIELDS_SIGNATURE}`, [
    ...[LITTLE_ENDIAN, message.type, 0, PROTOCOL_VERSION, body.length, message.serial],
    [
      ...field(FIELD.path, 'o', message.path),
      ...field(FIELD.interface, 's', message.interface),
      ...field(FIELD.member, 's', message.member),
      ...field(FIELD.errorName, 's', message.errorName),
      ...field(FIELD.replySerial, 'u', message.replySerial),
      ...field(FIELD.destination, 's', message.destination),
      ...field(FIELD.signature, 'g', message.signature),
    ],
  ]);
  return Buffer.concat([header, Buffer.alloc((8 - (header.length % 8)) % 8), body]);
}

/** The length of the message that begins here; undefined while too little of it has come to say. */
export function messageLength(bytes: Buffer): number | undefined {
  if (bytes.length < FIXED_BYTES) return undefined;
  const littleEndian = isLittleEndian(bytes);
  const read = (at: number) => (littleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const fields = read(12);
  const length = FIXED_BYTES + fields + ((8 - (fields % 8)) % 8) + read(4);
  if (length > LONGEST_MESSAGE) throw new CodedError('invalid', `a D-Bus message of ${length} bytes is too long`);
  return length;
}

/** From the bytes of one whole message. */
export function decodeMessage(bytes: Buffer): DBusMessage {
  const littleEndian = isLittleEndian(bytes);
  const [, type, , , bodyLength, serial, list] = decodeValues(`yyyyuu${FIELDS_SIGNATURE}`, bytes, littleEndian);
  const fields = new Map((list as readonly (readonly [number, Variant])[]).map(([code, { value }]) => [code, value]));
  const text = (code: number) => fields.get(code) as string | undefined;
  const body = bytes.subarray(bytes.length - Number(bodyLength));
  return {
    type: Number(type),
    serial: Number(serial),
    replySerial: fields.get(FIELD.replySerial) as number | undefined,
    path: text(FIELD.path),
    interface: text(FIELD.interface),
    member: text(FIELD.member),
    errorName: text(FIELD.errorName),
    sender: text(FIELD.sender),
    body: decodeValues(text(FIELD.signature) ?? '', body, littleEndian),
    fdCount: Number(fields.get(FIELD.unixFds) ?? 0),
  };
}

function isLittleEndian(bytes: Buffer): boolean {
  return bytes[0] === LITTLE_ENDIAN;
}
