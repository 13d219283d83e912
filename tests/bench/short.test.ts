/** `make bench` in its short form, for real: every kind of measure once, with few pods. Says nothing about speed. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { BUILT } from '../../bench/built.ts';
import type { Measure } from '../../bench/measure.ts';
import { chooseMeasures } from '../../bench/measures.ts';
import type { Results } from '../../bench/results.ts';
import type { Row } from '../../bench/rows.ts';
import { capture } from '../../tools/machine/capture.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';

const PROGRAM = resolve(import.meta.dirname, '..', '..', 'bench', 'main.ts');
/** Those with a hundred pods are the same with another number. */
const ON_A_NODE = [
  'start',
  'idle',
  'floor',
  'static-pod',
  'static-50',
  'probes',
  'restart',
  'endpoints',
  'scrape',
  'logs',
];
const IN_A_CLUSTER = ['api-pod', 'api-50', 'ready-latency', 'api-restart'];
/** What a kubelet that does its work well may have none of. */
const MAY_BE_ZERO = ['kubeletCpu', 'idleCpu', 'containerdCpu', 'runtimeCpu', 'calls', 'execs', 'writes', 'changed'];

interface ShortRun {
  readonly table: string;
  readonly results: Results;
  readonly chart: string;
}

async function runShort(t: TestContext, names: readonly string[]): Promise<ShortRun> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-ts-bench-'));
  t.after(() => rm(directory, { recursive: true }));
  const { code, stdout, stderr } = await capture(
    [process.execPath, PROGRAM, '--short', `--only=${names.join(',')}`, `--results=${directory}`],
    { signal: t.signal },
  );
  assert.equal(code, 0, `${stdout}\n${stderr}`);
  const files = (await readdir(directory)).sort();
  assert.deepEqual(
    files.map((name) => name.slice(name.lastIndexOf('.'))),
    ['.json', '.svg'],
  );
  const [json = '', svg = ''] = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8')));
  return { table: stdout, results: JSON.parse(json) as Results, chart: svg };
}

function checkRow(row: Row, measure: Measure): void {
  const where = `${row.measure}, ${row.figure}: ${JSON.stringify(row.cells)}`;
  const ours = measure.run === undefined ? 'none' : BUILT.has(measure.needs) ? 'measured' : 'notBuilt';
  assert.equal(row.cells.ours.kind, ours, where);
  assert.equal(row.cells.reference.kind, measure.run === undefined ? 'none' : 'measured', where);
  for (const cell of Object.values(row.cells)) {
    if (cell.kind !== 'measured') continue;
    assert.ok(Number.isFinite(cell.value), where);
    assert.ok(cell.value > 0 || (cell.value === 0 && MAY_BE_ZERO.includes(row.figure)), where);
    if (row.figure === 'changed') assert.equal(cell.value, 0, where);
    if (row.unit === 'MB') assert.ok(cell.value > 20 && cell.value < 1000, where);
  }
}

function checkRun({ table, results, chart }: ShortRun, names: readonly string[]): void {
  const measures = chooseMeasures(names);
  const expected = measures.flatMap(({ name, figures }) => Object.keys(figures).map((figure) => `${name}/${figure}`));
  assert.deepEqual(
    results.rows.map(({ measure, figure }) => `${measure}/${figure}`),
    expected,
  );
  for (const row of results.rows) {
    const measure = measures.find(({ name }) => name === row.measure);
    assert.ok(measure);
    checkRow(row, measure);
    assert.ok(table.includes(row.text), row.text);
    assert.equal(chart.includes(`>${row.text}`), measure.run !== undefined, row.text);
  }
  assert.ok(results.machine.cpus > 0);
  for (const name of ['ours', 'reference']) assert.match(results.versions[name] ?? '', /^Kubernetes v1\.36/);
  assert.match(chart, /^<svg .*<\/svg>\n$/s);
}

test('on a node', async (t) => checkRun(await runShort(t, ON_A_NODE), ON_A_NODE));

test('in a cluster', { skip: whyClusterIsSkipped(process.env) }, async (t) =>
  checkRun(await runShort(t, IN_A_CLUSTER), IN_A_CLUSTER),
);

test('a measure that is not there is an error that names those that are', async () => {
  const { code, stderr } = await capture([process.execPath, PROGRAM, '--only', 'speed']);
  assert.equal(code, 2);
  assert.match(stderr, /^bench: no measure named speed; there are start, /m);
});
