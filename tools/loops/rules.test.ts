import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopNames, looseLoops } from './rules.ts';

describe('loops that no one keeps running', () => {
  for (const code of [
    'while (!signal.aborted) {',
    'while (true) {',
    'while (!this.#signal.aborted) {',
    'for (;;) {',
    'for (let wait = 1; !signal.aborted; wait *= 2) {',
  ])
    it(code, () =>
      assert.deepEqual(looseLoops(`const a = 1;\n  ${code}\n}\n`), [{ line: 2, code: code.slice(0, -2) }]),
    );

  for (const code of [
    'while (left.length > 0) {',
    'for (let tries = 0; ; tries += 1) {',
    'for (const one of all) {',
    'for (let at = 0; at < end; at += 1) {',
    'for (let next = shift(); next !== undefined; next = shift()) {',
  ])
    it(`not ${code}`, () => assert.deepEqual(looseLoops(code), []));

  it('knows the names of loops', () => {
    const code = [
      "running = supervisor.run({ name: 'a', pass, rest }, signal);",
      "const loop = {\n  name: 'b',\n  about: { path },\n  pass: () => 1,\n};\nvoid deps.supervisor.run(loop, signal);",
      "return { name: 'no loop', start: 1 };",
    ].join('\n');
    assert.deepEqual(loopNames(code), ['a', 'b']);
    assert.throws(() => loopNames('supervisor.run(made(), signal)'));
  });
});
