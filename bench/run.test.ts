import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT, type Capability } from './built.ts';
import type { MeasureIn } from './measure.ts';
import { takeMeasure } from './run.ts';
import type { BenchNode, Contestant, Stage } from './world/node.ts';

const CONTESTANTS: readonly Contestant[] = [
  { name: 'ours', binary: '/ours' },
  { name: 'reference', binary: '/reference' },
];

/** Writes down what is asked of it, in order. */
function fakeStage(calls: string[]): Stage<BenchNode> {
  const quiet = () => Promise.resolve();
  return {
    world: {} as BenchNode,
    kubelet: ({ name }) => ({ name, start: () => Promise.resolve(1), stop: quiet, kill: quiet }),
    clear: () => {
      calls.push('clear');
      return quiet();
    },
    [Symbol.asyncDispose]: quiet,
  };
}

const measureOf = (calls: string[], more: Partial<MeasureIn<BenchNode>> = {}): MeasureIn<BenchNode> => ({
  name: 'm',
  about: '',
  needs: 'health',
  figures: { figure: { text: 'figure', unit: 'ms' } },
  run: ({ name }) => {
    calls.push(name);
    return Promise.resolve({ figure: calls.length });
  },
  floor: () => {
    calls.push('floor');
    return Promise.resolve({ figure: calls.length });
  },
  ...more,
});

const options = (rounds: number) => ({ contestants: CONTESTANTS, rounds, say: () => undefined });

test('who is first changes, and every turn begins and ends with an empty world', async () => {
  const calls: string[] = [];
  await takeMeasure(measureOf(calls), fakeStage(calls), options(2));
  const turn = (name: string) => ['clear', name, 'clear'];
  assert.deepEqual(calls, ['floor', 'ours', 'reference', 'floor', 'reference', 'ours'].flatMap(turn));
});

test('a measure that takes long has fewer rounds', async () => {
  const calls: string[] = [];
  const { outcomes } = await takeMeasure(measureOf(calls, { mostRounds: 2 }), fakeStage(calls), options(5));
  assert.equal(outcomes.ours.length, 2);
});

test('a failure is an outcome, the world is emptied after it, and the others go on', async () => {
  const calls: string[] = [];
  const run: MeasureIn<BenchNode>['run'] = ({ name }) =>
    name === 'ours' ? Promise.reject(new Error('it broke')) : Promise.resolve({ figure: 7 });
  const { outcomes } = await takeMeasure(measureOf(calls, { run }), fakeStage(calls), options(1));
  assert.deepEqual(outcomes.ours, [{ kind: 'failed', message: 'it broke' }]);
  assert.deepEqual(outcomes.reference, [{ kind: 'values', values: { figure: 7 } }]);
  assert.equal(calls.filter((what) => what === 'clear').length, 6);
});

test('what ours can not do yet is left out for ours alone', async () => {
  const missing = (['api', 'stats', 'logs', 'probes'] satisfies Capability[]).find((name) => !BUILT.has(name));
  if (missing === undefined) return; // everything is built
  const calls: string[] = [];
  const { outcomes } = await takeMeasure(measureOf(calls, { needs: missing }), fakeStage(calls), options(1));
  assert.deepEqual(outcomes.ours, [{ kind: 'notBuilt' }]);
  assert.equal(outcomes.reference[0]?.kind, 'values');
  assert.ok(!calls.includes('ours'));
});
