import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinErrors, journalArguments, logFilesOf, parseNodeLogQuery, validateNodeLogQuery } from './node-log-query.ts';

for (const [given, expected] of [
  ['', { kind: 'none' }],
  ['other=1', { kind: 'none' }],
  ['query=kubelet&query=crio', { services: ['kubelet', 'crio'], files: [], options: {} }],
  ['query=/kubelet.log', { services: [], files: ['/kubelet.log'], options: {} }],
  ['query=a\\b', { services: [], files: ['a\\b'], options: {} }],
  [
    'query=kubelet&sinceTime=2026-01-02T03:04:05Z&tailLines=5&boot=-1&pattern=x',
    {
      services: ['kubelet'],
      files: [],
      options: { sinceTime: '2026-01-02T03:04:05Z', tailLines: 5, boot: -1, pattern: 'x' },
    },
  ],
  ['query=%20%20', 'query: Invalid value: ["  "]: may not be empty'],
  ['query=', 'query: Invalid value: [""]: may not be empty'],
  ['query=k&sinceTime=now', 'sinceTime: Invalid value: "now": invalid time format'],
  ['query=k&boot=x', 'boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax'],
  [
    'query=k&tailLines=1x&untilTime=1',
    '[untilTime: Invalid value: "1": invalid time format, tailLines: Invalid value: "1x": strconv.Atoi: parsing "1x": invalid syntax]',
  ],
] as const) {
  test(`reading ?${given}`, () => {
    const answer = parseNodeLogQuery(new URLSearchParams(given));
    const seen = answer.kind === 'query' ? answer.query : answer.kind === 'undecodable' ? answer.text : answer;
    assert.deepEqual(seen, expected);
  });
}

for (const [given, expected] of [
  ['query=kubelet&tailLines=100000&boot=0', ''],
  ['query=a&query=b&query=c&query=d&query=e', 'query: Too many: 5: must have at most 4 items'],
  ['query=a;b', 'query: Invalid value: "a;b": input contains unsupported characters'],
  ['query=--help%20x', 'query: Invalid value: "--help x": input contains unsupported characters'],
  [`query=${'x'.repeat(257)}`, `query: Invalid value: "${'x'.repeat(257)}": length must be less than 256`],
  ['tailLines=1', 'query: Required value: cannot be empty with options'],
  ['query=/a&query=b', 'query: Invalid value: "[/a], [b]": cannot specify a file and service'],
  ['query=/a&query=/b', 'query: Invalid value: ["/a","/b"]: cannot specify more than one file'],
  ['query=/a&tailLines=1', 'query: Invalid value: ["/a"]: cannot specify file with options'],
  ['query=k&boot=1', 'boot: Invalid value: 1: must be less than 1'],
  ['query=k&tailLines=100001', 'tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive'],
  ['query=k&tailLines=-1', 'tailLines: Invalid value: -1: must be between 0 and 100000, inclusive'],
  [
    'query=k&sinceTime=2026-01-02T03:04:06Z&untilTime=2026-01-02T03:04:05Z',
    'untilTime: Invalid value: "2026-01-02T03:04:05Z": must be after `sinceTime`',
  ],
] as const) {
  test(`checking ?${given.slice(0, 60)}`, () => {
    const answer = parseNodeLogQuery(new URLSearchParams(given));
    assert.equal(answer.kind, 'query');
    const errors = answer.kind === 'query' ? validateNodeLogQuery(answer.query) : [];
    assert.equal(errors.length === 0 ? '' : joinErrors(errors), expected);
  });
}

test('a pattern must be a valid regular expression', () => {
  const [error] = validateNodeLogQuery({ services: ['k'], files: [], options: { pattern: '(' } });
  assert.match(error?.detail ?? '', /^error parsing regexp: /);
});

test('a query becomes arguments of journalctl', () => {
  assert.deepEqual(journalArguments(['a', 'b'], {}), [
    '--utc',
    '--no-pager',
    '--output=short-precise',
    '--unit=a',
    '--unit=b',
  ]);
  const all = {
    sinceTime: '1970-01-01T01:00:10+01:00',
    untilTime: '1970-01-01T00:01:00.5Z',
    tailLines: 3,
    pattern: '-x',
    boot: -1,
  };
  assert.deepEqual(journalArguments(['a'], all).slice(3), [
    ...['--since=@10', '--until=@60', '--pager-end', '--lines=3', '--unit=a', '--grep=-x', '--boot', '-1'],
  ]);
  assert.deepEqual(logFilesOf('foo'), ['foo', 'foo.log', 'foo/foo.log']);
});
