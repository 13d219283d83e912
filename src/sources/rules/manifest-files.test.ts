import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Pod } from '../../api/pod.ts';
import { isManifestName, podKey, podsAfterReading, type ReadFile, settleNames } from './manifest-files.ts';

const pod = (name: string, uid = name): Pod => ({
  metadata: { name, namespace: 'default', uid },
  spec: { containers: [] },
});

for (const [name, counts] of Object.entries({
  'a.yaml': true,
  a: true,
  'a.json': true,
  'a.bak.yaml': true,
  '~a': true,
  'a.tmpl': true,
  'a.yaml~': false,
  'a.yaml.bak': false,
  'a.orig': false,
  'a.tmp': false,
  '.a.yaml.swp': false,
  'a.swp': false,
  '.a': false,
  '..data': false,
})) {
  test(`manifest files: ${name} ${counts ? 'counts' : 'does not count'}`, () =>
    assert.equal(isManifestName(name), counts));
}

test('manifest files: the first in order has a name, and keeps it against newcomers before it', () => {
  const b = { path: 'b', pods: [pod('web', 'b1')] };
  const c = { path: 'c', pods: [pod('web', 'c1'), pod('db', 'c2')] };
  const first = settleNames([b, c], new Map());
  assert.deepEqual(
    first.pods.map(({ metadata }) => metadata.uid),
    ['b1', 'c2'],
  );
  assert.deepEqual(
    first.refused.map(({ path, keeper }) => [path, keeper]),
    [['c', 'b']],
  );
  const a = { path: 'a', pods: [pod('web', 'a1'), pod('db', 'a2')] };
  const second = settleNames([a, b, c], first.owners);
  assert.deepEqual(
    second.pods.map(({ metadata }) => metadata.uid),
    ['b1', 'c2'],
  );
  const third = settleNames([a, { path: 'b', pods: [] }, c], second.owners);
  assert.deepEqual(
    third.pods.map(({ metadata }) => metadata.uid),
    ['a1', 'c2'],
  );
});

test('manifest files: twice in one file is once', () => {
  const settled = settleNames([{ path: 'a', pods: [pod('web', '1'), pod('web', '2')] }], new Map());
  assert.deepEqual(
    settled.pods.map(({ metadata }) => metadata.uid),
    ['1'],
  );
  assert.equal(settled.refused.length, 1);
});

test('manifest files: whatever comes and goes, each name once, and kept while its file has it', () => {
  const files = fc.array(
    fc.record({ path: fc.constantFrom('a', 'b', 'c'), names: fc.array(fc.constantFrom('x', 'y', 'z')) }),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(fc.array(files, { maxLength: 8 }), (history) => {
      let owners: ReadonlyMap<string, string> = new Map();
      for (const look of history) {
        const byPath = new Map<string, ReadFile>(
          look.map(({ path, names }) => [path, { path, pods: names.map((name) => pod(name)) }]),
        );
        const present = [...byPath.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
        const settled = settleNames(present, owners);
        const keys = settled.pods.map(podKey);
        assert.equal(new Set(keys).size, keys.length);
        assert.equal(keys.length + settled.refused.length, present.flatMap(({ pods }) => pods).length);
        for (const [key, path] of owners) {
          if (byPath.get(path)?.pods.some((one) => podKey(one) === key)) assert.equal(settled.owners.get(key), path);
        }
        owners = settled.owners;
      }
    }),
  );
});

for (const { name, before, pods, problems, after, kept } of [
  { name: 'a good file says all', before: ['a', 'b'], pods: ['b'], problems: 0, after: ['b'], kept: [] },
  {
    name: 'a broken file takes nothing away',
    before: ['a', 'b'],
    pods: [],
    problems: 1,
    after: ['a', 'b'],
    kept: ['a', 'b'],
  },
  {
    name: 'what is good in a broken file counts',
    before: ['a', 'b'],
    pods: ['b', 'c'],
    problems: 1,
    after: ['b', 'c', 'a'],
    kept: ['a'],
  },
]) {
  test(`manifest files: ${name}`, () => {
    const reading = { pods: pods.map((one) => pod(one, `new-${one}`)), problems: Array.from({ length: problems }) };
    const result = podsAfterReading(
      before.map((one) => pod(one)),
      reading,
    );
    assert.deepEqual(
      result.pods.map(({ metadata }) => metadata.name),
      after,
    );
    assert.deepEqual(
      result.kept.map(({ metadata }) => metadata.uid),
      kept,
    );
    for (const one of result.pods) {
      assert.equal(one.metadata.uid.startsWith('new-'), pods.includes(one.metadata.name));
    }
  });
}
