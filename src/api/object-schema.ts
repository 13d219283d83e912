/** How the fields of an API object are written: enough to read one from YAML or JSON and to say what is wrong with it. */
export type FieldKind =
  | { readonly kind: 'string' | 'bool' | 'int32' | 'int64' | 'quantity' | 'intOrString' | 'time' | 'anything' }
  | { readonly kind: 'list'; readonly item: FieldKind }
  | { readonly kind: 'map'; readonly item: FieldKind }
  | StructKind;

export interface StructKind {
  readonly kind: 'struct';
  readonly fields: Readonly<Record<string, FieldKind>>;
}

export const STRING: FieldKind = { kind: 'string' };
export const BOOL: FieldKind = { kind: 'bool' };
export const INT32: FieldKind = { kind: 'int32' };
export const INT64: FieldKind = { kind: 'int64' };
export const QUANTITY: FieldKind = { kind: 'quantity' };
export const INT_OR_STRING: FieldKind = { kind: 'intOrString' };
/** RFC 3339. */
export const TIME: FieldKind = { kind: 'time' };
/** Kept as it was written; no one here looks into it. */
export const ANYTHING: FieldKind = { kind: 'anything' };

export const list = (item: FieldKind): FieldKind => ({ kind: 'list', item });
export const map = (item: FieldKind): FieldKind => ({ kind: 'map', item });
export const struct = (fields: StructKind['fields']): StructKind => ({ kind: 'struct', fields });

/** Fields of one kind in one line. */
export const each = (kind: FieldKind, names: string): StructKind['fields'] =>
  Object.fromEntries(names.split(' ').map((name) => [name, kind]));
