import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptOfLog, logLinkName, logStamp, podOfLogDirectory } from './log-names.ts';

test('links', () => {
  assert.equal(logLinkName({ name: 'web', namespace: 'shop' }, 'front', 'abc123'), 'web_shop_front-abc123.log');
  const long = logLinkName({ name: 'n'.repeat(253), namespace: 'shop' }, 'front', 'abc123');
  assert.equal(long.length, 255);
  assert.match(long, /\.log$/);
});

test('directories', () => {
  assert.deepEqual(podOfLogDirectory('shop_web-1_0a-1b'), { namespace: 'shop', name: 'web-1', uid: '0a-1b' });
  assert.deepEqual(podOfLogDirectory('shop_web_my_own_uid'), { namespace: 'shop', name: 'web', uid: 'my_own_uid' });
  for (const other of ['', 'lost+found', 'a_b', 'a_b_', '_b_c', 'a__c'])
    assert.equal(podOfLogDirectory(other), undefined, other);
});

test('stamps', () => {
  assert.equal(logStamp({ year: 2026, month: 1, day: 2, hour: 3, minute: 4, second: 5 }), '20260102-030405');
});

test('attempts', () => {
  assert.deepEqual(
    ['0.log', '12.log.20260101-000000.gz', 'x.log', '3.logs', ''].map(attemptOfLog),
    [0, 12, -1, -1, -1],
  );
});
