import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../../src/base/manual-clock.ts';
import { createProgress, formatElapsed, ticking } from './progress.ts';

for (const [ms, text] of [
  [0, '0.0s'],
  [1240, '1.2s'],
  [9940, '9.9s'],
  [10_000, '10s'],
  [59_400, '59s'],
  [59_600, '1m00s'],
  [65_000, '1m05s'],
  [754_000, '12m34s'],
] as const) {
  test(`${ms} ms reads ${text}`, () => assert.equal(formatElapsed(ms), text));
}

test('a terminal shows one line that ticks, and keeps finished lines', async () => {
  const clock = createManualClock();
  let written = '';
  const output = { isTTY: true, columns: 21, write: (text: string) => (written += text) };
  const progress = createProgress(output, clock);
  {
    using _ticks = ticking(progress, clock, () => `building ${formatElapsed(clock.mono())} and much more`);
    await clock.advance(2000);
  }
  progress.line('built');
  assert.deepEqual(written.split('\r\u001b[K'), [
    '',
    'building 0.0s and mu',
    'building 1.0s and mu',
    'building 2.0s and mu',
    'built\n',
  ]);
});

test('a log file gets a status at the start and every 30 s, and every finished line', async () => {
  const clock = createManualClock();
  const lines: string[] = [];
  const progress = createProgress({ write: (text: string) => lines.push(text.trimEnd()) }, clock);
  const status = (name: string) => () => `${name} at ${formatElapsed(clock.mono())}`;
  {
    using _ticks = ticking(progress, clock, status('first'));
    await clock.advance(61_000);
  }
  progress.line('first built');
  {
    using _ticks = ticking(progress, clock, status('second'));
    await clock.advance(5000);
  }
  await clock.advance(60_000);
  assert.deepEqual(lines, ['first at 0.0s', 'first at 30s', 'first at 1m00s', 'first built', 'second at 1m01s']);
  assert.equal(clock.sleepers(), 0);
});
