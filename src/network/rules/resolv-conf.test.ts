import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeOptions, parseResolvConf } from './resolv-conf.ts';

test('what a resolv.conf says', () => {
  const cases: readonly { text: string; want: readonly (readonly string[])[] }[] = [
    { text: '', want: [[], [], []] },
    { text: 'nameserver 192.0.2.1\n  nameserver\t192.0.2.2 ignored\n', want: [['192.0.2.1', '192.0.2.2'], [], []] },
    { text: '# nameserver 192.0.2.1\n#search x\n; search y\ndomain z', want: [[], [], []] },
    { text: 'search a b.\nsearch c. .', want: [[], ['c'], []] },
    { text: 'search', want: [[], [], []] },
    { text: 'options ndots:2 edns0\noptions ndots:5 timeout:1', want: [[], [], ['ndots:5', 'edns0', 'timeout:1']] },
    { text: 'nameserver fe80::1%eth0\r\nsearch a\r\n', want: [['fe80::1%eth0'], ['a'], []] },
  ];
  for (const { text, want } of cases) {
    const read = parseResolvConf(text);
    assert.ok(read.ok);
    assert.deepEqual([read.value.servers, read.value.searches, read.value.options], want, JSON.stringify(text));
  }
});

test('a name server without an address is an error, not a silence', () => {
  assert.deepEqual(parseResolvConf('search a\nnameserver\n'), { ok: false, problem: 'nameserver list is empty' });
});

test('options are known by their names', () => {
  assert.deepEqual(mergeOptions(['ndots:5', 'edns0'], ['ndots', 'rotate', 'edns0']), ['ndots', 'edns0', 'rotate']);
});
