import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArguments } from './arguments.ts';

const DEFAULTS = {
  only: [],
  rounds: 3,
  short: false,
  runtime: 'containerd-2.4',
  kubelet: undefined,
  results: undefined,
  help: false,
};

const good: readonly { argv: readonly string[]; env?: NodeJS.ProcessEnv; is: object }[] = [
  { argv: [], is: {} },
  { argv: ['--only', 'start'], is: { only: ['start'] } },
  { argv: ['--only=start,floor', '--only', 'idle'], is: { only: ['start', 'floor', 'idle'] } },
  { argv: ['--rounds', '7'], is: { rounds: 7 } },
  { argv: [], env: { ROUNDS: '5' }, is: { rounds: 5 } },
  { argv: [], env: { ROUNDS: '' }, is: {} },
  { argv: ['--rounds=2'], env: { ROUNDS: '5' }, is: { rounds: 2 } },
  { argv: ['--short', '--rounds', '7'], is: { short: true, rounds: 1 } },
  { argv: ['--runtime', 'containerd-1.6'], is: { runtime: 'containerd-1.6' } },
  { argv: ['--results=/a=b'], is: { results: '/a=b' } },
  { argv: ['--kubelet', '/k'], is: { kubelet: '/k' } },
  { argv: ['-h'], is: { help: true } },
];

for (const { argv, env = {}, is } of good) {
  test(`${JSON.stringify(env)} ${argv.join(' ')}`, () => {
    assert.deepEqual(parseArguments(argv, env), { ...DEFAULTS, ...is });
  });
}

const bad: readonly { argv: readonly string[]; env?: NodeJS.ProcessEnv; says: RegExp }[] = [
  { argv: ['--fast'], says: /--fast: no such argument\nusage/ },
  { argv: ['start'], says: /start: no such argument/ },
  { argv: ['--short=yes'], says: /--short=yes: no such argument/ },
  { argv: ['--only'], says: /--only: a value is missing/ },
  { argv: ['--only='], says: /--only: a value is missing/ },
  { argv: ['--rounds', '0'], says: /--rounds=0: a whole number from 1 to 100/ },
  { argv: ['--rounds', '2.5'], says: /--rounds=2.5: a whole number/ },
  { argv: [], env: { ROUNDS: 'many' }, says: /ROUNDS=many: a whole number/ },
  { argv: ['--runtime', 'docker'], says: /--runtime docker: allowed are containerd-2.4 and containerd-1.6/ },
];

for (const { argv, env = {}, says } of bad) {
  test(`refused: ${JSON.stringify(env)} ${argv.join(' ')}`, () => {
    assert.throws(() => parseArguments(argv, env), says);
  });
}
