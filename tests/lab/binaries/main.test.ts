import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runCommand } from '../../../tools/machine/command.ts';

let cache = '';
before(async () => {
  cache = await mkdtemp(join(tmpdir(), 'binaries-main-test-'));
});
after(() => rm(cache, { recursive: true }));

function main(...args: readonly string[]) {
  const env = { ...process.env, KUBELET_TS_CACHE: cache, KUBEBUILDER_ASSETS: '/no/such/directory' };
  return runCommand({ argv: [process.execPath, join(import.meta.dirname, 'main.ts'), ...args], env });
}

for (const [args, code, said] of [
  [[], 2, /^usage: main\.ts ensure NAME/],
  [['ensure'], 2, /^usage/],
  [['list', 'etcd'], 2, /^usage/],
  [['make', 'etcd'], 2, /^usage/],
  [['ensure', 'etcd', 'kubelett', 'toString'], 2, /^no binary is called kubelett, toString\nusage/],
  [['ensure', 'etcd'], 1, /KUBEBUILDER_ASSETS: \/no\/such\/directory\/etcd does not run/],
] as const) {
  test(`main.ts ${args.join(' ')} ends with ${code}`, async () => {
    const outcome = await main(...args);
    assert.match(outcome.lastLines.join('\n'), said);
    assert.equal(outcome.code, code);
    assert.equal(outcome.stdout, '');
  });
}

test('main.ts list tells each name, its source and its place', async () => {
  const outcome = await main('list');
  assert.equal(outcome.code, 0);
  const rows = new Map(outcome.stdout.split('\n').map((row) => [row.split('\t')[0], row.split('\t').slice(1)]));
  assert.deepEqual(rows.get('kubelet-reference'), ['go v1.36.4', '-']);
  assert.deepEqual(rows.get('containerd'), ['go v2.4.2', '-']);
  assert.deepEqual(rows.get('etcd'), ['assets', '-']);
  assert.equal(rows.get('debian-containerd')?.[0], 'debian');
});
