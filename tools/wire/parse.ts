/**
 * Reads the part of proto3 that our schemas use (proto/README.md) and refuses the rest with file and line, so that a field
 * is never silently left out.
 */
export interface SchemaFile {
  readonly path: string;
  /** The comment at the top. */
  readonly title: string;
  readonly package: string;
  readonly imports: readonly string[];
  readonly services: readonly Service[];
  readonly messages: readonly Message[];
  readonly enums: readonly Enum[];
}

export interface Service {
  readonly name: string;
  readonly methods: readonly Method[];
}

export interface Method {
  readonly name: string;
  readonly request: string;
  readonly response: string;
  readonly serverStream: boolean;
}

/** `name` has dots where the schema nests: `SecurityProfile.ProfileType`. */
export interface Message {
  readonly name: string;
  readonly doc: string;
  readonly fields: readonly SchemaField[];
}

export interface SchemaField {
  readonly name: string;
  readonly doc: string;
  readonly number: number;
  readonly type: string;
  readonly shape: 'one' | 'optional' | 'list' | 'map';
  readonly oneof: string | undefined;
  readonly asNumber: boolean;
}

export interface Enum {
  readonly name: string;
  readonly doc: string;
  readonly values: readonly { readonly name: string; readonly number: number }[];
}

const FIELD =
  /^(?:(repeated|optional) +)?(map<string, *([\w.]+)>|[\w.]+) +(\w+) *= *(\d+)(?: +\[(jstype = JS_NUMBER)\])?;$/;
const METHOD = /^rpc +(\w+)\(([\w.]+)\) +returns +\((stream +)?([\w.]+)\);$/;
const ENUM_VALUE = /^(\w+) *= *(\d+);$/;
const OPENING = /^(service|message|enum|oneof) +(\w+) *\{(\})?$/;

interface Block {
  readonly kind: string;
  readonly name: string;
}

interface Draft {
  readonly services: { name: string; methods: Method[] }[];
  readonly messages: { name: string; doc: string; fields: SchemaField[] }[];
  readonly enums: { name: string; doc: string; values: { name: string; number: number }[] }[];
}

export function parseSchema(path: string, text: string): SchemaFile {
  const draft: Draft = { services: [], messages: [], enums: [] };
  const imports: string[] = [];
  const open: Block[] = [];
  let packageName = '';
  let comments: string[] = [];
  let title: string | undefined;

  text.split('\n').forEach((raw, index) => {
    const fail = (why: string): never => {
      throw new Error(`${path}:${index + 1}: ${why}: ${raw.trim()}`);
    };
    const line = raw.trim();
    if (line.startsWith('//')) {
      comments.push(line.slice(2).trim());
      return;
    }
    const doc = comments.join(' ');
    comments = [];
    title ??= doc;
    if (line === '' || line === 'syntax = "proto3";') return;
    const header = /^(package|import) +"?([\w./-]+)"?;$/.exec(line);
    if (header?.[1] === 'package') packageName = header[2] ?? '';
    else if (header !== null) imports.push(header[2] ?? '');
    else if (line === '}') {
      if (open.pop() === undefined) fail('nothing to close');
    } else readDeclaration(draft, open, { line, doc, fail });
  });
  if (open.length > 0) throw new Error(`${path}: ${open.at(-1)?.name} is not closed`);
  return { path, title: title ?? '', package: packageName, imports, ...draft };
}

interface Line {
  readonly line: string;
  readonly doc: string;
  readonly fail: (why: string) => never;
}

function readDeclaration(draft: Draft, open: Block[], { line, doc, fail }: Line): void {
  const opening = OPENING.exec(line);
  if (opening !== null) {
    const [, kind = '', name = '', closed] = opening;
    const block = { kind, name: qualified(open, name) };
    if (kind === 'service') draft.services.push({ name, methods: [] });
    else if (kind === 'message') draft.messages.push({ name: block.name, doc, fields: [] });
    else if (kind === 'enum') draft.enums.push({ name: block.name, doc, values: [] });
    else if (open.at(-1)?.kind !== 'message') fail('a oneof belongs into a message');
    if (closed === undefined) open.push(block);
    return;
  }
  const block = open.at(-1);
  if (block?.kind === 'service') draft.services.at(-1)?.methods.push(readMethod(line) ?? fail('not a method we know'));
  else if (block?.kind === 'enum') draft.enums.at(-1)?.values.push(readEnumValue(line) ?? fail('not an enum value'));
  else if (block !== undefined) {
    const owner = open.findLast(({ kind }) => kind === 'message')?.name;
    const message = draft.messages.find(({ name }) => name === owner) ?? fail('no message here');
    const field = readField(line, doc, block) ?? fail('not a field we know');
    if (message.fields.some(({ name, number }) => name === field.name || number === field.number))
      fail('name or number is taken');
    message.fields.push(field);
  } else fail('not a declaration we know');
}

function qualified(open: readonly Block[], name: string): string {
  const outer = open.at(-1);
  return outer?.kind === 'message' ? `${outer.name}.${name}` : name;
}

function readMethod(line: string): Method | undefined {
  const match = METHOD.exec(line);
  if (match === null) return undefined;
  const [, name = '', request = '', stream, response = ''] = match;
  return { name, request, response, serverStream: stream !== undefined };
}

function readEnumValue(line: string): { name: string; number: number } | undefined {
  const match = ENUM_VALUE.exec(line);
  return match === null ? undefined : { name: match[1] ?? '', number: Number(match[2]) };
}

function readField(line: string, doc: string, block: Block): SchemaField | undefined {
  const match = FIELD.exec(line);
  if (match === null) return undefined;
  const [, label, type = '', mapValue, name = '', number = '', asNumber] = match;
  if (mapValue !== undefined && label !== undefined) return undefined;
  const oneof = block.kind === 'oneof' ? block.name : undefined;
  const single = label === 'optional' || oneof !== undefined ? 'optional' : 'one';
  return {
    name,
    doc,
    number: Number(number),
    type: mapValue ?? type,
    shape: mapValue !== undefined ? 'map' : label === 'repeated' ? 'list' : single,
    oneof,
    asNumber: asNumber !== undefined,
  };
}
