import { parseGoBool } from '../rules/go-bool.ts';
import { bad, type Kind, value } from './kind.ts';

type StringMap = Readonly<Record<string, string>>;

/** A list in CSV form, so that `"a,b"` in quotes is one entry. The first use replaces the default, further ones add. */
export const strings: Kind<readonly string[]> = {
  label: 'strings',
  parse: (text, before) => {
    const entries = parseCsvLine(text);
    if (entries === undefined) return bad('values separated by commas; one with a comma in it goes in double quotes');
    return value([...(before ?? []), ...entries]);
  },
  format: (list) => `[${list.join(',')}]`,
};

/** The fields of one CSV line; undefined if its quotes do not match. Empty text has no field. */
export function parseCsvLine(line: string): string[] | undefined {
  if (line === '') return [];
  const fields: string[] = [];
  let rest = line;
  for (;;) {
    const match = /^(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/.exec(rest);
    if (match === null) return undefined;
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] !== ',') return fields;
    rest = rest.slice(match[0].length);
  }
}

/** `a=b,c=d` */
export const stringMap = pairs('=', 'key=value pairs separated by commas');
/** `memory.available<100Mi,nodefs.available<10%` */
export const thresholds = pairs('<', 'signal<threshold pairs separated by commas, such as memory.available<100Mi');
/** One pair for each use: the value may contain commas. */
export const singlePairs: Kind<StringMap> = {
  label: 'key=value',
  parse: (text, before) => {
    const pair = splitPair(text, '=');
    return pair === undefined ? bad('one key=value pair; repeat the flag for more') : value(grow(before, [pair]));
  },
  format: (map) => formatPairs(map, '='),
};

function pairs(separator: string, allowed: string): Kind<StringMap> {
  return {
    label: `key${separator}value`,
    parse: (text, before) => {
      const found: [string, string][] = [];
      for (const entry of entriesOf(text)) {
        const pair = splitPair(entry, separator);
        if (pair === undefined) return bad(`${allowed}; ${JSON.stringify(entry)} is not one`);
        found.push(pair);
      }
      return value(grow(before, found));
    },
    format: (map) => formatPairs(map, separator),
  };
}

/** Labels may have no value: `--node-labels=blue,disk=ssd`. */
export const labels: Kind<StringMap> = {
  label: 'key=value',
  parse: (text, before) =>
    value(
      grow(
        before,
        entriesOf(text).map((entry) => splitPair(entry, '=') ?? [entry.trim(), '']),
      ),
    ),
  format: (map) => formatPairs(map, '='),
};

export const booleanMap: Kind<Readonly<Record<string, boolean>>> = {
  label: 'key=bool',
  parse: (text, before) => {
    const found: [string, boolean][] = [];
    for (const entry of entriesOf(text)) {
      const pair = splitPair(entry, '=');
      const parsed = pair && parseGoBool(pair[1]);
      if (pair === undefined || parsed === undefined) {
        return bad(`Name=true or Name=false, separated by commas; ${JSON.stringify(entry)} is neither`);
      }
      found.push([pair[0], parsed]);
    }
    return value(grow(before, found));
  },
  format: (map) => formatPairs(map, '='),
};

/** HTTP headers: `a:hello,b:again,b:beautiful`; a name may be repeated. */
export const headers: Kind<Readonly<Record<string, readonly string[]>>> = {
  label: 'name:value',
  secret: true,
  parse: (text, before) => {
    const found = new Map<string, readonly string[]>(Object.entries(before ?? {}));
    for (const entry of entriesOf(text)) {
      const pair = splitPair(entry, ':');
      if (pair === undefined) return bad('name:value pairs separated by commas');
      found.set(pair[0], [...(found.get(pair[0]) ?? []), pair[1]]);
    }
    return value(toRecord(found));
  },
  format: (map) =>
    Object.entries(map)
      .flatMap(([name, values]) => values.map((v) => `${name}:${v}`))
      .join(','),
};

export function entriesOf(text: string): string[] {
  return text.split(',').filter((entry) => entry !== '');
}

function splitPair(entry: string, separator: string): [string, string] | undefined {
  const at = entry.indexOf(separator);
  return at < 0 ? undefined : [entry.slice(0, at).trim(), entry.slice(at + separator.length).trim()];
}

function grow<V>(before: Readonly<Record<string, V>> | undefined, found: readonly (readonly [string, V])[]) {
  return toRecord(new Map([...Object.entries(before ?? {}), ...found]));
}

/** With defineProperty semantics, so that `__proto__` is an ordinary key. */
function toRecord<V>(map: ReadonlyMap<string, V>): Readonly<Record<string, V>> {
  return Object.fromEntries(map);
}

function formatPairs(map: Readonly<Record<string, string | boolean>>, separator: string): string {
  return Object.entries(map)
    .map(([key, v]) => `${key}${separator}${v}`)
    .sort()
    .join(',');
}
