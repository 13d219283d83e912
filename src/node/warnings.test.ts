import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createWarnings } from './warnings.ts';

test('told once in ten minutes, also where it comes and goes, and anew after it was over', async () => {
  const clock = createManualClock(1_000_000);
  const told: string[] = [];
  const warnings = createWarnings({
    clock,
    log: createSilentLogger(),
    record: ({ message }) => told.push(message),
  });
  const passes = async (minutes: number) => await clock.advance(minutes * 60_000);
  warnings.tell('Twin', 'one');
  warnings.tell('Other', 'another matter');
  for (const at of ['two', 'three']) {
    warnings.tell('Twin', undefined);
    await passes(1);
    warnings.tell('Twin', at);
  }
  assert.deepEqual(told, ['one', 'another matter']);
  await passes(8);
  warnings.tell('Twin', 'four');
  assert.deepEqual(told.slice(2), ['four'], 'it still holds after ten minutes');
  await passes(2);
  warnings.tell('Twin', undefined);
  warnings.tell('Twin', 'five');
  assert.deepEqual(told.slice(3), ['five'], 'it was over');
});
