import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CertificateProgress, progressCondition, progressEvent } from './progress.ts';

const NOW = 1_000;
const waiting = (goodUntil?: number): CertificateProgress => ({ kind: 'waiting', reason: 'starts', goodUntil });
const pending = (goodUntil?: number): CertificateProgress => ({ kind: 'pending', request: 'csr-1', goodUntil });
const failed = (goodUntil?: number): CertificateProgress => ({ kind: 'failed', problem: 'denied', goodUntil });
const good: CertificateProgress = { kind: 'good' };

const steps: readonly [string, CertificateProgress, CertificateProgress, string | undefined][] = [
  ['a restart with a good certificate', waiting(2_000), good, undefined],
  ['a first request', waiting(), pending(), 'Warning ServingCertificatePending'],
  ['a renewal', good, pending(2_000), 'Normal ServingCertificatePending'],
  ['approval', pending(), good, 'Normal ServingCertificateIssued'],
  ['success after a failure', failed(), good, 'Normal ServingCertificateIssued'],
  ['a failure', pending(), failed(), 'Warning ServingCertificateFailed'],
  ['the same failure again', failed(), failed(), undefined],
  ['no address yet', waiting(), waiting(), undefined],
];
for (const [name, before, now, expected] of steps) {
  test(`the event of ${name}`, () => {
    const event = progressEvent(before, now);
    assert.equal(event && `${event.type} ${event.reason}`, expected);
  });
}

const conditions: readonly [string, CertificateProgress, boolean, string][] = [
  ['that has just started without a certificate', waiting(), false, 'Waiting'],
  ['that has just started with a good one', waiting(2_000), true, 'Issued'],
  ['that has just started with an expired one', waiting(500), false, 'Waiting'],
  ['whose first request waits', pending(), false, 'Pending'],
  ['whose renewal waits', pending(2_000), true, 'Pending'],
  ['whose renewal waits for too long', pending(1_000), false, 'Pending'],
  ['whose first request failed', failed(), false, 'Failed'],
  ['whose renewal failed', failed(2_000), true, 'Failed'],
  ['that has a good one', good, true, 'Issued'],
];
for (const [name, progress, isTrue, reason] of conditions) {
  test(`the condition of a node ${name}`, () => {
    const condition = progressCondition(progress, NOW);
    assert.deepEqual([condition.isTrue, condition.reason], [isTrue, reason]);
  });
}
