import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keptFor } from './kept.ts';
import { createManualClock } from './manual-clock.ts';

describe('a kept answer', () => {
  it('is asked for once in its time, and again after it or when it was dropped', async () => {
    const clock = createManualClock();
    let asked = 0;
    const kept = keptFor(100, clock.mono, () => {
      asked += 1;
      return asked;
    });
    assert.deepEqual([kept(), kept()], [1, 1]);
    await clock.advance(99);
    assert.equal(kept(), 1);
    await clock.advance(1);
    assert.equal(kept(), 2);
    kept.drop();
    assert.equal(kept(), 3);
  });

  it('is no failure, thrown or rejected', async () => {
    const clock = createManualClock();
    const answers = [Promise.reject(new Error('away')), Promise.resolve('here')];
    const later = keptFor(100, clock.mono, () => answers.shift() ?? Promise.resolve('too often'));
    await assert.rejects(later(), /away/);
    assert.equal(await later(), 'here');
    assert.equal(await later(), 'here');

    let asked = 0;
    const now = keptFor(100, clock.mono, () => {
      asked += 1;
      if (asked === 1) throw new Error('away');
      return asked;
    });
    assert.throws(now, /away/);
    assert.equal(now(), 2);
  });
});
