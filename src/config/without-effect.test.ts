import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Account, accountOf, everyField, everySetting, PASSED_WHOLE, SETTLED } from './consumers-testing.ts';
import { flagTable } from './flags/table.ts';
import { applyFileDefaults } from './schema/defaults.ts';
import { defaultSettings } from './settings.ts';
import {
  fieldsWithLessEffect,
  fieldsWithoutEffect,
  findWithoutEffect,
  settingsOnlyExplained,
  settingsWithoutEffect,
} from './without-effect.ts';

/** A setting is read, or has a reason why not; one with less effect than its name says is read and has a reason. */
function problemOf({ consumers, without, less }: Account): string | undefined {
  const isRead = consumers.length > 0;
  if (isRead && without !== undefined)
    return `it is read by ${consumers.join(' and ')}: remove it from without-effect.ts`;
  if (!isRead && less !== undefined) return 'no code reads it: it has no effect at all';
  return isRead || without !== undefined
    ? undefined
    : 'no code reads it: use it, or give a reason in without-effect.ts';
}

for (const path of everyField) {
  test(`${path} is read, or said to have no effect`, () => {
    assert.equal(problemOf(accountOf('kubelet', path)), undefined);
  });
}

for (const path of everySetting) {
  test(`${path} of the command line is read, or said to have no effect`, () => {
    assert.equal(problemOf(accountOf('settings', path)), undefined);
  });
}

test('every flag sets something that was checked above', () => {
  const known = new Set([
    ...everyField.map((path) => `kubelet ${path}`),
    ...everySetting.map((path) => `settings ${path}`),
  ]);
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
    named({ ...fieldsWithoutEffect, ...fieldsWithLessEffect }, everyField),
    named({ ...settingsWithoutEffect, ...settingsOnlyExplained }, everySetting),
    named({ ...SETTLED, ...PASSED_WHOLE }, [...everyField, ...everySetting]),
  ];
  assert.deepEqual(tables, [[], [], []]);
});

test('the check finds a field that no code reads', () => {
  for (const account of [accountOf('kubelet', 'brandNewField'), accountOf('settings', 'node.brandNew')]) {
    assert.match(problemOf(account) ?? '', /no code reads it/);
  }
});

/** The same tree with another value at a path. */
const changed = <Tree>(tree: Tree, path: string): Tree => {
  const [name = '', ...rest] = path.split('.');
  const value: unknown = rest.length === 0 ? 'another value' : changed(Object(tree)[name], rest.join('.'));
  return { ...tree, [name]: value };
};

test('each of them warns once when it is set, and only then', () => {
  const configured = { kubelet: applyFileDefaults({}), settings: defaultSettings };
  assert.deepEqual(findWithoutEffect(configured, flagTable), []);
  for (const path of Object.keys({ ...fieldsWithoutEffect, ...fieldsWithLessEffect })) {
    const found = findWithoutEffect({ ...configured, kubelet: changed(configured.kubelet, path) }, flagTable);
    assert.deepEqual(
      found.map((finding) => finding.path),
      [path],
    );
  }
  const silent = flagTable.filter(({ of, path }) => {
    if (of !== 'settings' || accountOf('settings', path).without === undefined) return false;
    return findWithoutEffect({ ...configured, settings: changed(configured.settings, path) }, flagTable).length !== 1;
  });
  assert.deepEqual(silent, []);
});
