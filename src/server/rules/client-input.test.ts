/** How texts and addresses of unauthenticated callers are handled. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressGroup } from './address-group.ts';
import { shownGroups, shownName, shownTarget } from './log-text.ts';
import { foreignRequest } from './own-names.ts';

describe('addresses that count together', () => {
  for (const [address, wanted] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['', ''],
  ] as const) {
    it(address, () => assert.equal(addressGroup(address), wanted));
  }
});

describe('texts of clients in log lines', () => {
  for (const [target, wanted] of [
    ['/pods', '/pods'],
    ['/exec/a/b/c?command=ls&command=-l', '/exec/a/b/c?command=ls&command=-l'],
    ['/pods?token=s3cret&x=1', '/pods?token=<masked>&x=1'],
    ['/pods?x=1&access_token=s3cret', '/pods?x=1&access_token=<masked>'],
    ['/pods?%74oken=s3cret', '/pods?%74oken=<masked>'],
    ['/pods?Authorization=Bearer+s3cret', '/pods?Authorization=<masked>'],
    ['/pods?a=b?token=c', '/pods?a=b?token=c'],
    ['/pods?=&&%zz', '/pods?=&&%zz'],
  ] as const) {
    it(target, () => assert.equal(shownTarget(target), wanted));
  }

  it('are always short', () => {
    const long = 'x'.repeat(1 << 20);
    assert.equal(shownTarget(`/${long}`), `/${'x'.repeat(1023)}… of 1048577 characters`);
    assert.ok(shownTarget(`/pods?token=${long}`).length < 100);
    assert.ok(shownTarget(`/pods?${'token=s3cret&'.repeat(80_000)}`).length < 1100);
    assert.doesNotMatch(shownTarget(`/pods?${'a'.repeat(1000)}&token=s3cret`), /s3c/);
    assert.ok(shownName(long).length < 300);
    const groups = shownGroups(Array.from({ length: 10_000 }, () => long));
    assert.equal(groups.length, 17);
    assert.ok(JSON.stringify(groups).length < 6000);
  });
});

describe('requests that other sites make a browser send to a node without a cluster', () => {
  const at = (localAddress: string) => ({ nodeName: 'Node-1', localAddress });
  for (const [host, origin, localAddress, isForeign] of [
    ['127.0.0.1:10250', undefined, '127.0.0.1', false],
    ['[::1]:10250', undefined, '::1', false],
    ['localhost', undefined, '::ffff:127.0.0.1', false],
    ['LOCALHOST:10250', undefined, '127.0.0.1', false],
    ['node-1:10250', undefined, '127.0.1.1', false],
    ['evil.example:10250', undefined, '127.0.0.1', true],
    ['127.0.0.1.evil.example', undefined, '127.0.0.1', true],
    ['node-1.evil.example', undefined, '127.0.0.1', true],
    ['', undefined, '127.0.0.1', true],
    // Where an address was configured, other names may lead to it.
    ['node.example:10250', undefined, '192.0.2.1', false],
    ['127.0.0.1:10250', 'https://127.0.0.1:10250', '127.0.0.1', false],
    ['127.0.0.1:10250', 'https://evil.example', '127.0.0.1', true],
    ['127.0.0.1:10250', 'https://127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1:10250', 'null', '127.0.0.1', true],
    ['node.example:10250', 'https://evil.example', '192.0.2.1', true],
  ] as const) {
    it(`Host ${host}, Origin ${origin}, at ${localAddress}: ${isForeign ? 'refused' : 'accepted'}`, () =>
      assert.equal(foreignRequest({ host, origin }, at(localAddress)) !== undefined, isForeign));
  }
});
