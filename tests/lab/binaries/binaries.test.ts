import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runCommand } from '../../../tools/machine/command.ts';
import { type Binaries, createBinariesOf } from './binaries.ts';
import type { Catalog, GoModule } from './catalog.ts';
import { findGo } from './toolchain.ts';
import { BinariesUnavailable } from './unavailable.ts';

type Name = 'hello' | 'wrong' | 'shell' | 'unpacked' | 'nowhere';

const signal = new AbortController().signal;
let root = '';
let env: Record<string, string | undefined> = {};

/** A Go module shaped like the real ones (our go.mod requires and pins, the code is elsewhere) that builds in a second. */
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'binaries-test-'));
  const code = join(root, 'module', 'code');
  await mkdir(join(code, 'wrong'), { recursive: true });
  await writeFile(
    join(root, 'module', 'go.mod'),
    'module kubelet-ts.invalid/pins\n\ngo 1.26\n\nrequire kubelet-ts.invalid/hello v0.1.0\n\nreplace kubelet-ts.invalid/hello => ./code\n',
  );
  await writeFile(join(root, 'module', 'go.sum'), '');
  await writeFile(join(code, 'go.mod'), 'module kubelet-ts.invalid/hello\n\ngo 1.26\n');
  await writeFile(
    join(code, 'hello.go'),
    'package main\n\nvar version = "unset"\n\nfunc main() { println("hello", version) }\n',
  );
  await writeFile(join(code, 'wrong', 'wrong.go'), 'package main\n\nfunc main() { thereIsNoSuchFunction() }\n');
  env = { ...process.env, PATH: `${await placeCountingGo()}:${process.env['PATH']}`, COUNT: join(root, 'count') };
});
after(() => rm(root, { recursive: true }));

/** A `go` in front of the real one that writes down each start, and takes long enough for two to meet. */
async function placeCountingGo(): Promise<string> {
  const real = await findGo({ env: process.env, cacheDir: root, run: runCommand }, [1, 26, 0]);
  assert.ok(real, 'these tests need Go 1.26 or newer on the machine');
  const go = join(root, 'counting', 'bin', 'go');
  await mkdir(dirname(go), { recursive: true });
  await writeFile(go, `#!/bin/sh\necho start >> "$COUNT"\nsleep 0.1\nexec ${real.go} "$@"\n`);
  await chmod(go, 0o755);
  await writeFile(join(root, 'counting', 'VERSION'), `${real.version}\n`);
  return dirname(go);
}

function helloCatalog(directory: string): Catalog<Name> {
  const module: GoModule = {
    name: 'hello',
    directory,
    versionOf: 'kubelet-ts.invalid/hello',
    cgo: false,
    tags: [],
    stamps: (version) => [`main.version=${version}`],
    buildPackages: [],
  };
  const built = { from: 'go', module, mode: 'build' } as const;
  return {
    hello: { ...built, goPackage: 'kubelet-ts.invalid/hello', file: 'hello' },
    wrong: { ...built, goPackage: 'kubelet-ts.invalid/hello/wrong', file: 'wrong' },
    shell: { from: 'debian', debianPackage: 'dash', path: '/bin/dash' },
    unpacked: { from: 'debian-unpacked', debianPackage: 'kubelet-ts-no-such-package', path: 'no/such' },
    nowhere: { from: 'debian', debianPackage: 'kubelet-ts-no-such-package', path: '/no/such' },
  };
}

interface World {
  readonly binaries: Binaries<Name>;
  readonly lines: string[];
  readonly started: string[];
  readonly cacheDir: string;
}

function world(cache: string): World {
  const lines: string[] = [];
  const started: string[] = [];
  const cacheDir = join(root, cache);
  const binaries = createBinariesOf(helloCatalog(join(root, 'module')), {
    env,
    cacheDir,
    log: { line: (line) => lines.push(line), status: (line) => lines.push(line) },
    run: (command) => {
      started.push(command.argv[0]);
      return command.argv[0] === 'apt-get' || command.argv[0] === 'flock'
        ? Promise.resolve({ code: 100, stdout: '', lastLines: ['E: this test installs nothing'] })
        : runCommand(command);
    },
  });
  return { binaries, lines, started, cacheDir };
}

test('builds what is asked for with its version, says so, and a second call starts no process', async () => {
  const { binaries, lines, started, cacheDir } = world('once');
  const { hello } = await binaries.ensure(['hello', 'hello'], signal);
  assert.match(hello, new RegExp(`^${cacheDir}/bin/hello-v0\\.1\\.0-[0-9a-f]{12}/hello$`));
  const said = await runCommand({ argv: [hello], env: {} });
  assert.deepEqual(said.lastLines, ['hello v0.1.0']);
  assert.match(lines[0] ?? '', /^building hello v0\.1\.0: 0\.0s/);
  assert.match(lines.at(-1) ?? '', /^built hello v0\.1\.0 in \d.*: .*\/hello$/);
  assert.deepEqual(await readdir(dirname(hello)), ['hello']);

  started.length = 0;
  lines.length = 0;
  const begin = performance.now();
  assert.deepEqual(await binaries.ensure(['hello'], signal), { hello });
  assert.ok(performance.now() - begin < 2000, 'a look into the cache is quick');
  assert.deepEqual([started, lines], [[], []]);
  const rows = await binaries.list();
  assert.deepEqual(rows[0], { name: 'hello', from: 'go', version: 'v0.1.0', path: hello });
  assert.equal(rows[1]?.path, undefined);
});

test('a changed go.sum means a new directory; the old one stays for others', async () => {
  const directory = join(root, 'changed');
  const make = () =>
    createBinariesOf(helloCatalog(directory), {
      env,
      cacheDir: join(root, 'keys'),
      log: { line: () => undefined, status: () => undefined },
    });
  await mkdir(directory);
  const goMod = await readFile(join(root, 'module', 'go.mod'), 'utf8');
  await writeFile(join(directory, 'go.mod'), goMod.replace('./code', join(root, 'module', 'code')));
  await writeFile(join(directory, 'go.sum'), '');
  const before = await make().ensure(['hello'], signal);
  await writeFile(join(directory, 'go.sum'), '\n');
  const afterwards = await make().ensure(['hello'], signal);
  assert.notEqual(before.hello, afterwards.hello);
  await stat(before.hello);
});

test('a build that fails tells what the compiler said and leaves nothing half-done', async () => {
  const { binaries, cacheDir } = world('failing');
  await assert.rejects(binaries.ensure(['wrong'], signal), (error) => {
    assert.ok(error instanceof BinariesUnavailable);
    assert.equal(error.reason, 'build');
    assert.match(
      error.message,
      /^wrong v0\.1\.0 could not be built in .*\/module by go1\..* \(ended with 1\):\n.*undefined: thereIsNoSuchFunction/s,
    );
    return true;
  });
  const [directory] = (await readdir(join(cacheDir, 'bin'))).filter((name) => !name.endsWith('.lock'));
  assert.deepEqual(await readdir(join(cacheDir, 'bin', directory ?? '')), []);
});

test('an abort ends the build; what it left is removed by the next one', async () => {
  const { binaries, lines, cacheDir } = world('aborted');
  const stop = new AbortController();
  const building = binaries.ensure(['hello'], stop.signal);
  setTimeout(() => stop.abort(new Error('enough')), 100);
  await assert.rejects(building, /enough/);
  assert.equal(
    lines.some((line) => line.startsWith('built')),
    false,
  );
  const [directory] = (await readdir(join(cacheDir, 'bin'))).filter((name) => !name.endsWith('.lock'));
  assert.deepEqual(await readdir(join(cacheDir, 'bin', directory ?? '')), []);
  // One that was killed could not tidy up.
  await mkdir(join(cacheDir, 'bin', directory ?? '', '.building-1-hello'));
  await writeFile(join(cacheDir, 'bin', directory ?? '', '.building-1-hello', 'hello'), 'half');
  const { hello } = await binaries.ensure(['hello'], signal);
  assert.deepEqual(await readdir(dirname(hello)), ['hello']);
});

test('Debian programs: a present package gives its path, a missing one an error that names it', async () => {
  const { binaries, started } = world('debian');
  assert.deepEqual(await binaries.ensure(['shell'], signal), { shell: '/bin/dash' });
  assert.deepEqual(started, ['dpkg-query']);
  await assert.rejects(binaries.ensure(['nowhere'], signal), (error) => {
    assert.ok(error instanceof BinariesUnavailable);
    assert.equal(error.reason, 'packages');
    assert.match(error.message, /kubelet-ts-no-such-package .*E: this test installs nothing/s);
    return true;
  });
});

test('a package that is only unpacked: where it can not be fetched, an error names it and nothing is left', async () => {
  const { binaries, started, cacheDir } = world('unpacked');
  await assert.rejects(binaries.ensure(['unpacked'], signal), (error) => {
    assert.ok(error instanceof BinariesUnavailable);
    assert.match(error.message, /kubelet-ts-no-such-package .*E: this test installs nothing/s);
    return true;
  });
  assert.deepEqual(started, ['apt-get', 'apt-get', 'apt-get'], 'fetched, lists renewed, fetched again');
  assert.deepEqual(await readdir(join(cacheDir, 'unpacked')), []);
  await mkdir(join(cacheDir, 'unpacked', 'kubelet-ts-no-such-package'));
  const { unpacked } = await binaries.ensure(['unpacked'], signal);
  assert.equal(unpacked, join(cacheDir, 'unpacked/kubelet-ts-no-such-package/no/such'));
  assert.equal(started.length, 3, 'what is there is not fetched again');
});

test('two processes that want the same: one builds, the other waits, both get it', async () => {
  const count = join(root, 'count-of-two');
  const importing = (file: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, file)).href);
  const catalog = JSON.stringify({ hello: { ...helloCatalog(join(root, 'module')).hello } });
  const script = `
    import { createBinariesOf } from ${importing('binaries.ts')};
    const catalog = ${catalog};
    catalog.hello.module.stamps = (version) => ['main.version=' + version];
    const log = { line: (line) => console.error(line), status: () => {} };
    const binaries = createBinariesOf(catalog, { env: process.env, cacheDir: process.env.CACHE, log });
    console.log((await binaries.ensure(['hello'], new AbortController().signal)).hello);`;
  const start = async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...env, CACHE: join(root, 'shared'), COUNT: count },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    assert.equal(code, 0, err);
    return { path: out.trim(), built: err.split('\n').filter((line) => line.startsWith('built ')).length };
  };
  const [one, two] = await Promise.all([start(), start()]);
  assert.equal(one.path, two.path);
  assert.equal(one.built + two.built, 1);
  assert.equal(await readFile(count, 'utf8'), 'start\n');
  assert.deepEqual((await runCommand({ argv: [one.path], env: {} })).lastLines, ['hello v0.1.0']);
});
