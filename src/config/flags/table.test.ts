import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { applyDefaults, flagEraDefaults } from '../schema/defaults.ts';
import { defaultSettings } from '../settings.ts';
import { type Flag, flagGroups } from './flag.ts';
import { renderHelp, wrap } from './help.ts';
import { parseCommandLine } from './parse.ts';
import { flagTable } from './table.ts';
import { type Configurable, noRequest } from './target.ts';

const base: Configurable = {
  kubelet: applyDefaults(flagEraDefaults),
  settings: defaultSettings,
  request: noRequest,
};

const recorded = readFileSync(new URL('../testdata/kubelet-flags.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'));

/** The command line of the reference's description, and our own. */
const beyondTheReference = [
  'auth-path',
  'cadvisor-bind-address',
  'cadvisor-metrics-allow',
  'cadvisor-metrics-deny',
  'cadvisor-metrics-profile',
  'cadvisor-port',
  'cloud-config',
  'cni-bin-dir',
  'cni-conf-dir',
  'container-runtime',
  'dynamic-config-dir',
  'eviction-memory-signal',
  'image-gc-keep',
  'master-service-namespace',
  'network-plugin',
  'require-kubeconfig',
  'strict-config',
];

test('the table has every flag of the reference, the older ones, and no other', () => {
  const names = flagTable.map((flag) => flag.name).sort();
  const expected = [...recorded.map(([name = '']) => name), ...beyondTheReference].sort();
  assert.deepEqual(names, expected);
});

for (const [name = '', , written = ''] of recorded) {
  test(`--${name} has the reference's default`, () => {
    const flag = find(name);
    const expected = written.replace(/^"(.*)"$/, '$1');
    const shown = flag.show(base);
    const isEmpty = ['', '[]', '0', '0s', 'false'].includes(shown);
    assert.equal(isEmpty ? '' : shown, expected);
  });
}

test('what the reference deprecates is deprecated here', () => {
  for (const [name = '', , , deprecated = ''] of recorded) {
    if (deprecated !== '') assert.ok(find(name).deprecated, name);
  }
});

/** A text for each label that differs from every default. */
const samples: Record<string, string> = {
  '': 'true',
  string: 'sample',
  strings: 'sample,other',
  list: '192.0.2.7,2001:db8::7',
  int32: '7',
  int: '7',
  port: '7',
  level: '7',
  duration: '7s',
  quantity: '7Ki',
  ip: '192.0.2.7',
  'key=value': 'sample=7',
  'key<value': 'sample<7',
  'key=bool': 'Sample=true',
  'name:value': 'sample:7',
  taints: 'sample=7:NoExecute',
  reservations: '7:memory=7Gi',
  'pattern=N,…': 'sample=7',
};
const special: Record<string, string> = {
  'cadvisor-metrics-profile': 'lean',
  'container-runtime': 'remote',
  'eviction-memory-signal': 'available',
  'network-plugin': 'cni',
  version: 'raw',
};

for (const flag of flagTable) {
  test(`--${flag.name} reaches ${flag.of}.${flag.path} and nothing else`, () => {
    const isOn = flag.show(base) === 'true';
    const text = special[flag.name] ?? (isOn ? 'false' : samples[flag.label]);
    assert.ok(text !== undefined, `no sample for ${flag.label}`);
    const line = parseCommandLine([`--${flag.name}=${text}`], flagTable);
    assert.deepEqual(line.problems, []);
    const after = line.apply(base);
    const changed = flagTable.filter((other) => other.show(after) !== other.show(base)).map((other) => other.name);
    // The only runtime there is is also the default.
    assert.deepEqual(changed, flag.name === 'container-runtime' ? [] : [flag.name]);
    assert.deepEqual(changedPaths(base, after), changed.length === 0 ? [] : [`${flag.of}.${flag.path}`]);
    assert.ok(line.given.has(flag.name));
  });
}

/** The smallest fields that differ; maps and lists count as one where one side has none. */
function changedPaths(before: unknown, after: unknown, path = ''): string[] {
  if (before === after) return [];
  const isBranch = (value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
  if (!isBranch(before) || !isBranch(after)) return [path];
  const left = Object(before) as Record<string, unknown>;
  const right = Object(after) as Record<string, unknown>;
  return Object.keys(right).flatMap((key) => changedPaths(left[key], right[key], path === '' ? key : `${path}.${key}`));
}

for (const columns of [40, 80, 100, 200]) {
  test(`the help fits ${columns} columns, and shows every flag once in its group`, () => {
    const help = renderHelp(flagTable, base, columns);
    const lines = help.split('\n');
    for (const flag of flagTable) {
      const heads = lines.filter((line) => new RegExp(`^ [ *] (-\\w, )?--${flag.name}( |$)`).test(line));
      assert.equal(heads.length, 1, flag.name);
    }
    for (const group of flagGroups) assert.ok(lines.includes(`${group}:`), group);
    const prose = lines.filter((line) => !/^ [ *] (-\w, )?--/.test(line) && line.trim().includes(' '));
    for (const line of prose) assert.ok(line.length <= columns, line);
  });
}

test('wrapping keeps every word', () => {
  assert.deepEqual(wrap('aa bb ccccccc d', 5), ['aa bb', 'ccccccc', 'd']);
  assert.deepEqual(wrap('', 5), ['']);
});

test('help texts are one line each and end as sentences do', () => {
  for (const flag of flagTable) {
    assert.match(flag.help, /[.…]$/, flag.name);
    assert.ok(!flag.help.includes('\n'), flag.name);
  }
});

function find(name: string): Flag {
  const flag = flagTable.find((candidate) => candidate.name === name);
  assert.ok(flag, name);
  return flag;
}
