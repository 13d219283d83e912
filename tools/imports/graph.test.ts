import assert from 'node:assert/strict';
import { test } from 'node:test';
import { directoryGraph, drawGraph, findCycle } from './graph.ts';

const value = (from: string, to: string) => ({ from, to, typeOnly: false });

test('arrows go between directories, without types, bare modules and the ground', () => {
  const graph = directoryGraph([
    value('main.ts', 'pods/pods.ts'),
    value('pods/pods.ts', 'plan/plan.ts'),
    value('pods/pods.ts', 'base/clock.ts'),
    value('pods/pods.ts', 'pods/worker.ts'),
    value('pods/pods.ts', 'node:fs'),
    { from: 'plan/plan.ts', to: 'runtime/runtime.ts', typeOnly: true },
  ]);
  assert.equal(drawGraph(graph), '```mermaid\nflowchart LR\n  main --> pods\n  pods --> plan\n```');
  assert.equal(findCycle(graph), undefined);
});

test('a cycle is named', () => {
  const graph = directoryGraph([value('a/a.ts', 'b/b.ts'), value('b/b.ts', 'c/c.ts'), value('c/c.ts', 'b/b.ts')]);
  assert.deepEqual(findCycle(graph), ['b', 'c', 'b']);
});
