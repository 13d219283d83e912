import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  chosenNumbers,
  NO_PRESSURE,
  parseInterfaces,
  parseNamed,
  parseNumber,
  parseOpenFilesLimit,
  parsePids,
  parsePressure,
  parseTaskCount,
} from './kernel-text.ts';

test('numbers: what is none is undefined', () => {
  const cases: readonly (readonly [string | undefined, number | undefined])[] = [
    ['12\n', 12],
    ['max\n', Number.POSITIVE_INFINITY],
    ['9223372036854771712\n', 2 ** 63 - 4096],
    ['-1\n', undefined],
    ['', undefined],
    ['1 2', undefined],
    ['0x10', undefined],
    ['1'.repeat(10_000), undefined],
    [undefined, undefined],
  ];
  for (const [text, number] of cases) assert.equal(parseNumber(text), number, JSON.stringify(text?.slice(0, 30)));
});

test('named numbers: lines that make no sense are left out, the others count', () => {
  const found = parseNamed('cache 5\nrss seven\n\nno-number\n blank 1\ntotal_rss 9\nhalf 1');
  assert.deepEqual(
    [...found],
    [
      ['cache', 5],
      ['total_rss', 9],
      ['half', 1],
    ],
  );
  assert.deepEqual([...parseNamed(undefined)], []);
});

test('chosen numbers: the same as all of them, without the rest', () => {
  const choose = chosenNumbers(['cache', 'rss', 'half', 'gone', 'total_rss', 'large']);
  const text = 'cache 5\nrss seven\n\nno-number\n blank 1\ntotal_rss 9\nlarge 9223372036854771712\nother 3\nhalf 1';
  assert.deepEqual(choose(text), {
    cache: 5,
    rss: undefined,
    half: 1,
    gone: undefined,
    total_rss: 9,
    large: 2 ** 63 - 4096,
  });
  assert.equal(choose('').cache, undefined);
  assert.equal(choose('cache').cache, undefined);
  assert.equal(choose('cache\nrss 1').cache, undefined);
  assert.equal(choose('cachecache 1').cache, undefined);
});

test('pressure', () => {
  const text = 'some avg10=1.50 avg60=0.70 avg300=0.20 total=8123\nfull avg10=0.00 avg60=0.10 avg300=0.00 total=17\n';
  assert.deepEqual(parsePressure(text), {
    some: { avg10: 1.5, avg60: 0.7, avg300: 0.2, total: 8123 },
    full: { avg10: 0, avg60: 0.1, avg300: 0, total: 17 },
  });
  // Some kernels have no line `full` for the CPU of the whole machine.
  assert.deepEqual(parsePressure(text.split('\n')[0]).full, NO_PRESSURE.full);
  assert.deepEqual(parsePressure('garbage'), NO_PRESSURE);
  assert.deepEqual(parsePressure(undefined), NO_PRESSURE);
});

const NET_DEV = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
  eth0:    2166      25    1    2    0     0          0         0      612       8    3    4    0     0       0          0
veth12:       9       9    9    9    9     9          9         9        9       9    9    9    9     9       9          9
  net1: 12 half a line
`;

test('interfaces: loopback, what leads to pods and what is cut short are left out', () => {
  const eth0 = { name: 'eth0', rxBytes: 2166, rxPackets: 25, rxErrors: 1, rxDropped: 2 };
  assert.deepEqual(parseInterfaces(NET_DEV), [{ ...eth0, txBytes: 612, txPackets: 8, txErrors: 3, txDropped: 4 }]);
  assert.deepEqual(parseInterfaces(undefined), []);
});

test('limits, tasks and process ids', () => {
  const limits =
    'Limit  Soft Limit  Hard Limit  Units\nMax open files            20000                20000                files     \n';
  assert.equal(parseOpenFilesLimit(limits), 20000);
  assert.equal(parseOpenFilesLimit(limits.replace('20000 ', 'unlimited ')), -1);
  assert.equal(parseOpenFilesLimit('nothing'), undefined);
  assert.equal(parseTaskCount('0.52 0.58 0.59 3/740 12345\n'), 740);
  assert.equal(parseTaskCount(''), undefined);
  assert.deepEqual(parsePids('1\n22\n0\nx\n'), [1, 22, 0]);
});
