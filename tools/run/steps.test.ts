import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSteps } from './steps.ts';

function record(isTTY: boolean): { text: () => string; show: () => void } {
  let text = '';
  let now = 0;
  const output = { isTTY, write: (more: string) => (text += more) };
  const steps = createSteps(output, () => now);
  return {
    text: () => text,
    show: () => {
      steps.begin('first');
      now += 1500;
      steps.begin('second');
      steps.line('words');
      steps.begin('third');
      steps.fail();
      steps.done();
    },
  };
}

test('a log gets one line for each step that is over', () => {
  const log = record(false);
  log.show();
  assert.equal(log.text(), '✓ first (1.5 s)\n✓ second (0.0 s)\nwords\n✗ third (0.0 s)\n');
});

test('a terminal shows the running step in the line that its result replaces', () => {
  const terminal = record(true);
  terminal.show();
  assert.ok(terminal.text().startsWith('… first\r\u001b[K✓ first (1.5 s)\n… second\r\u001b[K'));
});
