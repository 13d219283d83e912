import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import { type RunProgram, runProgram } from '../host/program.ts';
import { readIdSpace } from './sub-ids.ts';

const WITH_USER = 'root:x:0:0::/root:/bin/sh\nkubelet:x:990:990::/:/bin/false\n';
const WITHOUT_USER = 'root:x:0:0::/root:/bin/sh\nnot-kubelet:x:1:1::/:/bin/false\n';
const DEFAULT = { ok: true, value: { first: 65_536, length: 2 ** 32 - 65_536, perPod: 65_536 } };
const config = { idsPerPod: 65_536, maxPods: 110 };

const depsOf = (passwd: string, run: RunProgram) => ({
  clock: createSystemClock(),
  log: createSilentLogger(),
  readText: () => Promise.resolve(passwd),
  run,
});

/** A real program of that name, which prints its arguments' answers. */
async function programThat(t: { after(call: () => Promise<void>): void }, script: string): Promise<RunProgram> {
  const directory = await mkdtemp(join(tmpdir(), 'getsubids-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'getsubids');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return (program, limits) => {
    assert.equal(program.path, 'getsubids');
    return runProgram({ ...program, path }, limits);
  };
}

test('a node without the user kubelet: every id, and no program runs', async () => {
  const run = () => assert.fail('it runs');
  assert.deepEqual(await readIdSpace(depsOf(WITHOUT_USER, run), config), DEFAULT);
});

test('a node with the user and without the program: every id', async () => {
  const missing: RunProgram = (program, limits) => runProgram({ ...program, path: '/no/such/getsubids' }, limits);
  assert.deepEqual(await readIdSpace(depsOf(WITH_USER, missing), config), DEFAULT);
});

test('what the program prints, for users and groups alike', async (t) => {
  const run = await programThat(t, 'echo "0: kubelet 65536 7208960"');
  assert.deepEqual(await readIdSpace(depsOf(WITH_USER, run), config), {
    ok: true,
    value: { first: 65_536, length: 7_208_960, perPod: 65_536 },
  });
});

for (const [name, script, problem] of [
  [
    'another range for groups',
    '[ "$1" = -g ] && echo "0: kubelet 131072 65536" || echo "0: kubelet 65536 65536"',
    /differ/,
  ],
  ['too few for the pods of the node', 'echo "0: kubelet 65536 65536"', /not enough for 110 pods/],
  ['two ranges', 'printf "0: kubelet 65536 65536\\n1: kubelet 131072 65536\\n"', /no single line/],
  ['a failure', 'echo "Error fetching ranges" >&2; exit 1', /additional ids for user "kubelet".*Error fetching ranges/],
] as const) {
  test(`refused: ${name}`, async (t) => {
    const found = await readIdSpace(depsOf(WITH_USER, await programThat(t, script)), config);
    assert.match(found.ok ? 'accepted' : found.problem, problem);
  });
}
