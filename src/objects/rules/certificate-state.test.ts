import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CertificateInput,
  type CertificateRequest,
  type CertificateState,
  type Held,
  needsRequest,
  nextCertificateState,
  nextCheckAt,
  type PendingRequest,
  withRequest,
} from './certificate-state.ts';

const MINUTE = 60_000;
const pending: PendingRequest = { requestName: 'req-1', privateKey: 'new key', abandonAt: 1000 };
const held: Held = { privateKey: 'old key', chain: 'old chain', refreshAt: 500, expiresAt: 20 * MINUTE, reported: [] };
const input = (more: Partial<CertificateInput> = {}): CertificateInput => ({
  now: 600,
  request: 'unseen',
  requestName: 'ns/req-1',
  jitterMs: 7,
  ...more,
});
const request = (type?: string): CertificateRequest => ({
  name: 'req-1',
  conditions: type === undefined ? [] : [{ type, reason: 'Why', message: 'because "so"' }],
  certificateChain: 'x\n-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n',
  beginRefreshAt: '1970-01-01T00:30:00Z',
  notAfter: '1970-01-01T01:00:00Z',
});

const isRequested: CertificateState = { kind: 'requested', pending };
const isHeld: CertificateState = { kind: 'held', held };
const isRenewing: CertificateState = { kind: 'renewing', held, pending };
const isNew: CertificateState = {
  kind: 'held',
  held: {
    privateKey: 'new key',
    chain: '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n',
    refreshAt: 30 * MINUTE + 7,
    expiresAt: 60 * MINUTE,
    reported: [],
  },
};
const refused = (verb: string): CertificateState => ({
  kind: 'refused',
  message: `PodCertificateRequest was permanently ${verb}: reason="Why" message="because \\"so\\""`,
});
const overdue = 'CertificateOverdueForRefresh';

const CASES: Readonly<
  Record<string, readonly [CertificateState, Partial<CertificateInput>, CertificateState, readonly string[]]>
> = {
  'nothing yet': [{ kind: 'none' }, {}, { kind: 'none' }, []],
  'requested, not seen': [isRequested, {}, isRequested, []],
  'requested, seen, not decided': [isRequested, { request: request() }, isRequested, []],
  'requested, not seen for long': [isRequested, { now: 1000 }, { kind: 'none' }, []],
  'requested, deleted': [isRequested, { request: 'gone' }, { kind: 'none' }, []],
  'requested, issued': [isRequested, { request: request('Issued') }, isNew, []],
  'requested, denied': [isRequested, { request: request('Denied') }, refused('denied'), ['Denied']],
  'requested, failed': [isRequested, { request: request('Failed') }, refused('failed'), ['Failed']],
  'refused stays': [refused('denied'), { request: request('Issued') }, refused('denied'), []],
  held: [isHeld, {}, isHeld, []],
  'renewing, not decided': [isRenewing, { request: request() }, isRenewing, []],
  'renewing, issued': [isRenewing, { request: request('Issued'), now: 30 * MINUTE }, isNew, []],
  'renewing, denied': [isRenewing, { request: request('Denied') }, refused('denied'), ['Denied']],
  'renewing, deleted': [isRenewing, { request: 'gone' }, isHeld, []],
  'renewing, ten minutes late': [
    isRenewing,
    { request: request(), now: 10 * MINUTE + 501 },
    { ...isRenewing, held: { ...held, reported: [overdue] } },
    [overdue],
  ],
  'renewing, late, reported once': [
    { ...isRenewing, held: { ...held, reported: [overdue] } },
    { request: request(), now: 11 * MINUTE },
    { ...isRenewing, held: { ...held, reported: [overdue] } },
    [],
  ],
  'held, late and expired': [
    isHeld,
    { now: 21 * MINUTE },
    { kind: 'held', held: { ...held, reported: [overdue, 'CertificateExpired'] } },
    [overdue, 'CertificateExpired'],
  ],
};

for (const [name, [state, more, expected, reasons]] of Object.entries(CASES)) {
  test(`pod certificate: ${name}`, () => {
    const step = nextCertificateState(state, input(more));
    assert.deepEqual(step.state, expected);
    assert.deepEqual(
      step.events.map(({ reason }) => reason),
      reasons,
    );
  });
}

test('pod certificate: a refusal is reported with its message', () => {
  const { events } = nextCertificateState(isRequested, input({ request: request('Denied') }));
  assert.equal(
    events[0]?.message,
    'PodCertificateRequest ns/req-1 was denied, reason="Why", message="because \\"so\\""',
  );
});

test('pod certificate: when a request is made, and what it leads to', () => {
  assert.equal(needsRequest({ kind: 'none' }, 0), true);
  assert.equal(needsRequest(isHeld, 499), false);
  assert.equal(needsRequest(isHeld, 500), true);
  for (const state of [isRequested, isRenewing, refused('failed')]) assert.equal(needsRequest(state, 1e9), false);
  assert.deepEqual(withRequest({ kind: 'none' }, pending), isRequested);
  assert.deepEqual(withRequest(isHeld, pending), isRenewing);
});

test('pod certificate: when to look again', () => {
  assert.equal(nextCheckAt({ kind: 'none' }, 0), undefined);
  assert.equal(nextCheckAt(refused('failed'), 0), undefined);
  assert.equal(nextCheckAt(isRequested, 0), 1000);
  assert.equal(nextCheckAt(isHeld, 0), 500);
  assert.equal(nextCheckAt(isRenewing, 600), 1000);
  assert.equal(nextCheckAt(isRenewing, 2000), 10 * MINUTE + 500);
  assert.equal(nextCheckAt(isRenewing, 11 * MINUTE), 20 * MINUTE);
  assert.equal(nextCheckAt(isRenewing, 21 * MINUTE), undefined);
});
