import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/manual-clock.ts';
import { createGiveBack } from './give-back.ts';

test('memory is returned to the system in a pause after many connections have closed', async () => {
  const clock = createManualClock();
  let given = 0;
  const { ended, close } = createGiveBack(clock, () => {
    given += 1;
  });
  const end = (count: number) => {
    for (let left = count; left > 0; left -= 1) ended();
  };
  end(49);
  await clock.advance(60_000);
  assert.equal(given, 0, 'a few are not worth it');
  end(1);
  await clock.advance(2000);
  end(100);
  await clock.advance(2000);
  assert.equal(given, 0, 'not while they go');
  await clock.advance(1000);
  assert.equal(given, 1);
  await clock.advance(29_000);
  assert.equal(given, 1);
  await clock.advance(60_000);
  assert.equal(given, 2, 'once more');
  end(49);
  await clock.advance(60_000);
  assert.equal(given, 2, 'counted anew');
  end(1);
  close();
  await clock.advance(60_000);
  assert.equal(given, 2, 'nothing after the end');
});
