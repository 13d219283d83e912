import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';
import { createStartupMetrics, type StartupStep } from './metrics-startup.ts';

const PARTS = ['', 'pre_kubelet_', 'pre_registration_', 'registration_', 'post_registration_'];

function shown(steps: readonly (readonly [StartupStep, number])[], booted = 1000): readonly number[] {
  const metrics = createMetrics({ version: '1.36.4', showHiddenFor: '' });
  let now = 0;
  const step = createStartupMetrics(metrics, { now: () => now, startedAt: 11_000, bootedAt: () => booted });
  for (const [what, at] of steps) {
    now = at;
    step(what);
  }
  const text = metrics.render();
  const value = (part: string) =>
    new RegExp(`^kubelet_node_startup_${part}duration_seconds (.*)$`, 'm').exec(text)?.[1];
  return PARTS.map((part) => Number(value(part)));
}

test('the start of a new node in parts, each counted once', () => {
  const start = [
    ['registering', 11_100],
    ['registered', 11_400],
    ['ready', 12_000],
  ] as const;
  assert.deepEqual(shown(start), [11, 10, 0.1, 0.3, 0.6]);
  assert.deepEqual(shown([...start, ['registering', 20_000], ['ready', 30_000]]), [11, 10, 0.1, 0.3, 0.6]);
  const early = [
    ['registering', 11_100],
    ['ready', 11_300],
    ['registered', 11_400],
  ] as const;
  assert.deepEqual(shown(early), [10.4, 10, 0.1, 0.3, 0], 'seen as ready before it was known to be there');
  assert.deepEqual(shown(start, 0), [0, 0, 0.1, 0.3, 0.6], 'no one says when the machine started');
});

test('a node that was there before has had its start', () => {
  assert.deepEqual(shown([['ready', 12_000]]), [0, 0, 0, 0, 0]);
  assert.deepEqual(
    shown([
      ['registered', 11_400],
      ['ready', 12_000],
    ]),
    [0, 0, 0, 0, 0],
  );
});
