import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AskedFor,
  type CertificateInput,
  type CertificateRequest,
  type CertificateState,
  type Held,
  nextCertificateState,
  nextLookAt,
  wantsRequest,
  withRequest,
} from './certificate-state.ts';

const MINUTE = 60_000;
const asked: AskedFor = { requestName: 'req-1', privateKey: 'new key', abandonAt: 1000 };
const held: Held = { privateKey: 'old key', chain: 'old chain', refreshAt: 500, expiresAt: 20 * MINUTE, told: [] };
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

const isAsked: CertificateState = { kind: 'asked', asked };
const isHeld: CertificateState = { kind: 'held', held };
const isRenewing: CertificateState = { kind: 'renewing', held, asked };
const isNew: CertificateState = {
  kind: 'held',
  held: {
    privateKey: 'new key',
    chain: '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n',
    refreshAt: 30 * MINUTE + 7,
    expiresAt: 60 * MINUTE,
    told: [],
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
  'asked, not seen': [isAsked, {}, isAsked, []],
  'asked, seen, not decided': [isAsked, { request: request() }, isAsked, []],
  'asked, not seen for long': [isAsked, { now: 1000 }, { kind: 'none' }, []],
  'asked, taken away': [isAsked, { request: 'gone' }, { kind: 'none' }, []],
  'asked, issued': [isAsked, { request: request('Issued') }, isNew, []],
  'asked, denied': [isAsked, { request: request('Denied') }, refused('denied'), ['Denied']],
  'asked, failed': [isAsked, { request: request('Failed') }, refused('failed'), ['Failed']],
  'refused stays': [refused('denied'), { request: request('Issued') }, refused('denied'), []],
  held: [isHeld, {}, isHeld, []],
  'renewing, not decided': [isRenewing, { request: request() }, isRenewing, []],
  'renewing, issued': [isRenewing, { request: request('Issued'), now: 30 * MINUTE }, isNew, []],
  'renewing, denied': [isRenewing, { request: request('Denied') }, refused('denied'), ['Denied']],
  'renewing, taken away': [isRenewing, { request: 'gone' }, isHeld, []],
  'renewing, ten minutes late': [
    isRenewing,
    { request: request(), now: 10 * MINUTE + 501 },
    { ...isRenewing, held: { ...held, told: [overdue] } },
    [overdue],
  ],
  'renewing, late, told once': [
    { ...isRenewing, held: { ...held, told: [overdue] } },
    { request: request(), now: 11 * MINUTE },
    { ...isRenewing, held: { ...held, told: [overdue] } },
    [],
  ],
  'held, late and expired': [
    isHeld,
    { now: 21 * MINUTE },
    { kind: 'held', held: { ...held, told: [overdue, 'CertificateExpired'] } },
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

test('pod certificate: a refusal is told with its words', () => {
  const { events } = nextCertificateState(isAsked, input({ request: request('Denied') }));
  assert.equal(
    events[0]?.message,
    'PodCertificateRequest ns/req-1 was denied, reason="Why", message="because \\"so\\""',
  );
});

test('pod certificate: when a request is made, and what it leads to', () => {
  assert.equal(wantsRequest({ kind: 'none' }, 0), true);
  assert.equal(wantsRequest(isHeld, 499), false);
  assert.equal(wantsRequest(isHeld, 500), true);
  for (const state of [isAsked, isRenewing, refused('failed')]) assert.equal(wantsRequest(state, 1e9), false);
  assert.deepEqual(withRequest({ kind: 'none' }, asked), isAsked);
  assert.deepEqual(withRequest(isHeld, asked), isRenewing);
});

test('pod certificate: when to look again', () => {
  assert.equal(nextLookAt({ kind: 'none' }, 0), undefined);
  assert.equal(nextLookAt(refused('failed'), 0), undefined);
  assert.equal(nextLookAt(isAsked, 0), 1000);
  assert.equal(nextLookAt(isHeld, 0), 500);
  assert.equal(nextLookAt(isRenewing, 600), 1000);
  assert.equal(nextLookAt(isRenewing, 2000), 10 * MINUTE + 500);
  assert.equal(nextLookAt(isRenewing, 11 * MINUTE), 20 * MINUTE);
  assert.equal(nextLookAt(isRenewing, 21 * MINUTE), undefined);
});
