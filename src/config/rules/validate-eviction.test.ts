import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judgeAll } from '../judge-testing.ts';
import { evictionSignals, parseMinimumReclaim, parseThreshold, thresholdValue } from './eviction-threshold.ts';

test('eviction thresholds are parsed', () => {
  const kinds: [string, string][] = [
    ['100Mi', 'quantity'],
    ['1', 'quantity'],
    ['1.5Gi', 'quantity'],
    ['10%', 'share'],
    ['0.5%', 'share'],
    ['.5%', 'share'],
    ['1e1%', 'share'],
    ['0.0%', 'share'],
    ['0%', 'off'],
    ['100%', 'off'],
    ['', 'fault'],
    ['%', 'fault'],
    ['10Q', 'fault'],
    ['110%', 'fault'],
    ['-1%', 'fault'],
    ['NaN%', 'fault'],
    ['Infinity%', 'fault'],
    ['1 %', 'fault'],
    ['0', 'fault'],
    ['-1Mi', 'fault'],
    ['ten', 'fault'],
  ];
  for (const [text, kind] of kinds) assert.equal(parseThreshold(text).kind, kind, text);
});

test('minimum reclaims are parsed', () => {
  for (const good of ['0', '1Gi', '5%', '150%']) assert.notEqual(parseMinimumReclaim(good).kind, 'fault', good);
  for (const bad of ['0%', '-5%', '-1', 'x', '', '%']) assert.equal(parseMinimumReclaim(bad).kind, 'fault', bad);
});

test('a share of the capacity is computed in single precision', () => {
  assert.equal(thresholdValue(parseThreshold('100Mi'), 1n), 104_857_600n);
  assert.equal(thresholdValue(parseThreshold('50%'), 1001n), 500n);
  // 10 % is 0.10000000149… in single precision, which is what the reference multiplies with.
  assert.equal(thresholdValue(parseThreshold('10%'), 25_000_000_000n), 2_500_000_037n);
  assert.equal(thresholdValue(parseThreshold('0%'), 1000n), 0n);
});

test('no text makes the parser throw', () => {
  fc.assert(fc.property(fc.string(), (text) => typeof parseThreshold(text).kind === 'string'));
});

const everySignal = Object.fromEntries(
  evictionSignals.filter((signal) => !signal.startsWith('containerfs.')).map((signal) => [signal, '10%']),
);

judgeAll({
  'every signal': { config: { evictionHard: everySignal } },
  'unknown signal, with a hint': {
    config: { evictionHard: { 'memory.availble': '1Gi' } },
    problems: [/^evictionHard\.memory\.availble: .*did you mean memory\.available\?/],
  },
  'unknown signal and bad amount': {
    config: { evictionHard: { 'moon.available': '1Q' } },
    problems: [/is not an eviction signal/, /must be a quantity/],
  },
  'bad amounts in every table': {
    config: {
      evictionHard: { 'memory.available': '110%' },
      evictionSoft: { 'nodefs.available': '-1' },
      evictionSoftGracePeriod: { 'nodefs.available': '-1s' },
      evictionMinimumReclaim: { 'memory.available': '0%' },
    },
    problems: [
      'evictionHard.memory.available',
      'evictionSoft.nodefs.available',
      'evictionSoftGracePeriod.nodefs.available',
      'evictionMinimumReclaim.memory.available',
    ],
  },
  'grace period without unit': {
    config: { evictionSoft: { 'memory.available': '1Gi' }, evictionSoftGracePeriod: { 'memory.available': '30' } },
    problems: [/must be a duration/],
  },
  'soft without grace period': {
    config: { evictionSoft: { 'memory.available': '300Mi' } },
    problems: [/^evictionSoft\.memory\.available: needs a grace period/],
  },
  'soft that is off needs none': { config: { evictionSoft: { 'memory.available': '0%' } } },
  'grace period and reclaim for nothing': {
    config: { evictionSoftGracePeriod: { 'pid.available': '1s' }, evictionMinimumReclaim: { 'pid.available': '1' } },
    warnings: ['evictionSoftGracePeriod.pid.available', 'evictionMinimumReclaim.pid.available'],
  },
  'soft below hard': {
    config: {
      evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '10%' },
      evictionSoft: { 'memory.available': '500Mi', 'nodefs.available': '5%' },
      evictionSoftGracePeriod: { 'memory.available': '1m', 'nodefs.available': '1m' },
    },
    warnings: [/hard one acts first/, /hard one acts first/],
  },
  'container file system': {
    config: { evictionHard: { 'containerfs.available': '10%' } },
    warnings: [/^evictionHard\.containerfs\.available: is ignored/],
  },
});
