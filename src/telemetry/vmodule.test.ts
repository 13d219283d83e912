import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { moduleVerbosity } from './vmodule.ts';

describe('module verbosity', () => {
  const cases: readonly (readonly [pattern: string, module: string, matches: boolean])[] = [
    ['worker', 'pods/worker', true],
    ['worker', 'pods/workers', false],
    ['work*', 'pods/worker', true],
    ['*', 'main', true],
    ['w?rker', 'pods/worker', true],
    ['w[aeo]rker', 'pods/worker', true],
    ['w[^aeo]rker', 'pods/worker', false],
    ['w[a-p]rker', 'pods/worker', true],
    ['pods/*', 'pods/worker', true],
    ['pods/*', 'probes/worker', false],
    ['po*er', 'pods/worker', false],
    ['wor.er', 'pods/worker', false],
    ['w[z-a]rker', 'pods/worker', false],
    ['w[', 'pods/worker', false],
    ['', 'pods/worker', false],
  ];
  for (const [pattern, module, matches] of cases) {
    it(`${JSON.stringify(pattern)} ${matches ? 'matches' : 'does not match'} ${module}`, () => {
      assert.equal(moduleVerbosity([{ filePattern: pattern, verbosity: 5 }], module), matches ? 5 : undefined);
    });
  }

  it('takes the first pattern that matches', () => {
    const modules = [
      { filePattern: 'work*', verbosity: 2 },
      { filePattern: 'worker', verbosity: 9 },
    ];
    assert.equal(moduleVerbosity(modules, 'pods/worker'), 2);
  });
});
