import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  booleanMap,
  headers,
  labels,
  parseCsvLine,
  singlePairs,
  stringMap,
  strings,
  thresholds,
} from './collections.ts';
import type { Kind } from './kind.ts';
import { reservedMemory, taints, vmodule } from './objects.ts';
import {
  boolean,
  commaSeparated,
  duration,
  int32,
  int64,
  ip,
  level,
  oneOf,
  portNumber,
  quantity,
  string,
} from './scalars.ts';
import { version } from './version-kind.ts';

/** Good texts with their values, and texts that are refused. */
function check<T>(name: string, kind: Kind<T>, good: readonly (readonly [string, T])[], bad: readonly string[]): void {
  for (const [text, expected] of good) {
    test(`${name} takes ${JSON.stringify(text)}`, () => {
      assert.deepEqual(kind.parse(text, undefined), { is: 'value', value: expected });
    });
  }
  for (const text of bad) {
    test(`${name} refuses ${JSON.stringify(text)}`, () => {
      const parsed = kind.parse(text, undefined);
      assert.equal(parsed.is, 'bad');
      assert.ok(parsed.is === 'bad' && parsed.allowed.length > 3);
    });
  }
}

check(
  'boolean',
  boolean,
  [
    ['true', true],
    ['T', true],
    ['1', true],
    ['False', false],
    ['0', false],
  ],
  ['yes', '', 'on', 'tRUE', '2'],
);
check(
  'string',
  string,
  [
    ['', ''],
    ['a b=c', 'a b=c'],
  ],
  [],
);
check(
  'one of',
  oneOf('', 'cni'),
  [
    ['', ''],
    ['cni', 'cni'],
  ],
  ['CNI', 'x'],
);
check(
  'int32',
  int32,
  [
    ['0', 0],
    ['-5', -5],
    ['+5', 5],
    ['0x10', 16],
    ['017', 15],
    ['0o17', 15],
    ['0b11', 3],
    ['1_000', 1000],
    ['2147483647', 2147483647],
    ['-2147483648', -2147483648],
  ],
  ['', 'x', '1.5', '2147483648', '1e3', ' 1', '1_', '0x', '08', '--1', 'Infinity'],
);
check('int64', int64, [['9007199254740991', Number.MAX_SAFE_INTEGER]], ['9007199254740993', '10Mi']);
check(
  'port',
  portNumber,
  [
    ['0', 0],
    ['65535', 65535],
  ],
  ['-1', '65536'],
);
check(
  'level',
  level,
  [
    ['0', 0],
    ['10', 10],
  ],
  ['-1', '0x1', '', '99999999999', '2147483648'],
);
check(
  'duration',
  duration,
  [
    ['1m30s', 90_000],
    ['0', 0],
    ['-1s', -1000],
  ],
  ['1', '', '1 m', '1d'],
);
check(
  'quantity',
  quantity,
  [
    ['10Mi', '10Mi'],
    ['1024Ki', '1Mi'],
    ['0', '0'],
  ],
  ['10Q', '', 'Mi'],
);
check(
  'ip',
  ip,
  [
    ['0.0.0.0', '0.0.0.0'],
    ['::', '::'],
  ],
  ['1.2.3', 'localhost', '1.2.3.4:80', '::1%lo'],
);
check(
  'list of addresses',
  commaSeparated,
  [
    ['', []],
    ['1.2.3', ['1.2.3']],
    ['a, b', ['a', 'b']],
  ],
  [],
);
check(
  'strings',
  strings,
  [
    ['', []],
    ['a,b', ['a', 'b']],
    ['"a,b",c', ['a,b', 'c']],
    ['"say ""hi"""', ['say "hi"']],
    ['a,', ['a', '']],
    [' a', [' a']],
  ],
  ['"a', 'a"b', '"a"b,c'],
);
check(
  'map',
  stringMap,
  [
    ['a=b,c=d=e', { a: 'b', c: 'd=e' }],
    ['', {}],
    [' a = b ,', { a: 'b' }],
  ],
  ['a', 'a=b,c'],
);
check('single pairs', singlePairs, [['a=b,c', { a: 'b,c' }]], ['a', '']);
check(
  'thresholds',
  thresholds,
  [['memory.available<100Mi,nodefs.available<10%', { 'memory.available': '100Mi', 'nodefs.available': '10%' }]],
  ['memory.available', 'memory.available=100Mi'],
);
check(
  'labels',
  labels,
  [
    ['blue,disk=ssd', { blue: '', disk: 'ssd' }],
    ['', {}],
  ],
  [],
);
check(
  'gates',
  booleanMap,
  [
    ['A=true,B=0', { A: true, B: false }],
    ['', {}],
  ],
  ['A', 'A=maybe', 'A=true,B'],
);
check('headers', headers, [['a:hello,b:again,a:x:y', { a: ['hello', 'x:y'], b: ['again'] }]], ['a', 'a=b']);
check(
  'taints',
  taints,
  [
    ['', []],
    ['a:NoSchedule-,b-', []],
    [
      'a=b:NoSchedule,c:NoExecute',
      [
        { key: 'a', value: 'b', effect: 'NoSchedule' },
        { key: 'c', value: '', effect: 'NoExecute' },
      ],
    ],
  ],
  [
    'a',
    'a=b',
    'a=b:Moon',
    'a b:NoSchedule',
    'a=b=c:NoSchedule',
    'a:NoSchedule,a=x:NoSchedule',
    'a:b:NoSchedule',
    ',',
    'a:Moon-',
    '-',
  ],
);
check(
  'reserved memory',
  reservedMemory,
  [
    [
      '0:memory=1Gi,hugepages-2Mi=64Mi;1:memory=2Gi',
      [
        { numaNode: 0, limits: { memory: '1Gi', 'hugepages-2Mi': '64Mi' } },
        { numaNode: 1, limits: { memory: '2Gi' } },
      ],
    ],
  ],
  ['memory=1Gi', '0', '0:memory', '0:cpu=1', '0:memory=x', 'a:memory=1Gi', '0:memory=1Gi:1:memory=1Gi', ';'],
);
check(
  'vmodule',
  vmodule,
  [
    [
      'pod=4,stats/*=2,',
      [
        { filePattern: 'pod', verbosity: 4 },
        { filePattern: 'stats/*', verbosity: 2 },
      ],
    ],
  ],
  ['pod', '=1', 'pod=', 'pod=x', 'pod=1=2'],
);
check(
  'version',
  version,
  [
    ['true', 'true'],
    ['0', 'false'],
    ['raw', 'raw'],
    ['v1.36.4', 'v1.36.4'],
    ['v1.36.4-mine.2+build', 'v1.36.4-mine.2+build'],
  ],
  ['v1.37.0', 'v1.36.40', 'v1.36.4-', 'long', ''],
);

test('lists and maps grow with each use', () => {
  assert.deepEqual(strings.parse('c', ['a', 'b']), { is: 'value', value: ['a', 'b', 'c'] });
  assert.deepEqual(stringMap.parse('a=2', { a: '1', b: '1' }), { is: 'value', value: { a: '2', b: '1' } });
  assert.deepEqual(headers.parse('a:2', { a: ['1'] }), { is: 'value', value: { a: ['1', '2'] } });
  assert.deepEqual(taints.parse('b:NoExecute', [{ key: 'a', value: '', effect: 'NoExecute' }]), {
    is: 'value',
    value: [{ key: 'b', value: '', effect: 'NoExecute' }],
  });
});

test('an empty address or reservation does not change the value', () => {
  assert.deepEqual(ip.parse('', undefined), { is: 'keep' });
  assert.deepEqual(reservedMemory.parse('', undefined), { is: 'keep' });
});

test('__proto__ is an ordinary key', () => {
  const parsed = stringMap.parse('__proto__=x', undefined);
  assert.ok(parsed.is === 'value');
  assert.deepEqual(Object.entries(parsed.value), [['__proto__', 'x']]);
});

test('a refused header does not repeat what may be a secret', () => {
  const parsed = headers.parse('Authorization=Bearer s3cret', undefined);
  assert.ok(parsed.is === 'bad' && !parsed.allowed.includes('s3cret'));
});

test('a formatted CSV line is parsed to the same values', () => {
  const cell = fc.string().filter((text) => !/[\r\n]/.test(text));
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1 }), (cells) => {
      const line = cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(',');
      assert.deepEqual(parseCsvLine(line), cells);
    }),
  );
});

/** Erases the type of a kind, for properties that hold for all of them. */
function readBack<T>(kind: Kind<T>): (text: string) => void {
  return (text) => {
    const parsed = kind.parse(text, undefined);
    if (parsed.is !== 'value') return;
    const again = kind.parse(kind.format(parsed.value), undefined);
    assert.deepEqual(again, parsed);
  };
}

const unambiguous: Record<string, (text: string) => void> = {
  boolean: readBack(boolean),
  int32: readBack(int32),
  int64: readBack(int64),
  level: readBack(level),
  quantity: readBack(quantity),
  ip: readBack(ip),
  thresholds: readBack(thresholds),
  taints: readBack(taints),
  reservedMemory: readBack(reservedMemory),
  vmodule: readBack(vmodule),
  version: readBack(version),
};
for (const [name, property] of Object.entries(unambiguous)) {
  test(`${name}: whatever is read can be written and read again`, () => {
    const likely = fc.stringMatching(/^[-+0-9a-zA-Z.:=<,;_%]{0,16}$/);
    fc.assert(fc.property(fc.oneof(fc.string(), likely), property), { numRuns: 300 });
  });
}
