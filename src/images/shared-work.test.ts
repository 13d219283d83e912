import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSharedWork } from './shared-work.ts';

const never = new AbortController().signal;

test('work is begun once for all who want it', async () => {
  const shared = createSharedWork<string>();
  const work = Promise.withResolvers<string>();
  let begun = 0;
  const begin = () => {
    begun += 1;
    return work.promise;
  };
  const all = [shared.join('a', begin, never), shared.join('a', begin, never)];
  assert.equal(shared.size(), 1);
  work.resolve('done');
  assert.deepEqual(await Promise.all(all), ['done', 'done']);
  assert.equal(begun, 1);
  assert.equal(shared.size(), 0);
  await shared.join('a', begin, never);
  assert.equal(begun, 2, 'what is over is done again for the next');
});

test('a caller that leaves is free at once; with the last one the work is cancelled', async () => {
  const shared = createSharedWork<string>();
  const signals: AbortSignal[] = [];
  const begin = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const [one, two] = [new AbortController(), new AbortController()];
  const first = shared.join('a', begin, one.signal);
  const second = shared.join('a', begin, two.signal);
  one.abort(new Error('one left'));
  await assert.rejects(first, /one left/);
  assert.equal(signals[0]?.aborted, false);
  two.abort(new Error('two left'));
  await assert.rejects(second, /two left/);
  assert.equal(signals[0]?.aborted, true);
  const third = new AbortController();
  const fresh = shared.join('a', begin, third.signal);
  assert.equal(signals.length, 2, 'no one joins work that was cancelled');
  third.abort(new Error('three left'));
  await assert.rejects(fresh, /three left/);
});

test('one who is late already gets nothing begun, and failures reach everybody', async () => {
  const shared = createSharedWork<string>();
  await assert.rejects(
    shared.join('a', () => assert.fail('begun'), AbortSignal.abort(new Error('late'))),
    /late/,
  );
  const fail = () => Promise.reject(new Error('broken'));
  const both = [shared.join('a', fail, never), shared.join('a', fail, never)];
  for (const one of both) await assert.rejects(one, /broken/);
});
