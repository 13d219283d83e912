import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createWarnings } from './warnings.ts';

test('a problem is reported every ten minutes, also if it comes and goes, and again after it was over', async () => {
  const clock = createManualClock(1_000_000);
  const recorded: string[] = [];
  const warnings = createWarnings({
    clock,
    log: createSilentLogger(),
    record: ({ message }) => recorded.push(message),
  });
  const passes = async (minutes: number) => await clock.advance(minutes * 60_000);
  warnings.report('Twin', 'one');
  warnings.report('Other', 'another matter');
  for (const at of ['two', 'three']) {
    warnings.report('Twin', undefined);
    await passes(1);
    warnings.report('Twin', at);
  }
  assert.deepEqual(recorded, ['one', 'another matter']);
  await passes(8);
  warnings.report('Twin', 'four');
  assert.deepEqual(recorded.slice(2), ['four'], 'it still holds after ten minutes');
  await passes(2);
  warnings.report('Twin', undefined);
  warnings.report('Twin', 'five');
  assert.deepEqual(recorded.slice(3), ['five'], 'it was over');
});
