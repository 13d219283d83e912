import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExplainedStep, StepState } from '../model/explanation.ts';
import type { StepSubject } from '../model/step.ts';
import { blockingStep, describeStep, downloadOf } from './blocking.ts';
import { EMPTY_JOURNAL, noteReport } from './journal.ts';

const sandbox: StepSubject = { kind: 'sandbox-create', attempt: 0 };
const image: StepSubject = { kind: 'image', container: 'c', image: 'r/i:1', attempt: 0 };
const volume: StepSubject = { kind: 'volume', name: 'v', stage: 'fetch-object' };
const volumes: StepSubject = { kind: 'volumes', names: ['v'] };

const step = (subject: StepSubject, state: StepState, more: Partial<ExplainedStep> = {}): ExplainedStep => ({
  subject,
  reason: 'r',
  state,
  failures: 0,
  ...more,
});
const underWay: StepState = { kind: 'under-way', since: 0, actor: 'volume' };
const retry: StepState = { kind: 'waiting', since: 0, actor: 'user', for: { kind: 'retry' } };
const after = (subject: StepSubject): StepState => ({
  kind: 'waiting',
  since: 0,
  actor: 'user',
  for: { kind: 'step', subject },
});
const error = { reason: 'FailedMount', message: 'no such config map', at: 0 };

test('the blocking step is the cause, not what waits for it', () => {
  const failing = step(volume, retry, { lastError: error, failures: 1 });
  const steps = [failing, step(volumes, underWay), step(sandbox, after(volumes)), step(image, after(sandbox))];
  assert.equal(blockingStep({ steps }), failing);
  assert.equal(blockingStep({ steps: steps.slice(1) }), steps[1]);
  assert.equal(blockingStep({ steps: [step(sandbox, { kind: 'done', since: 0 })] }), undefined);
  const turn = step(sandbox, { kind: 'waiting', since: 0, actor: 'node', for: { kind: 'turn' } });
  assert.equal(blockingStep({ steps: [turn, step(image, underWay)] })?.subject.kind, 'image');
});

test('a warning neither counts nor hides the failure that was before it', () => {
  const warning = {
    kind: 'warning',
    subject: sandbox,
    failure: { reason: 'MissingClusterDNS', message: 'm' },
  } as const;
  const failed = {
    kind: 'failed',
    subject: sandbox,
    failure: { reason: 'FailedCreatePodSandBox', message: 'cni' },
  } as const;
  const record = (reports: readonly Parameters<typeof noteReport>[1][]) =>
    [...reports.reduce((journal, report) => noteReport(journal, report, 5), EMPTY_JOURNAL).values()][0];
  const warned = record([{ kind: 'begun', subject: sandbox }, warning]);
  assert.deepEqual([warned?.phase, warned?.failures, warned?.lastError?.isWarning], ['begun', 0, true]);
  const again = record([failed, { kind: 'begun', subject: sandbox }, warning]);
  assert.deepEqual([again?.failures, again?.lastError?.reason], [1, 'FailedCreatePodSandBox']);
  const { lastError } = warned ?? {};
  const text = describeStep(step(sandbox, underWay, lastError && { lastError }), { now: 3000 });
  assert.equal(text, 'sandbox create: under way for 3s; waits for the volume');
});

test('the sentence says what, for how long, why, how often, when next, and who has to act', () => {
  const failing = step(volume, retry, { lastError: error, failures: 4, retryAt: 20_000 });
  assert.equal(
    describeStep(failing, { now: 12_000 }),
    'volume "v" (fetch-object): fails for 12s; FailedMount: no such config map; failed 4 times; next try in 8s; the user has to act',
  );
  const download = downloadOf(
    [
      { receivedBytes: 3_000_000, totalBytes: 10_000_000, startedAt: 1000 },
      { receivedBytes: 1_000_000, totalBytes: 2_000_000, startedAt: 2000 },
    ],
    5000,
  );
  assert.deepEqual(download, { receivedBytes: 4e6, totalBytes: 12e6, bytesPerSecond: 1e6, secondsLeft: 8 });
  const pulling = step(image, { kind: 'under-way', since: 0, actor: 'registry' });
  assert.equal(
    describeStep(pulling, { now: 5000, download }),
    'image "r/i:1" of container "c": under way for 5s; 4.0 MB of 12.0 MB received, 1.0 MB/s, 8s left; waits for the registry',
  );
  assert.deepEqual(downloadOf([{ receivedBytes: 5, totalBytes: 0 }], 0), { receivedBytes: 5 });
  assert.equal(downloadOf([], 0), undefined);
  assert.equal(downloadOf(undefined, 0), undefined);
});
