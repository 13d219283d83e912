import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatCpuSet, parseCpuSet } from './cpu-set.ts';

test('lists and ranges', () => {
  const good: [string, number[]][] = [
    ['', []],
    ['0', [0]],
    ['1-1', [1]],
    ['0-2,5', [0, 1, 2, 5]],
    ['5,0-2,1', [0, 1, 2, 5]],
    ['+3', [3]],
    ['007', [7]],
  ];
  for (const [text, cpus] of good) assert.deepEqual(parseCpuSet(text), { ok: true, value: cpus }, text);
});

test('what is no list', () => {
  for (const bad of ['0-', '-1', ',', '0,', 'a', '1-b', '3-1', '1--2', ' 0', '0 ', '0x1', '1.5', '0-4000000000']) {
    const result = parseCpuSet(bad);
    assert.equal(result.ok, false, bad);
  }
});

test('formatting and parsing are inverse', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(300)), (cpus) => {
      const sorted = [...cpus].sort((a, b) => a - b);
      assert.deepEqual(parseCpuSet(formatCpuSet(cpus)), { ok: true, value: sorted });
    }),
  );
});

test('any text gives an answer', () => {
  fc.assert(fc.property(fc.string(), (text) => typeof parseCpuSet(text).ok === 'boolean'));
});
