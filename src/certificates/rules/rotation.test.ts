import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CertificateFacts, canonicalIp } from './certificate-facts.ts';
import { clientTemplate, servingTemplate } from './node-template.ts';
import { decideRotation, type RotationSnapshot, retryAfterMs, rotationDeadline } from './rotation.ts';
import { signingState } from './signing-request.ts';

const DAY = 86_400_000;
const BEGIN = Date.UTC(2026, 0, 1);
const facts: CertificateFacts = {
  notBefore: BEGIN,
  notAfter: BEGIN + 100 * DAY,
  commonName: 'system:node:n1',
  organizations: ['system:nodes'],
  dnsNames: ['n1'],
  ips: [canonicalIp('192.0.2.1'), canonicalIp('2001:db8::1')],
};
const good: RotationSnapshot = {
  certificate: facts,
  template: clientTemplate('n1'),
  rotates: true,
  receivedAt: undefined,
  jitter: 0.5,
  now: BEGIN + DAY,
};
const at = (days: number) => BEGIN + days * DAY;
const template = (addresses: readonly (readonly [string, string])[]) =>
  servingTemplate(
    'n1',
    addresses.map(([type, address]) => ({ type, address })),
  );

describe('a certificate', () => {
  const table: readonly [string, Partial<RotationSnapshot>, string][] = [
    ['that is good waits until 80 % of its life', {}, `wait ${at(80)}`],
    ['waits longest with the largest jitter', { jitter: 1 }, `wait ${at(90)}`],
    ['waits shortest with the smallest', { jitter: 0 }, `wait ${at(70)}`],
    ['that was dated back lives from when it came', { jitter: 0, receivedAt: at(50) }, `wait ${at(85)}`],
    ['that came by a clock of the future lives from its own date', { receivedAt: at(150) }, `wait ${at(80)}`],
    ['is renewed at its deadline', { now: at(80) }, 'request: the certificate is near its end'],
    ['that is missing is requested', { certificate: undefined }, 'request: there is no certificate'],
    ['that has expired is requested', { now: at(100) }, 'request: the certificate has expired'],
    ['is not renewed where rotation is off', { rotates: false, now: at(99) }, `wait ${at(100)}`],
    [
      'is requested where rotation is off and it has expired',
      { rotates: false, now: at(101) },
      'request: the certificate has expired',
    ],
    ['waits for addresses', { template: undefined, certificate: undefined }, 'wait for a change'],
    [
      'of another node is replaced',
      { template: clientTemplate('n2') },
      'request: the certificate is for system:node:n1',
    ],
    [
      'for an address in another spelling stays',
      { template: template([['InternalIP', '2001:DB8:0::1']]) },
      `wait ${at(80)}`,
    ],
    [
      'without a new address is replaced',
      { template: template([['InternalIP', '192.0.2.9']]) },
      'request: the certificate lacks the address 192.0.2.9',
    ],
    [
      'without a new name is replaced',
      { template: template([['Hostname', 'n1.example']]) },
      'request: the certificate lacks the name n1.example',
    ],
  ];
  for (const [name, change, expected] of table) {
    test(name, () => {
      const decision = decideRotation({ ...good, ...change });
      const shown =
        decision.kind === 'request'
          ? `request: ${decision.reason}`
          : decision.until === undefined
            ? 'wait for a change'
            : `wait ${Math.round(decision.until)}`;
      assert.equal(shown, expected);
    });
  }

  test('of a year is always renewed between 70 and 90 % of its life, all year round', () => {
    for (let jitter = 0; jitter < 1; jitter += 0.001) {
      const share = (rotationDeadline(facts, undefined, jitter) - facts.notBefore) / (facts.notAfter - facts.notBefore);
      assert.ok(share >= 0.7 && share <= 0.9);
    }
  });
});

test('failures are retried after 2, 4, 8, 16, 32, 32 s; a denied request after ten minutes', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 50].map((n) => retryAfterMs(n, false, 0) / 1000),
    [2, 4, 8, 16, 32, 32, 32],
  );
  assert.equal(retryAfterMs(1, true, 0), 600_000);
  assert.equal(retryAfterMs(1, false, 0.999), 2200);
});

test('a server is asked for under every name and address of its node, sorted, and under none without them', () => {
  const found = template([
    ['InternalIP', '192.0.2.7'],
    ['InternalIP', '192.0.2.10'],
    ['ExternalIP', 'not an address'],
    ['Hostname', '192.0.2.7'],
    ['Hostname', 'n1'],
    ['ExternalDNS', 'a.example'],
    ['InternalDNS', ''],
  ]);
  assert.deepEqual(
    [found?.dnsNames, found?.ips],
    [
      ['a.example', 'n1'],
      ['192.0.2.10', '192.0.2.7'],
    ],
  );
  assert.equal(template([]), undefined);
  assert.equal(template([['ExternalIP', 'x']]), undefined);
});

describe('a certificate signing request', () => {
  const state = (types: readonly string[], certificate?: string) =>
    signingState({
      metadata: { name: 'x', uid: 'u' },
      status: {
        conditions: types.map((type) => ({ type, reason: 'R', message: 'M' })),
        ...(certificate === undefined ? {} : { certificate }),
      },
    });
  test('is pending, approved, issued, denied or failed', () => {
    assert.deepEqual(signingState({ metadata: { name: 'x', uid: 'u' } }), { kind: 'pending' });
    assert.deepEqual(state([], 'forged'), { kind: 'pending' }, 'a certificate without approval is none');
    assert.deepEqual(state(['Approved']), { kind: 'approved' });
    assert.deepEqual(state(['Approved'], 'YQ=='), { kind: 'issued', certificate: 'YQ==' });
    assert.deepEqual(state(['Approved', 'Denied'], 'YQ=='), {
      kind: 'denied',
      message: 'certificate signing request is denied, reason: "R", message: "M"',
    });
    assert.deepEqual(state(['Approved', 'Failed']), {
      kind: 'failed',
      message: 'certificate signing request failed, reason: "R", message: "M"',
    });
  });
});
