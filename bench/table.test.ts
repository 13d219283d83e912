import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNumber, formatValue } from './number-text.ts';
import type { Cell, Row } from './rows.ts';
import { renderTable } from './table.ts';

const measured = (value: number): Cell => ({ kind: 'measured', value, rounds: [value] });
const none: Cell = { kind: 'none' };

const ROWS: readonly Row[] = [
  {
    measure: 'start',
    figure: 'healthy',
    text: 'exec to healthy',
    unit: 'ms',
    cells: { ours: measured(103.4), reference: measured(340), floor: measured(12.34) },
    ratio: 0.304,
  },
  {
    measure: 'start',
    figure: 'again',
    text: 'the same again',
    unit: 'ms',
    cells: { ours: { kind: 'failed' }, reference: measured(0), floor: none },
    ratio: undefined,
  },
  {
    measure: 'logs',
    figure: 'speed',
    text: 'read',
    unit: 'MB/s',
    better: 'more',
    cells: { ours: { kind: 'notBuilt' }, reference: measured(250), floor: none },
    ratio: undefined,
  },
];

test('numbers stand right, words left, a measure is named once', () => {
  assert.equal(
    renderTable(ROWS),
    [
      'measure                                  ours  reference  ratio    floor',
      '-------  ---------------------  -------------  ---------  -----  -------',
      'start    exec to healthy               103 ms     340 ms   0.30  12.3 ms',
      '         the same again                failed       0 ms',
      'logs     read (more is better)  not built yet   250 MB/s',
      '',
    ].join('\n'),
  );
});

test('a table of nothing is its head', () => {
  assert.match(renderTable([]), /^measure .*\n-+.*\n$/);
});

const numbers: readonly (readonly [number, string])[] = [
  [0, '0'],
  [7, '7'],
  [0.034, '0.03'],
  [9.876, '9.88'],
  [12.34, '12.3'],
  [164.4, '164'],
  [15_528.2, '15528'],
];
for (const [value, text] of numbers) {
  test(`${value} is written ${text}`, () => assert.equal(formatNumber(value), text));
}

test('a count has no unit', () => {
  assert.equal(formatValue(3, ''), '3');
  assert.equal(formatValue(3, 'ms'), '3 ms');
});
