/** Schema to TypeScript: readonly types, const objects for enums, field tables, method descriptors. */
import type { Enum, Message, SchemaField, SchemaFile, Service } from './parse.ts';

interface Resolved {
  readonly file: SchemaFile;
  readonly what: 'message' | 'enum';
  /** Name in the generated file: `SecurityProfileProfileType`. */
  readonly name: string;
}

const SCALARS: Readonly<Record<string, { readonly type: string; readonly zero: string }>> = {
  string: { type: 'string', zero: "''" },
  bytes: { type: 'Uint8Array', zero: 'NO_BYTES' },
  bool: { type: 'boolean', zero: 'false' },
  int32: { type: 'number', zero: '0' },
  uint32: { type: 'number', zero: '0' },
  double: { type: 'number', zero: '0' },
  int64: { type: 'bigint', zero: '0n' },
  uint64: { type: 'bigint', zero: '0n' },
  int64Number: { type: 'number', zero: '0' },
  uint64Number: { type: 'number', zero: '0' },
};

/** Generated path (below `gen/`) to content. */
export function emitAll(files: readonly SchemaFile[]): ReadonlyMap<string, string> {
  return new Map(files.map((file) => [generatedName(file.path), emitFile(file, files)]));
}

export function generatedName(path: string): string {
  return path.replace(/\.proto$/, '.ts');
}

/** `CDI_devices` to `cdiDevices`, `available_deviceIDs` to `availableDeviceIDs`, `Avg10` to `avg10`. */
export function propertyName(name: string): string {
  const joined = name.replace(/_+(\w)/g, (_, letter: string) => letter.toUpperCase());
  const capitals = /^[A-Z]*/.exec(joined)?.[0].length ?? 0;
  const lowered = capitals > 1 && capitals < joined.length ? capitals - 1 : capitals;
  return joined.slice(0, lowered).toLowerCase() + joined.slice(lowered);
}

function emitFile(file: SchemaFile, all: readonly SchemaFile[]): string {
  const scope = createScope(file, all);
  const body = [
    ...file.enums.map(emitEnum),
    ...file.messages.map((message) => emitMessage(file, message, scope)),
    ...file.services.map((service) => emitService(file, service, scope)),
  ].join('\n');
  const used = (name: string) => new RegExp(`\\b${name}\\b`).test(body);
  const types = ['MessageType', 'MethodType', 'UnknownEnumValue'].filter(used).map((name) => `type ${name}`);
  const values = ['Kind', 'message', 'NO_BYTES', 'NO_ENTRIES', 'NO_ITEMS', 'Shape'].filter((name) =>
    name === 'message' ? body.includes('= message(') : used(name),
  );
  const imports = [`import { ${[...values, ...types].join(', ')} } from '../message.ts';`, ...scope.imports()];
  return `// Made from proto/${file.path} by tools/generate-wire.ts. Do not edit.\n// ${file.title}\n${imports.join('\n')}\n\n${body}`;
}

interface Scope {
  resolve(type: string, from: string): Resolved;
  imports(): readonly string[];
}

function createScope(file: SchemaFile, all: readonly SchemaFile[]): Scope {
  const visible = [file, ...all.filter(({ path }) => file.imports.includes(path))];
  const foreign = new Map<string, Set<string>>();
  const find = (type: string, from: string): Resolved | undefined => {
    for (const candidate of visible) {
      const prefix = `${candidate.package}.`;
      const local = type.startsWith(prefix) ? type.slice(prefix.length) : candidate === file ? type : undefined;
      if (local === undefined) continue;
      for (const name of candidates(local, from)) {
        if (candidate.messages.some((message) => message.name === name))
          return { file: candidate, what: 'message', name: flat(name) };
        if (candidate.enums.some((item) => item.name === name))
          return { file: candidate, what: 'enum', name: flat(name) };
      }
    }
    return undefined;
  };
  return {
    resolve: (type, from) => {
      const found = find(type, from);
      if (found === undefined)
        throw new Error(`${file.path}: ${from} uses ${type}, which is not declared here or in an import`);
      if (found.file !== file) {
        const names = foreign.get(found.file.path) ?? new Set();
        foreign.set(found.file.path, names.add(found.name));
      }
      return found;
    },
    imports: () =>
      [...foreign]
        .sort()
        .map(([path, names]) => `import { ${[...names].sort().join(', ')} } from './${generatedName(path)}';`),
  };
}

/** `C` used in `A.B` may be `A.B.C`, `A.C` or `C`: the innermost counts. */
function candidates(name: string, from: string): readonly string[] {
  const outer = from.split('.');
  return [...outer.map((_, index) => [...outer.slice(0, outer.length - index), name].join('.')), name];
}

function flat(name: string): string {
  return name.replaceAll('.', '');
}

function docLine(doc: string, indent: string): string {
  return doc === '' ? '' : `${indent}/** ${doc} */\n`;
}

function emitEnum({ name, doc, values }: Enum): string {
  const lines = values.map((value) => `  ${value.name}: ${value.number},\n`).join('');
  const type = flat(name);
  return (
    `${docLine(doc, '')}export const ${type} = {\n${lines}} as const;\n` +
    `export type ${type} = (typeof ${type})[keyof typeof ${type}] | UnknownEnumValue;\n`
  );
}

interface Element {
  readonly type: string;
  readonly zero: string;
  readonly table: string;
}

function elementOf(field: SchemaField, owner: Message, scope: Scope): Element {
  const kind = field.asNumber ? `${field.type}Number` : field.type;
  const scalar = SCALARS[kind];
  if (scalar !== undefined) return { ...scalar, table: `Kind.${kind}` };
  if (field.asNumber)
    throw new Error(`${owner.name}.${field.name}: jstype = JS_NUMBER is for 64-bit integers, not ${field.type}`);
  const { name, what } = scope.resolve(field.type, owner.name);
  if (what === 'enum') return { type: name, zero: '0', table: name };
  return { type: name, zero: 'undefined', table: `() => ${name}` };
}

function emitMessage(file: SchemaFile, message: Message, scope: Scope): string {
  const name = flat(message.name);
  const fields = message.fields.map((field) => ({
    field,
    element: elementOf(field, message, scope),
    key: propertyName(field.name),
  }));
  const members = fields.map(
    ({ field, element, key }) => `${docLine(field.doc, '  ')}  readonly ${key}: ${memberType(field, element)};\n`,
  );
  const zeros = fields.map(({ field, element, key }) => `${key}: ${zeroValue(field, element)}`);
  const rows = fields.map(({ field, element, key }) => {
    const rivals = field.oneof === undefined ? [] : message.fields.filter(({ oneof }) => oneof === field.oneof);
    const oneof = rivals.length < 2 ? '' : `, [${rivals.map((rival) => `'${propertyName(rival.name)}'`).join(', ')}]`;
    const shape = field.shape === 'one' ? '' : `, Shape.${field.shape}`;
    return `  [${field.number}, '${key}', ${element.table}${shape}${oneof}],\n`;
  });
  const zero = zeros.length === 0 ? '() => ({})' : `() => ({ ${zeros.join(', ')} })`;
  return (
    `${docLine(message.doc, '')}export interface ${name} {${members.length === 0 ? '' : `\n${members.join('')}`}}\n` +
    `export const ${name}: MessageType<${name}> = message('${file.package}.${message.name}', ${zero}, [${rows.length === 0 ? '' : `\n${rows.join('')}`}]);\n`
  );
}

function memberType({ shape }: SchemaField, { type, zero }: Element): string {
  if (shape === 'list') return `readonly ${type}[]`;
  if (shape === 'map') return `Readonly<Record<string, ${type}>>`;
  return shape === 'optional' || zero === 'undefined' ? `${type} | undefined` : type;
}

function zeroValue({ shape }: SchemaField, { zero }: Element): string {
  if (shape === 'list') return 'NO_ITEMS';
  if (shape === 'map') return 'NO_ENTRIES';
  return shape === 'optional' ? 'undefined' : zero;
}

function emitService(file: SchemaFile, { name, methods }: Service, scope: Scope): string {
  const lines = methods.map((method) => {
    const request = scope.resolve(method.request, name).name;
    const response = scope.resolve(method.response, name).name;
    const path = `'/${file.package}.${name}/${method.name}'`;
    const value = `{ path: ${path}, request: ${request}, response: ${response}, serverStream: ${method.serverStream} }`;
    return `  ${propertyName(method.name)}: ${value} satisfies MethodType<${request}, ${response}>,\n`;
  });
  return `export const ${name} = {\n${lines.join('')}};\n`;
}
