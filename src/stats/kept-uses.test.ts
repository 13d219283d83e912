import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeptUses } from './kept-uses.ts';

test('a size is measured once in a while, and again where measuring failed', async () => {
  const asked: string[] = [];
  let now = 0;
  let isBroken = true;
  const useOf = createKeptUses(
    (path) => {
      asked.push(path);
      return isBroken ? Promise.reject(new Error('EIO')) : Promise.resolve({ bytes: now, inodes: 1 });
    },
    () => now,
  );
  await assert.rejects(useOf('a', 1000));
  isBroken = false;
  assert.equal((await useOf('a', 1000)).bytes, 0);
  now = 999;
  assert.equal((await useOf('a', 1000)).bytes, 0);
  now = 1000;
  assert.equal((await useOf('a', 1000)).bytes, 1000);
  assert.deepEqual(asked, ['a', 'a', 'a']);
});
