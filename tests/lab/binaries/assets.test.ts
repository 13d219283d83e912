import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runCommand } from '../../../tools/machine/command.ts';
import { assetPath, checkAsset } from './assets.ts';
import { createBinaries } from './binaries.ts';
import { BinariesUnavailable } from './unavailable.ts';

let directory = '';
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'assets-test-'));
});
after(() => rm(directory, { recursive: true }));

async function asset(name: string, script: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

for (const [env, name, path] of [
  [{ KUBEBUILDER_ASSETS: '/a' }, 'etcd', '/a/etcd'],
  [{ KUBEBUILDER_ASSETS: '/a/' }, 'kube-apiserver', '/a/kube-apiserver'],
  [{ KUBEBUILDER_ASSETS: '/a' }, 'kubectl', '/a/kubectl'],
  [{ KUBEBUILDER_ASSETS: '/a' }, 'kube-scheduler', undefined],
  [{ KUBEBUILDER_ASSETS: '/a' }, 'toString', undefined],
  [{ KUBEBUILDER_ASSETS: '' }, 'etcd', undefined],
  [{}, 'etcd', undefined],
] as const) {
  test(`${name} with ${JSON.stringify(env)} is ${path ?? 'not an asset'}`, () =>
    assert.equal(assetPath(env, name), path));
}

const how = { run: runCommand, env: process.env, signal: new AbortController().signal };

for (const [name, script] of [
  ['etcd', 'echo "etcd Version: 3.5.13"; echo "Git SHA: abc"'],
  ['etcd', 'echo "etcd Version: 3.6.8"'],
  ['kube-apiserver', 'echo "Kubernetes v1.36.0"'],
  ['kubectl', 'test "$*" = "version --client" && echo "Client Version: v1.35.2"'],
] as const) {
  test(`an asset that fits: ${name}, ${script}`, async () => {
    await checkAsset(name, await asset(name, script), how);
  });
}

for (const [name, script, message] of [
  ['etcd', 'echo "etcd Version: 3.4.23"', /etcd is version 3\.4\.23, allowed is 3\.5\.13 or newer/],
  ['etcd', 'echo "etcd Version: 3.5.12"', /etcd is version 3\.5\.12, allowed is 3\.5\.13 or newer/],
  [
    'kube-apiserver',
    'echo "Kubernetes v1.35.9"',
    /is version 1\.35\.9, allowed is 1\.36\.0 or newer \(an API server must not be older/,
  ],
  ['kubectl', 'echo hello', /tells no version: "hello"/],
  ['etcd', 'echo "wrong machine" >&2; exit 126', /does not run \(--version ended with 126: wrong machine\)/],
] as const) {
  test(`an asset that does not fit: ${name}, ${script}`, async () => {
    const path = await asset(name, script);
    await assert.rejects(checkAsset(name, path, how), (error) => {
      assert.ok(error instanceof BinariesUnavailable);
      assert.equal(error.reason, 'assets');
      assert.match(error.message, message);
      assert.ok(error.message.startsWith(`KUBEBUILDER_ASSETS: ${path} `));
      return true;
    });
  });
}

test('an asset that is not there is an error, not a reason to build', async () => {
  await assert.rejects(checkAsset('etcd', join(directory, 'none', 'etcd'), how), /none\/etcd does not run .*ENOENT/);
});

test('KUBEBUILDER_ASSETS is taken, each program checked once, and nothing is built', async () => {
  const asked: string[] = [];
  const paths = {
    etcd: await asset('etcd', 'echo "etcd Version: 3.6.1"'),
    'kube-apiserver': await asset('kube-apiserver', 'echo "Kubernetes v1.36.2"'),
    kubectl: await asset('kubectl', 'echo "Client Version: v1.36.2"'),
  };
  const binaries = createBinaries({
    env: { ...process.env, KUBEBUILDER_ASSETS: directory },
    log: { line: assert.fail, status: assert.fail },
    cacheDir: join(directory, 'cache'),
    run: (command) => {
      asked.push(command.argv[0]);
      return runCommand(command);
    },
  });
  assert.deepEqual(await binaries.ensure(['etcd', 'kube-apiserver', 'kubectl'], how.signal), paths);
  assert.deepEqual(await binaries.ensure(['kubectl', 'etcd'], how.signal), {
    kubectl: paths.kubectl,
    etcd: paths.etcd,
  });
  assert.deepEqual(asked, Object.values(paths));
});
