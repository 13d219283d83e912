import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { flagTable } from './flags/table.ts';
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

const src = join(import.meta.dirname, '..');

/** The code outside of this directory, without what only tests use, comments and texts. */
const code = globSync('**/*.ts', { cwd: src })
  .filter((file) => !file.startsWith('config/') && !/\.test\.ts$|testing|\/fake-|\/gen\//.test(file))
  .map((file) => readFileSync(join(src, file), 'utf8'))
  .map((text) => text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/(?<!:)\/\/.*/g, ''))
  .map((text) => text.replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''"))
  .join('\n');

/**
 * Whether code reads the last name of a path from what is called as the name before it: `kubelet.maxPods`, `webhook.cacheTTL`, or
 * `{ maxPods } = config.kubelet`. What sits in `logging.options` is read by the name of the format.
 */
function isRead(root: 'kubelet' | 'settings', path: string): boolean {
  const names = [root, ...path.split('.')];
  const name = names.at(-1) ?? '';
  const holder = names.at(-2) ?? '';
  const from = path.startsWith('logging.options.') ? String.raw`options\[\w+\]` : String.raw`\b${holder}\b`;
  const access = new RegExp(String.raw`${from}\??\.${name}\b`);
  const taken = new RegExp(String.raw`\{[^{}]*\b${name}\b[^{}]*\}\s*=\s*[\w.?]*${from}\s*[;,)]`);
  return access.test(code) || taken.test(code);
}

/** What the configuration itself makes something else of, and the file that does. */
const SETTLED: Readonly<Record<string, string>> = {
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
const PASSED_WHOLE: Readonly<Record<string, string>> = {
  failSwapOn: 'node/rules/machine.ts',
  'lock.file': 'node/machine.ts',
  'lock.exitOnContention': 'node/machine.ts',
};

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

/** How it is accounted for: each must be in exactly one way. */
function accountsOf(root: 'kubelet' | 'settings', path: string): readonly string[] {
  const [without, less] =
    root === 'kubelet' ? [fieldsWithoutEffect, fieldsWithLessEffect] : [settingsWithoutEffect, settingsOnlyExplained];
  const whole = PASSED_WHOLE[path];
  const settled = SETTLED[path];
  const lastName = path.split('.').at(-1) ?? '';
  const names = (file: string) => readFileSync(join(src, file), 'utf8').includes(lastName);
  return [
    ...(isRead(root, path) || (whole !== undefined && names(whole)) ? ['read'] : []),
    ...(settled !== undefined && names(join('config', settled)) ? ['settled'] : []),
    ...(lookUp(without, path) === undefined ? [] : ['without effect']),
    ...(lookUp(less, path) === undefined ? [] : ['less effect']),
  ];
}

const fields = leavesOf(kubeletConfiguration, '');
const settings = settingsBelow(defaultSettings, '');

for (const path of fields) {
  test(`${path} is read, or said to have no effect`, () => {
    const expected = lookUp(fieldsWithLessEffect, path) === undefined ? 1 : 2;
    assert.equal(accountsOf('kubelet', path).length, expected, accountsOf('kubelet', path).join(' and '));
  });
}

for (const path of settings) {
  test(`${path} of the command line is read, or said to have no effect`, () => {
    const expected = lookUp(settingsOnlyExplained, path) === undefined ? 1 : 2;
    assert.equal(accountsOf('settings', path).length, expected, accountsOf('settings', path).join(' and '));
  });
}

test('every flag sets something that was checked above', () => {
  const known = new Set([...fields.map((path) => `kubelet ${path}`), ...settings.map((path) => `settings ${path}`)]);
  const others = flagTable.filter(({ of, path }) => !known.has(`${of} ${path}`));
  assert.deepEqual(
    others.map(({ name }) => name),
    ['help', 'version'],
  );
});

test('the tables contain only existing fields', () => {
  const named = (table: object, paths: readonly string[]) =>
    Object.keys(table).filter((path) => !paths.some((leaf) => leaf === path || leaf.startsWith(`${path}.`)));
  const tables = [
    named({ ...fieldsWithoutEffect, ...fieldsWithLessEffect }, fields),
    named({ ...settingsWithoutEffect, ...settingsOnlyExplained }, settings),
    named({ ...SETTLED, ...PASSED_WHOLE }, [...fields, ...settings]),
  ];
  assert.deepEqual(tables, [[], [], []]);
});

test('the check finds a field that no code reads', () => {
  assert.deepEqual(accountsOf('kubelet', 'brandNewField'), []);
  assert.deepEqual(accountsOf('settings', 'node.brandNew'), []);
});
