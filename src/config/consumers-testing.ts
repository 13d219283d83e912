/**
 * Finds in the code who reads a field of the configuration or a setting of the command line. The test of what has no effect and the table
 * of docs/configuration.md are both made from it.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kind } from './schema/kinds.ts';
import { kubeletConfiguration } from './schema/kubelet-configuration.ts';
import { defaultSettings } from './settings.ts';
import {
  fieldsWithLessEffect,
  fieldsWithoutEffect,
  lookUp,
  settingsOnlyExplained,
  settingsWithoutEffect,
} from './without-effect.ts';

/** Where a path begins: `kubelet.maxPods` or `settings.node.labels`. */
export type Root = 'kubelet' | 'settings';

const src = join(import.meta.dirname, '..');

/** The code outside of this directory, without what only tests use, comments and texts; by file. */
const code: ReadonlyMap<string, string> = new Map(
  globSync('**/*.ts', { cwd: src })
    .filter((file) => !file.startsWith('config/') && !/\.test\.ts$|testing|\/fake-|\/gen\//.test(file))
    .sort()
    .map((file) => [file, readFileSync(join(src, file), 'utf8')] as const)
    .map(([file, text]) => [file, text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/(?<!:)\/\/.*/g, '')] as const)
    .map(([file, text]) => [file, text.replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''")] as const),
);

/**
 * The files whose code reads the last name of a path from what is called as the name before it: `kubelet.maxPods`, `webhook.cacheTTL`, or
 * `{ maxPods } = config.kubelet`. What sits in `logging.options` is read by the name of the format.
 */
function readersOf(root: Root, path: string): readonly string[] {
  const names = [root, ...path.split('.')];
  const name = names.at(-1) ?? '';
  const holder = names.at(-2) ?? '';
  const from = path.startsWith('logging.options.') ? String.raw`options\[\w+\]` : String.raw`\b${holder}\b`;
  const access = new RegExp(String.raw`${from}\??\.${name}\b`);
  const taken = new RegExp(String.raw`\{[^{}]*\b${name}\b[^{}]*\}\s*=\s*[\w.?]*${from}\s*[;,)]`);
  // Most files don't have the name at all, and a search for it is much faster than the patterns.
  const isReader = (text: string) => text.includes(name) && (access.test(text) || taken.test(text));
  return [...code].filter(([, text]) => isReader(text)).map(([file]) => file);
}

/** What the configuration itself makes something else of, and the file that does. */
export const SETTLED: Readonly<Record<string, string>> = {
  enableServer: 'rules/listen.ts',
  address: 'rules/listen.ts',
  readOnlyPort: 'rules/listen.ts',
  mergeDefaultEvictionSettings: 'schema/defaults.ts',
  featureGates: 'config.ts',
  failCgroupV1: 'rules/validate-kernel.ts',
  'sources.configFile': 'sources.ts',
  'sources.configDir': 'sources.ts',
  'sources.strict': 'file/decode.ts',
  'api.requireKubeconfig': 'settings-layers.ts',
};

/** Passed on whole, to a function that names only what it wants of it. */
export const PASSED_WHOLE: Readonly<Record<string, string>> = {
  failSwapOn: 'node/rules/machine.ts',
  'lock.file': 'node/machine.ts',
  'lock.exitOnContention': 'node/machine.ts',
};

/** How a setting is accounted for. */
export interface Account {
  /** The files that make something of it; empty where no code does. */
  readonly consumers: readonly string[];
  /** Why it has no effect. */
  readonly without: string | undefined;
  /** What of its effect is missing. */
  readonly less: string | undefined;
}

export function accountOf(root: Root, path: string): Account {
  const [without, less] =
    root === 'kubelet' ? [fieldsWithoutEffect, fieldsWithLessEffect] : [settingsWithoutEffect, settingsOnlyExplained];
  const lastName = path.split('.').at(-1) ?? '';
  const named = (file: string | undefined) =>
    file !== undefined && readFileSync(join(src, file), 'utf8').includes(lastName) ? [file] : [];
  const settled = SETTLED[path];
  return {
    consumers: [
      ...readersOf(root, path),
      ...named(PASSED_WHOLE[path]),
      ...named(settled === undefined ? undefined : join('config', settled)),
    ],
    without: lookUp(without, path),
    less: lookUp(less, path),
  };
}

function leavesOf(type: Kind, path: string): readonly string[] {
  if (type.kind !== 'struct') return [path];
  return Object.entries(type.fields).flatMap(([name, field]) =>
    leavesOf(field.type, path === '' ? name : `${path}.${name}`),
  );
}

/** Labels are one setting, whatever they are called. */
function settingsBelow(value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || path === 'node.labels') return [path];
  return Object.entries(value).flatMap(([name, one]) => settingsBelow(one, path === '' ? name : `${path}.${name}`));
}

/** Every field of the configuration file, in the order of the schema. */
export const everyField: readonly string[] = leavesOf(kubeletConfiguration, '');

/** Every setting that only the command line has. */
export const everySetting: readonly string[] = settingsBelow(defaultSettings, '');
