import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statefulFunctions } from './mutable-state.ts';

test('variables and collections that inner functions share are counted, those of the inner functions are not', () => {
  const code = `export function createCounter(
  start: number,
): Counter {
  let count = start;
  const seen = new Map<string, number>();
  const limit = 3;
  const add = (name: string) => {
    let sum = 0;
    for (const one of seen.values()) {
      let inBlock = one;
      sum += inBlock;
    }
    count += sum;
  };
  return { add, count: () => count };
}
`;
  assert.deepEqual(statefulFunctions(code), [{ line: 3, variables: ['count', 'seen'] }]);
});

test('a function without inner functions keeps its variables for itself', () => {
  assert.deepEqual(
    statefulFunctions('function sum(list: number[]): number {\n  let total = 0;\n  return total;\n}\n'),
    [],
  );
});

test('blocks are no functions', () => {
  const code = 'const run = () => {\n  let a = 1;\n  if (a) {\n    let b = 2;\n  }\n  return () => a;\n};\n';
  assert.deepEqual(statefulFunctions(code), [{ line: 1, variables: ['a'] }]);
});
