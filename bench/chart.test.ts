import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderChart } from './chart.ts';
import type { Cell, Row } from './rows.ts';

const measured = (value: number): Cell => ({ kind: 'measured', value, rounds: [value] });
const none: Cell = { kind: 'none' };
const TEXT = { title: 'ours < "theirs"', subtitle: 'today & here' };

const rowOf = (cells: Partial<Row['cells']>, more: Partial<Row> = {}): Row => ({
  measure: 'start',
  figure: 'healthy',
  text: 'exec to healthy',
  unit: 'ms',
  ratio: undefined,
  cells: { ours: none, reference: none, floor: none, ...cells },
  ...more,
});

/** Widths of the bars of one kind, without that of the legend. */
const widths = (svg: string, kind: string): number[] =>
  [...svg.matchAll(new RegExp(`<rect class="${kind}"[^>]* width="([\\d.]+)"`, 'g'))]
    .slice(1)
    .map((hit) => Number(hit[1]));

test('the longer bar fills the width, the other one is in proportion', () => {
  const svg = renderChart([rowOf({ ours: measured(50), reference: measured(200) }, { ratio: 0.25 })], TEXT);
  const [ours = Number.NaN] = widths(svg, 'ours');
  const [reference = Number.NaN] = widths(svg, 'reference');
  assert.ok(reference > 100);
  assert.ok(Math.abs(ours - reference / 4) < 0.1, `${ours} beside ${reference}`);
  assert.match(svg, />50 ms \(0\.25 ×\)</);
});

test('a floor is a line, and a missing value is words', () => {
  const svg = renderChart([rowOf({ ours: { kind: 'notBuilt' }, reference: measured(2), floor: measured(1) })], TEXT);
  assert.equal(svg.match(/<line class="floor"/g)?.length, 2); // the other one is in the legend
  assert.match(svg, />not built yet</);
});

test('a row without any value of a kubelet is left out, zeros draw no bar', () => {
  assert.deepEqual(widths(renderChart([rowOf({ floor: measured(3) })], TEXT), 'ours'), []);
  assert.deepEqual(widths(renderChart([rowOf({ ours: { kind: 'failed' } })], TEXT), 'ours'), []);
  assert.deepEqual(widths(renderChart([rowOf({ ours: measured(0), reference: measured(0) })], TEXT), 'ours'), [0]);
});

test('text can not break the file', () => {
  const svg = renderChart([], TEXT);
  assert.match(svg, /<title>ours &lt; &quot;theirs&quot;<\/title>/);
  assert.match(svg, /today &amp; here/);
});
