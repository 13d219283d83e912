import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { atATime } from './at-a-time.ts';

test('every item once, never more than so many at a time', async () => {
  const done: number[] = [];
  let running = 0;
  let most = 0;
  await atATime(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    running += 1;
    most = Math.max(most, running);
    for (let left = item; left > 0; left -= 1) await turn();
    running -= 1;
    done.push(item);
  });
  assert.equal(most, 3);
  assert.deepEqual(done.toSorted(), [1, 2, 3, 4, 5, 6, 7]);
});

test('more lanes than items, and no items', async () => {
  const done: string[] = [];
  await atATime(9, ['a', 'b'], async (item, index) => {
    await turn();
    done.push(`${index}${item}`);
  });
  await atATime(9, [], () => Promise.reject(new Error('nothing to do')));
  assert.deepEqual(done, ['0a', '1b']);
});

test('the first failure is the caller’s', async () => {
  await assert.rejects(
    atATime(2, [1, 2, 3], (item) => (item === 2 ? Promise.reject(new Error('two')) : Promise.resolve())),
    /two/,
  );
});
