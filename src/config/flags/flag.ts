import { MASKED } from '../rules/diff.ts';
import type { Kind } from './kind.ts';
import type { Configurable, Target } from './target.ts';

/** One flag of the command line; its kind and target are hidden in functions, so that a table can contain flags of every type. */
export type Flag = {
  readonly name: string;
  readonly short?: string;
  readonly group: FlagGroup;
  /** One line for the help. */
  readonly help: string;
  /** Why it should no longer be used; its use causes one warning. */
  readonly deprecated?: string;
  readonly label: string;
  readonly bare?: string;
  readonly of: keyof Configurable;
  /** The field of KubeletConfiguration or of the settings that it sets. */
  readonly path: string;
  /** All uses of the flag on one command line, in order. */
  read(texts: readonly string[]): Reading;
  /** The value in a configuration, in the syntax of the command line. */
  show(from: Configurable): string;
};

export type Reading =
  | { readonly is: 'assignment'; apply(on: Configurable): Configurable }
  | { readonly is: 'nothing' }
  | { readonly is: 'bad'; readonly text: string; readonly allowed: string };

export type FlagGroup = (typeof flagGroups)[number];

/** In the order of the help. */
export const flagGroups = [
  'General',
  'API server and node',
  'Server',
  'Authentication and certificates',
  'Pods from files and URLs',
  'Container runtime',
  'Images',
  'Resources and cgroups',
  'Eviction',
  'Network',
  'Volumes',
  'Logging',
  'cAdvisor',
  'Kept from older versions',
] as const;

export type FlagOptions<T> = {
  readonly short?: string;
  readonly deprecated?: string;
  /** How the value is merged with that of the file; without it, it replaces that one. */
  readonly combine?: (fromFile: T, fromFlag: T) => T;
};

/** A flag before its group is known. */
export type Definition = (group: FlagGroup) => Flag;

export function flag<T>(
  name: string,
  kind: Kind<T>,
  target: Target<T>,
  help: string,
  options: FlagOptions<T> = {},
): Definition {
  const { combine = (_, fromFlag) => fromFlag } = options;
  return (group) => ({
    name,
    ...(options.short === undefined ? {} : { short: options.short }),
    group,
    help,
    ...(options.deprecated === undefined ? {} : { deprecated: options.deprecated }),
    label: kind.label,
    ...(kind.bare === undefined ? {} : { bare: kind.bare }),
    of: target.of,
    path: target.path,
    read: (texts) => readAll(kind, texts, (on, value) => target.set(on, combine(target.get(on), value))),
    show: (from) => kind.format(target.get(from)),
  });
}

function readAll<T>(
  kind: Kind<T>,
  texts: readonly string[],
  assign: (on: Configurable, value: T) => Configurable,
): Reading {
  let result: { value: T } | undefined;
  for (const text of texts) {
    const parsed = kind.parse(text, result?.value);
    if (parsed.is === 'bad') return { is: 'bad', text: kind.secret ? MASKED : text, allowed: parsed.allowed };
    if (parsed.is === 'value') result = { value: parsed.value };
  }
  if (result === undefined) return { is: 'nothing' };
  const { value } = result;
  return { is: 'assignment', apply: (on) => assign(on, value) };
}

const setInFile = 'set it in the configuration file (--config) instead';

/** A flag whose value belongs in the configuration file: it works, and its use causes a warning. */
export function fileFlag<T>(
  name: string,
  kind: Kind<T>,
  target: Target<T>,
  help: string,
  options: FlagOptions<T> = {},
): Definition {
  return flag(name, kind, target, help, { deprecated: `${setInFile} (${target.path})`, ...options });
}

export function group(name: FlagGroup, definitions: readonly Definition[]): readonly Flag[] {
  return definitions.map((define) => define(name));
}
