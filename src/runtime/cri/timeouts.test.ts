import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkpointDeadline, execSyncDeadline, runSandboxDeadline, stopContainerDeadline } from './timeouts.ts';

const timeouts = { request: 120_000, health: 10_000, margin: 2000 };

const cases: readonly [string, number | undefined, number | undefined][] = [
  ['a sandbox gets twice the usual', runSandboxDeadline(timeouts), 240_000],
  ['a stop: its grace and the usual', stopContainerDeadline(timeouts, 30), 150_000],
  ['a stop without grace', stopContainerDeadline(timeouts, 0), 120_000],
  ['a stop with a negative grace', stopContainerDeadline(timeouts, -5), 120_000],
  ['an exec: its timeout and a margin', execSyncDeadline(timeouts, 1), 3000],
  ['an exec without timeout has no deadline', execSyncDeadline(timeouts, 0), undefined],
  ['a checkpoint: its timeout and a margin', checkpointDeadline(timeouts, 60), 62_000],
  ['a checkpoint without timeout', checkpointDeadline(timeouts, 0), 120_000],
];

for (const [name, actual, expected] of cases) test(name, () => assert.equal(actual, expected));
