import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { isAlive, ownerOf, parseStartTime } from './owner.ts';

const statOf = (name: string, state: string) =>
  `42 (${name}) ${state} 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2`;

for (const [what, stat, expected] of [
  ['a plain name', statOf('sleep', 'S'), '98765'],
  ['a name with brackets and blanks', statOf('a) S (b', 'R'), '98765'],
  ['a zombie', statOf('sleep', 'Z'), undefined],
  ['an empty file', '', undefined],
] as const) {
  test(`start time: ${what}`, () => assert.equal(parseStartTime(stat), expected));
}

test('an owner is alive as long as its very process is', async () => {
  const child = spawn('sleep', ['100']);
  await once(child, 'spawn');
  const owner = ownerOf(child.pid ?? 0);
  assert.ok(owner !== undefined && isAlive(owner));
  assert.ok(!isAlive({ ...owner, startTime: '1' }), 'another process with the same pid');
  assert.ok(!isAlive({ ...owner, bootId: 'before the last boot' }));
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.ok(!isAlive(owner));
  assert.equal(ownerOf(2 ** 30), undefined);
});
