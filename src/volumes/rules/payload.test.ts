import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Parsed } from '../../api/parsed.ts';
import {
  configMapPayload,
  describeProblems,
  type KeyedSource,
  LARGEST_PAYLOAD,
  mergePayloads,
  type Payload,
  secretPayload,
  sizeFault,
} from './payload.ts';

const text = new TextDecoder();

/** `path mode content` of each file, or the problem. */
function shown(made: Parsed<Payload>): readonly string[] | string {
  if (!made.ok) return made.problem;
  return Array.from(made.value, ([path, { data, mode }]) => `${path} ${mode.toString(8)} ${text.decode(data)}`);
}

const source = (more: Partial<KeyedSource> = {}): KeyedSource => ({ defaultMode: 0o644, optional: false, ...more });
const settings = { data: { color: 'blue', 'app.conf': 'a=1\n' }, binaryData: { blob: 'AAEC/w==' } };

describe('files of a config map', () => {
  const cases: readonly (readonly [string, KeyedSource, readonly string[] | string])[] = [
    ['every key', source(), ['color 644 blue', 'app.conf 644 a=1\n', 'blob 644 \x00\x01\x02�']],
    ['the default mode', source({ defaultMode: 0o400, items: [{ key: 'color', path: 'c' }] }), ['c 400 blue']],
    ['a mode of its own', source({ items: [{ key: 'color', path: 'x/y', mode: 0 }] }), ['x/y 0 blue']],
    ['binary by name', source({ items: [{ key: 'blob', path: 'b' }] }), ['b 644 \x00\x01\x02�']],
    [
      'no items are all items',
      source({ items: [] }),
      ['color 644 blue', 'app.conf 644 a=1\n', 'blob 644 \x00\x01\x02�'],
    ],
    [
      'a key that is missing',
      source({ items: [{ key: 'size', path: 's' }] }),
      'configmap references non-existent config key: size',
    ],
    [
      'missing and optional',
      source({ optional: true, items: ['size', 'color'].map((key) => ({ key, path: key })) }),
      ['color 644 blue'],
    ],
    [
      'what every object has is no key',
      source({ items: [{ key: 'constructor', path: 's' }] }),
      'configmap references non-existent config key: constructor',
    ],
  ];
  for (const [name, request, expected] of cases) {
    test(name, () => assert.deepEqual(shown(configMapPayload(request, settings)), expected));
  }

  test('bytes stay as they are', () => {
    const made = configMapPayload(source({ items: [{ key: 'blob', path: 'b' }] }), settings);
    assert.deepEqual(made.ok && [...(made.value.get('b')?.data ?? [])], [0, 1, 2, 255]);
  });

  test('a thousand keys, dots in them, and a key named __proto__', () => {
    const data = JSON.parse(
      `{"__proto__":"p",${Array.from({ length: 1000 }, (_, i) => `"k.${i}.conf":"${i}"`).join()}}`,
    );
    const made = configMapPayload(source(), { data });
    assert.equal(made.ok && made.value.size, 1001);
    assert.equal(made.ok && text.decode(made.value.get('__proto__')?.data), 'p');
  });

  test('an empty one has no files', () => assert.deepEqual(shown(configMapPayload(source(), {})), []));
});

describe('files of a secret', () => {
  const secret = { data: { user: 'YWRh', word: 'czNjcmV0' } };
  test('every key, decoded', () => {
    assert.deepEqual(shown(secretPayload(source({ defaultMode: 0o600 }), secret)), ['user 600 ada', 'word 600 s3cret']);
  });
  test('a key that is missing', () => {
    const items = [{ key: 'pin', path: 'p' }];
    assert.equal(shown(secretPayload(source({ items }), secret)), 'references non-existent secret key: pin');
    assert.deepEqual(shown(secretPayload(source({ items, optional: true }), secret)), []);
  });
});

test('of one path in several sources the last one counts', () => {
  const file = (mode: number) => ({ data: new Uint8Array(), mode });
  const merged = mergePayloads([
    new Map([
      ['a', file(1)],
      ['b', file(2)],
    ]),
    new Map([['a', file(3)]]),
  ]);
  assert.deepEqual(
    Array.from(merged, ([path, { mode }]) => [path, mode]),
    [
      ['a', 3],
      ['b', 2],
    ],
  );
  assert.equal(mergePayloads([]).size, 0);
});

test('each problem is reported once', () => {
  assert.equal(describeProblems(['a']), 'a');
  assert.equal(describeProblems(['a', 'a']), 'a');
  assert.equal(describeProblems(['a', 'b', 'a']), '[a, b]');
});

test('paths that show the same key share its bytes, and count each for itself', () => {
  const items = Array.from({ length: 65 }, (_, index) => ({ key: 'k', path: `p${index}` }));
  const source = { items, defaultMode: 0o644, optional: false };
  const made = configMapPayload(source, { data: { k: 'x'.repeat(1024 * 1024) } });
  assert.ok(made.ok);
  assert.equal(new Set(Array.from(made.value.values(), ({ data }) => data)).size, 1);
  assert.equal(sizeFault(made.value), `the files of the volume are larger than ${LARGEST_PAYLOAD} bytes`);
  assert.equal(sizeFault(new Map([...made.value].slice(0, 64))), undefined);
});
