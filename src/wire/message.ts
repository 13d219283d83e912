/**
 * What the generated files are made of: for each message a type, a function that makes its zero value, and a table of
 * fields that `decode.ts` and `encode.ts` walk.
 *
 * A decoded message is complete: scalars have their zero value, lists and maps are empty, only messages (and members of a
 * `oneof`, and `optional` fields) can be undefined. `Init` is the same with everything optional, for encoding.
 *
 * 64-bit integers are `bigint` (times in nanoseconds need every digit) except where the schema says
 * `jstype = JS_NUMBER` (sizes, limits, ids, seconds): those are numbers, rounded if a peer really sends more than 2^53.
 */
export const Kind = {
  string: 0,
  bytes: 1,
  bool: 2,
  int32: 3,
  uint32: 4,
  enum: 5,
  int64: 6,
  uint64: 7,
  int64Number: 8,
  uint64Number: 9,
  double: 10,
  message: 11,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

export const Shape = { one: 0, optional: 1, list: 2, map: 3 } as const;
export type Shape = (typeof Shape)[keyof typeof Shape];

export const WireType = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const;

/** A number that our schema has no name for: a newer peer may send one, so a `switch` over an enum needs a default. */
export type UnknownEnumValue = number & { readonly unknownEnumValue: true };

export type EnumType = Readonly<Record<string, number>>;

export interface Field {
  readonly number: number;
  readonly name: string;
  readonly kind: Kind;
  readonly shape: Shape;
  /** The tag as it stands before each value (before the whole list, if it is packed). */
  readonly tag: number;
  /** Lists of numbers travel as one run of bytes; a decoder takes both forms. */
  readonly packed: boolean;
  /** A function, because messages refer to each other in circles. */
  readonly message: (() => AnyMessage) | undefined;
  readonly enumType: EnumType | undefined;
  /** The other members of its `oneof`: setting this field clears them. */
  readonly rivals: readonly string[];
}

export interface MessageType<T> {
  /** Full name, as in `google.protobuf.Any`. */
  readonly name: string;
  readonly zero: () => T;
  readonly fields: readonly Field[];
  /** Sparse: field number to field. */
  readonly byNumber: readonly (Field | undefined)[];
}

// Tables are walked without knowing the type; `decode` and `encode` are where it comes back.
export type AnyMessage = MessageType<unknown>;

export interface MethodType<I, O> {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly request: MessageType<I>;
  readonly response: MessageType<O>;
  readonly serverStream: boolean;
}

type Scalar = string | number | bigint | boolean | Uint8Array | undefined;

/** A message to be encoded: what is left out has its zero value. */
export type Init<T> = T extends Scalar
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Init<Item>[]
    : string extends keyof T
      ? { readonly [Key in keyof T]: Init<T[Key]> }
      : { readonly [Key in keyof T]?: Init<T[Key]> | undefined };

// Shared by all zero values: decoding replaces them when the first item comes, and the types make them readonly.
export const NO_ITEMS: readonly never[] = Object.freeze([]);
export const NO_ENTRIES: Readonly<Record<string, never>> = Object.freeze({});
export const NO_BYTES: Uint8Array = new Uint8Array(0);

/** [number, name, element, shape = one, members of its oneof] */
export type FieldRow = readonly [
  number: number,
  name: string,
  element: Kind | EnumType | (() => AnyMessage),
  shape?: Shape,
  oneof?: readonly string[],
];

export function message<T>(name: string, zero: () => T, rows: readonly FieldRow[]): MessageType<T> {
  // In the order of their numbers, which is the order that other encoders write.
  const fields = rows.map(compileField).sort((a, b) => a.number - b.number);
  const byNumber: (Field | undefined)[] = [];
  for (const field of fields) byNumber[field.number] = field;
  return { name, zero, fields, byNumber };
}

function compileField([number, name, element, shape = Shape.one, oneof = []]: FieldRow): Field {
  const kind = typeof element === 'number' ? element : typeof element === 'function' ? Kind.message : Kind.enum;
  const packed = shape === Shape.list && wireTypeOf(kind) !== WireType.bytes;
  const wireType = packed || shape === Shape.map ? WireType.bytes : wireTypeOf(kind);
  return {
    number,
    name,
    kind,
    shape,
    tag: (number << 3) | wireType,
    packed,
    message: typeof element === 'function' ? element : undefined,
    enumType: typeof element === 'object' ? element : undefined,
    rivals: oneof.filter((member) => member !== name),
  };
}

export function wireTypeOf(kind: Kind): number {
  if (kind === Kind.string || kind === Kind.bytes || kind === Kind.message) return WireType.bytes;
  return kind === Kind.double ? WireType.fixed64 : WireType.varint;
}
