import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Command, type CommandOutcome, runCommand } from './command.ts';
import { ensurePackages, PackagesUnavailable, servicesDenied } from './packages.ts';

type Answer = Partial<CommandOutcome>;

/** A machine whose dpkg lists `installed`; a successful install adds `delivers`. */
function fakeMachine(options: { installed: string[]; delivers?: string[]; update?: Answer; install?: Answer }) {
  const installed = new Set(options.installed);
  const calls: Command[] = [];
  const answer = (more: Answer = {}): CommandOutcome => ({ code: 0, stdout: '', lastLines: [], ...more });
  const run = (command: Command): Promise<CommandOutcome> => {
    calls.push(command);
    if (command.argv[0] === 'dpkg-query') {
      const asked = command.argv.slice(command.argv.indexOf('--') + 1);
      const known = asked.filter((name) => installed.has(name)).map((name) => `${name} installed`);
      return Promise.resolve(answer({ code: known.length === asked.length ? 0 : 1, stdout: known.join('\n') }));
    }
    if (command.argv.at(-1) === 'update') return Promise.resolve(answer(options.update));
    const outcome = answer(options.install);
    if (outcome.code === 0) for (const name of options.delivers ?? []) installed.add(name);
    return Promise.resolve(outcome);
  };
  return {
    run,
    calls,
    programs: () =>
      calls.map((call) => call.argv.filter((word) => /^(dpkg-query|update|install)$/.test(word)).join(' ')),
  };
}

test('packages that are there cost one look at dpkg and no apt call', async () => {
  const machine = fakeMachine({ installed: ['a', 'b'] });
  await ensurePackages(['a', 'b'], assert.fail, { run: machine.run, env: {} });
  assert.deepEqual(machine.programs(), ['dpkg-query']);
});

test('nothing asked for costs nothing', async () => {
  const machine = fakeMachine({ installed: [] });
  await ensurePackages([], assert.fail, { run: machine.run, env: {} });
  assert.deepEqual(machine.calls, []);
});

test('only what is missing is installed, after one update, without asking questions', async () => {
  const machine = fakeMachine({ installed: ['a'], delivers: ['b', 'c'] });
  const lines: string[] = [];
  await ensurePackages(['a', 'b', 'c'], (line) => lines.push(line), { run: machine.run, env: { PATH: '/x' } });
  assert.deepEqual(machine.programs(), ['dpkg-query', 'update', 'install', 'dpkg-query']);
  const install = machine.calls[2];
  assert.deepEqual(install?.argv.slice(-4), ['-y', '--no-install-recommends', 'b', 'c']);
  assert.ok(install?.argv.includes('DPkg::Lock::Timeout=300'));
  assert.equal(install?.env['DEBIAN_FRONTEND'], 'noninteractive');
  assert.equal(install?.env['PATH'], '/x');
  assert.deepEqual(lines, ['apt: installing b c']);
});

test('a removed package whose configuration is still there counts as missing', async () => {
  const commands: string[] = [];
  const run = (command: Command) => {
    commands.push(command.argv[0]);
    return Promise.resolve({ code: 0, stdout: 'a config-files', lastLines: [] });
  };
  await assert.rejects(
    ensurePackages(['a'], () => undefined, { run, env: {} }),
    /dpkg does not list them as installed/,
  );
  assert.deepEqual(commands, ['dpkg-query', 'apt-get', 'flock', 'dpkg-query']);
});

test('a failing source of packages does not matter if another has them', async () => {
  const machine = fakeMachine({ installed: [], delivers: ['a'], update: { code: 100 } });
  await ensurePackages(['a'], () => undefined, { run: machine.run, env: {} });
});

test('a failed install reports the last output of apt', async () => {
  const machine = fakeMachine({
    installed: [],
    update: { code: 100, lastLines: ['Err: no route'] },
    install: { code: 100, lastLines: ['Reading…', '', 'E: Unable to locate package a'] },
  });
  await assert.rejects(
    ensurePackages(['a'], () => undefined, { run: machine.run, env: {} }),
    (error) => {
      assert.ok(error instanceof PackagesUnavailable);
      assert.deepEqual(error.packages, ['a']);
      assert.match(
        error.message,
        /packages a are needed.*ended with 100:\n {2}Err: no route\n {2}Reading…\n {2}E: Unable/s,
      );
      return true;
    },
  );
});

test('an abort keeps apt from being started', async () => {
  const machine = fakeMachine({ installed: [] });
  const signal = AbortSignal.abort(new Error('stop'));
  await assert.rejects(ensurePackages(['a'], assert.fail, { run: machine.run, env: {}, signal }), /stop/);
  assert.deepEqual(machine.programs(), ['dpkg-query']);
});

const OWN_RULE = '#!/bin/sh\nexit 0\n';
for (const { name, before } of [
  { name: 'no rule on the machine', before: undefined },
  { name: 'a rule of its own that allows', before: OWN_RULE },
]) {
  for (const commandCode of [0, 7]) {
    test(`services are denied during an install and everything is as before after it: ${name}, code ${commandCode}`, async () => {
      const directory = await mkdtemp(join(tmpdir(), 'packages-test-'));
      try {
        const policy = join(directory, 'policy-rc.d');
        if (before !== undefined) {
          await writeFile(policy, before);
          await chmod(policy, 0o755);
        }
        const inside = ['sh', '-c', `"$0" containerd start; echo "rule says $?"; exit ${commandCode}`, policy];
        const outcome = await runCommand({ argv: servicesDenied(policy, inside), env: process.env });
        assert.deepEqual(outcome.lastLines, ['rule says 101']);
        assert.equal(outcome.code, commandCode);
        assert.deepEqual(await readdir(directory), before === undefined ? [] : ['policy-rc.d']);
        if (before !== undefined) assert.equal(await readFile(policy, 'utf8'), before);
      } finally {
        await rm(directory, { recursive: true });
      }
    });
  }
}

test('a rule of ours that a power failure left is removed by the next install', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'packages-test-'));
  try {
    const policy = join(directory, 'policy-rc.d');
    // The inner one is killed so hard that its shell can't tidy up.
    await runCommand({ argv: servicesDenied(policy, ['sh', '-c', 'kill -KILL $PPID']), env: process.env });
    assert.deepEqual(await readdir(directory), ['policy-rc.d']);
    await runCommand({ argv: servicesDenied(policy, ['true']), env: process.env });
    assert.deepEqual(await readdir(directory), []);
  } finally {
    await rm(directory, { recursive: true });
  }
});
