/** The few DER encodings that a certificate needs (X.690). */
export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthBytes(content.length), content]);
}

function lengthBytes(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits = Buffer.from(length.toString(16).padStart(2 * Math.ceil(length.toString(16).length / 2), '0'), 'hex');
  return Buffer.concat([Buffer.from([0x80 | digits.length]), digits]);
}

export const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]) => der(0x31, ...parts);
/** A positive number, most significant byte first. */
export const integer = (bytes: Uint8Array) => {
  const start = bytes.findIndex((byte) => byte !== 0);
  const short = start === -1 ? Uint8Array.of(0) : bytes.subarray(start);
  return der(0x02, (short[0] ?? 0) >= 0x80 ? Buffer.concat([Uint8Array.of(0), short]) : short);
};
export const boolean = (value: boolean) => der(0x01, Uint8Array.of(value ? 0xff : 0));
export const octets = (bytes: Uint8Array) => der(0x04, bytes);
export const bits = (bytes: Uint8Array, unused = 0) => der(0x03, Uint8Array.of(unused), bytes);
export const text = (value: string) => der(0x0c, Buffer.from(value, 'utf8'));
/** Context-specific: `explicit` wraps a whole value, `implicit` replaces its tag. */
export const explicit = (number: number, value: Uint8Array) => der(0xa0 | number, value);
export const implicit = (number: number, content: Uint8Array) => der(0x80 | number, content);

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/** `YYMMDDhhmmssZ` up to 2049, with four digits of the year after. */
export function time(ms: number): Buffer {
  const digits = `${Temporal.Instant.fromEpochMilliseconds(ms).toString({ smallestUnit: 'second' }).replace(/[-:T]/g, '')}`;
  return digits < '2050' ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}
