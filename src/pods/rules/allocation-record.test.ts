import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decodeAllocations, encodeAllocations } from './allocation-record.ts';

const recorded = readFileSync(new URL('../../../tests/recorded/allocated_pods_state', import.meta.url), 'utf8');

test('the file of the reference is read, checksum and all, and written in its form', () => {
  const read = decodeAllocations(recorded);
  assert.ok(read.ok, read.ok ? '' : read.problem);
  assert.equal(read.value.size, 6);
  assert.deepEqual(read.value.get('0eab63c9-50ae-481e-89d1-729ad131b801'), {
    containers: { c: { requests: { cpu: '10m', memory: '8Mi' } } },
    pod: undefined,
  });
  assert.deepEqual(read.value.get('17193a75-835b-4379-8e93-5554a7d45965')?.pod?.limits, {
    cpu: '300m',
    memory: '64Mi',
  });
  assert.equal(encodeAllocations(read.value), recorded);
});

for (const [what, text] of [
  ['no JSON', '{"data'],
  ['half a file', recorded.slice(0, 100)],
  ['a changed amount', recorded.replace('10m', '90m')],
  ['another file', '[]'],
  ['no data', '{"checksum":1}'],
] as const) {
  test(`refused: ${what}`, () => assert.equal(decodeAllocations(text).ok, false));
}
