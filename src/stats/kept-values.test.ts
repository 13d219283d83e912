import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/manual-clock.ts';
import { createKeptValues, createProcessLimits } from './kept-values.ts';

test('a value is read again after its time, or when its cgroup was forgotten', async () => {
  const clock = createManualClock(0);
  const kept = createKeptValues<number>(clock, 1000);
  let next = 0;
  const get = (path: string) => kept.get(path, () => (next += 1));
  assert.deepEqual([get('/a'), get('/a'), get('/b')], [1, 1, 2]);
  kept.retain((path) => path === '/a');
  assert.deepEqual([get('/a'), get('/b')], [1, 3]);
  await clock.advance(1000);
  assert.equal(get('/a'), 4);
});

test('limits are those of the process that is asked for', () => {
  const reads: string[] = [];
  const limits = createProcessLimits(createManualClock(0), {
    read: (path) => {
      reads.push(path);
      return `Max open files            ${path.includes('/7/') ? 10 : 20}                 99                 files\n`;
    },
  });
  assert.deepEqual([limits.openFiles('/a', 7), limits.openFiles('/a', 7), limits.openFiles('/a', 8)], [10, 10, 20]);
  assert.deepEqual(reads, ['/proc/7/limits', '/proc/8/limits']);
});
