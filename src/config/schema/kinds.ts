/**
 * The kinds of fields that describe the configuration. One table of fields (kubelet-configuration.ts) gives the
 * type, the decoder, the defaults, the merging of drop-ins and the form shown at /configz.
 */
export interface BoolKind {
  readonly kind: 'bool';
}
export interface IntKind {
  readonly kind: 'int';
  readonly min: number;
  readonly max: number;
}
export interface FloatKind {
  readonly kind: 'float';
}
export interface StringKind {
  readonly kind: 'string';
  /** A relative path in the main file counts from the directory of that file. */
  readonly isPath: boolean;
}
/** Milliseconds here, Go's text form in files. */
export interface DurationKind {
  readonly kind: 'duration';
  /** A bare number of nanoseconds is accepted too: the old format of one field. */
  readonly alsoNanoseconds: boolean;
}
/** Kept as canonical text. */
export interface QuantityKind {
  readonly kind: 'quantity';
}
export interface ListKind<Item extends Kind = Kind> {
  readonly kind: 'list';
  readonly item: Item;
}
export interface MapKind<Item extends Kind = Kind> {
  readonly kind: 'map';
  readonly item: Item;
}
export interface StructKind<Fields extends FieldTable = FieldTable> {
  readonly kind: 'struct';
  readonly fields: Fields;
}
export type Kind =
  | BoolKind
  | IntKind
  | FloatKind
  | StringKind
  | DurationKind
  | QuantityKind
  | ListKind
  | MapKind
  | StructKind;

/**
 * How absence and zero are distinguished.
 * - plain: zero counts as "not set", so a written zero is replaced by the default; shown only when not zero
 * - explicit: only an absent field gets the default, a written zero stays; always shown
 * - optional: absent stays absent; shown when set
 */
export type Presence = 'plain' | 'explicit' | 'optional';

export interface Field<K extends Kind = Kind, P extends Presence = Presence> {
  readonly type: K;
  readonly presence: P;
  /** Absent: the zero of the kind. */
  readonly fallback?: Value<K>;
  /** Shown even when zero, although plain. */
  readonly alwaysShown: boolean;
  /** A running kubelet applies a change; other fields wait for the next start. */
  readonly live?: boolean;
}

export interface FieldTable {
  readonly [name: string]: Field;
}

export type Value<K> = K extends BoolKind
  ? boolean
  : K extends IntKind | FloatKind | DurationKind
    ? number
    : K extends StringKind | QuantityKind
      ? string
      : K extends ListKind<infer Item>
        ? readonly Value<Item>[]
        : K extends MapKind<infer Item>
          ? { readonly [key: string]: Value<Item> }
          : K extends StructKind<infer Fields>
            ? { readonly [Name in keyof Fields]: FieldValue<Fields[Name]> }
            : never;

type FieldValue<F> = F extends Field<infer K, infer P> ? Value<K> | (P extends 'optional' ? undefined : never) : never;

/** Only the fields that were set: structs may lack fields at every depth; lists and maps are complete. */
export type PartialValue<K> =
  K extends StructKind<infer Fields>
    ? { readonly [Name in keyof Fields]?: PartialFieldValue<Fields[Name]> | undefined }
    : Value<K>;

type PartialFieldValue<F> = F extends Field<infer K, Presence> ? PartialValue<K> : never;

export const bool: BoolKind = { kind: 'bool' };
export const int32: IntKind = { kind: 'int', min: -(2 ** 31), max: 2 ** 31 - 1 };
export const uint32: IntKind = { kind: 'int', min: 0, max: 2 ** 32 - 1 };
/** The range in which a number is exact; no value of the configuration needs more. */
export const int64: IntKind = { kind: 'int', min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };
export const float64: FloatKind = { kind: 'float' };
export const string: StringKind = { kind: 'string', isPath: false };
export const path: StringKind = { kind: 'string', isPath: true };
export const duration: DurationKind = { kind: 'duration', alsoNanoseconds: false };
export const durationOrNanoseconds: DurationKind = { kind: 'duration', alsoNanoseconds: true };
export const quantity: QuantityKind = { kind: 'quantity' };

export function list<Item extends Kind>(item: Item): ListKind<Item> {
  return { kind: 'list', item };
}

export function map<Item extends Kind>(item: Item): MapKind<Item> {
  return { kind: 'map', item };
}

export function struct<Fields extends FieldTable>(fields: Fields): StructKind<Fields> {
  return { kind: 'struct', fields };
}

export function plain<K extends Kind>(type: K, fallback?: Value<K>): Field<K, 'plain'> {
  return { type, presence: 'plain', alwaysShown: false, ...(fallback === undefined ? {} : { fallback }) };
}

/** Like plain, but shown at /configz even when it is zero. */
export function shown<K extends Kind>(type: K, fallback?: Value<K>): Field<K, 'plain'> {
  return { ...plain(type, fallback), alwaysShown: true };
}

export function explicit<K extends Kind>(type: K, fallback: Value<K>): Field<K, 'explicit'> {
  return { type, presence: 'explicit', fallback, alwaysShown: true };
}

export function optional<K extends Kind>(type: K): Field<K, 'optional'> {
  return { type, presence: 'optional', alwaysShown: false };
}

/** A field that a running kubelet can change. */
export function live<K extends Kind, P extends Presence>(field: Field<K, P>): Field<K, P> {
  return { ...field, live: true };
}
