import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRotation, stampAfter } from './rotation.ts';

const plan = (names: readonly string[], maxFiles = 5, stamp = '20260104-000000') =>
  planRotation({ log: '0.log', names, maxFiles, stamp });

test('the first rotation', () => {
  assert.deepEqual(plan(['0.log']), { remove: [], rotated: '0.log.20260104-000000', compress: [] });
});

test('the file before is compressed, the oldest goes', () => {
  const names = [
    '0.log',
    '0.log.20260101-000000.gz',
    '0.log.20260103-000000',
    '0.log.20260102-000000.gz',
    '0.log.20251231-000000.gz',
  ];
  assert.deepEqual(plan(names), {
    remove: ['0.log.20251231-000000.gz'],
    rotated: '0.log.20260104-000000',
    compress: ['0.log.20260103-000000'],
  });
});

test('no more files than allowed', () => {
  const names = ['0.log', '0.log.20260101-000000.gz', '0.log.20260102-000000.gz', '0.log.20260103-000000'];
  for (const maxFiles of [2, 3, 4, 5]) {
    const { remove } = plan(names, maxFiles);
    // What is left, the one that is rotated now and the new one.
    assert.equal(names.length - 1 - remove.length + 2 <= maxFiles, true, String(maxFiles));
  }
  assert.deepEqual(plan(names, 2).remove, names.slice(1));
  assert.deepEqual(plan(names, 2).compress, []);
});

test('what an interrupted rotation left is removed', () => {
  const names = [
    '0.log',
    '0.log.20260101-000000',
    '0.log.20260101-000000.gz',
    '0.log.20260102-000000',
    '0.log.20260102-000000.tmp',
  ];
  assert.deepEqual(plan(names), {
    remove: ['0.log.20260101-000000', '0.log.20260102-000000.tmp'],
    rotated: '0.log.20260104-000000',
    compress: ['0.log.20260102-000000'],
  });
});

test('files of other containers and other files are left alone', () => {
  const { remove, compress } = plan(
    ['0.log', '1.log', '1.log.20260101-000000', '10.log.20260101-000000', 'notes', '0.logs'],
    2,
  );
  assert.deepEqual([remove, compress], [[], []]);
});

test('a name that is taken is never used again, and names keep sorting by age', () => {
  const now = '20260104-000000';
  assert.equal(stampAfter('', now), now);
  assert.equal(stampAfter('20260103-235959', now), now);
  const stamps = [now];
  for (let count = 0; count < 12; count += 1) stamps.push(stampAfter(stamps.at(-1) ?? '', now));
  assert.equal(stamps[1], '20260104-000000x000001');
  assert.deepEqual(stamps.toSorted(), stamps);
  assert.equal(new Set(stamps).size, stamps.length);
  assert.ok(stampAfter(stamps.at(-1) ?? '', '20260104-000001') > (stamps.at(-1) ?? ''));
  // The clock was set back by years.
  assert.equal(
    plan(['0.log', '0.log.20260104-000000.gz'], 5, '19991231-235959').rotated,
    '0.log.20260104-000000x000001',
  );
});
