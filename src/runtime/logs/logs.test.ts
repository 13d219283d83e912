import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { createFileCalls } from '../../host/file-calls.ts';
import { createGuardedFiles } from '../../host/guarded-files.ts';
import { removeTree } from '../../host/tree-remove.ts';
import { createLogs } from './logs.ts';

function createPlace(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'logs-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const [podLogs, containerLogs] = [join(directory, 'pods'), join(directory, 'containers')];
  mkdirSync(containerLogs);
  const calls = createFileCalls();
  const deps = {
    files: createGuardedFiles(calls),
    removeTree: (path: string) => {
      for (const _ of removeTree(calls, path));
      return Promise.resolve();
    },
  };
  return { podLogs, containerLogs, logs: createLogs(deps, { podLogs, containerLogs }) };
}

const podOf = (name: string): Pod => ({
  metadata: { name, namespace: 'shop', uid: `${name}-uid` },
  spec: { containers: [] },
});
const web = podOf('web');
const other = podOf('other');

async function fill(t: TestContext) {
  const place = createPlace(t);
  const { logs, podLogs } = place;
  await logs.ensurePod(web);
  await logs.ensureContainer(web, 'c');
  await logs.ensureContainer(other, 'c');
  for (const attempt of [0, 1]) {
    writeFileSync(join(podLogs, 'shop_web_web-uid/c', `${attempt}.log`), '');
    await logs.link(web, 'c', `id${attempt}`, attempt);
  }
  writeFileSync(join(podLogs, 'shop_other_other-uid/c/0.log'), '');
  await logs.link(other, 'c', 'id2', 0);
  return place;
}

test('directories and links have the names that others look for', async (t) => {
  const { podLogs, containerLogs, logs } = await fill(t);
  assert.deepEqual(readdirSync(podLogs), ['shop_other_other-uid', 'shop_web_web-uid']);
  assert.equal((statSync(join(podLogs, 'shop_web_web-uid/c')).mode & 0o777).toString(8), '755');
  assert.deepEqual(readdirSync(containerLogs), ['other_shop_c-id2.log', 'web_shop_c-id0.log', 'web_shop_c-id1.log']);
  assert.equal(readlinkSync(join(containerLogs, 'web_shop_c-id1.log')), join(podLogs, 'shop_web_web-uid/c/1.log'));
  assert.deepEqual(
    (await logs.list()).map(({ uid }) => uid),
    ['other-uid', 'web-uid'],
  );
});

test('a link is made again as often as one likes, and corrected', async (t) => {
  const { podLogs, containerLogs, logs } = await fill(t);
  const link = join(containerLogs, 'web_shop_c-id1.log');
  await logs.link(web, 'c', 'id1', 1);
  rmSync(link);
  symlinkSync('/elsewhere', link);
  await logs.link(web, 'c', 'id1', 1);
  assert.equal(readlinkSync(link), join(podLogs, 'shop_web_web-uid/c/1.log'));
});

test('a removed container takes its files and its link with it, and nothing else', async (t) => {
  const { podLogs, containerLogs, logs } = await fill(t);
  const directory = join(podLogs, 'shop_web_web-uid/c');
  for (const name of ['0.log.20260101-000000.gz', '0.log.20260102-000000', '10.log'])
    writeFileSync(join(directory, name), '');
  const container = { id: 'id0', name: 'c', logPath: join(directory, '0.log') };
  await logs.removeContainer(web.metadata, container);
  await logs.removeContainer(web.metadata, container);
  assert.deepEqual(readdirSync(directory), ['1.log', '10.log']);
  assert.deepEqual(readdirSync(containerLogs), ['other_shop_c-id2.log', 'web_shop_c-id1.log']);
});

test('a log path that lies elsewhere is not touched', async (t) => {
  const { containerLogs, logs } = await fill(t);
  const precious = join(containerLogs, '..', 'precious.log');
  writeFileSync(precious, '');
  await logs.removeContainer(web.metadata, { id: 'id0', name: 'c', logPath: precious });
  assert.ok(statSync(precious));
});

test('a pod goes with all its logs, also when only its UID is known', async (t) => {
  for (const pod of [
    { uid: 'web-uid', name: 'web', namespace: 'shop' },
    { uid: 'web-uid', name: '', namespace: '' },
  ]) {
    const { podLogs, containerLogs, logs } = await fill(t);
    await logs.removePod(pod);
    await logs.removePod(pod);
    assert.deepEqual(readdirSync(podLogs), ['shop_other_other-uid']);
    assert.deepEqual(readdirSync(containerLogs), ['other_shop_c-id2.log']);
  }
});

test('links of pods that are gone are swept, links of others are not', async (t) => {
  const { podLogs, containerLogs, logs } = await fill(t);
  rmSync(join(podLogs, 'shop_web_web-uid'), { recursive: true });
  symlinkSync('/elsewhere/gone.log', join(containerLogs, 'foreign.log'));
  await logs.sweepLinks();
  assert.deepEqual(readdirSync(containerLogs), ['foreign.log', 'other_shop_c-id2.log']);
});

test('a node without log directories has no logs', async (t) => {
  const { logs } = createPlace(t);
  await logs.removePod({ uid: 'u', name: 'n', namespace: 's' });
  await logs.sweepLinks();
  assert.deepEqual(await logs.list(), []);
});

test('the next attempt follows the highest log', async (t) => {
  const { podLogs, logs } = await fill(t);
  const pod = { ...web, spec: { containers: [{ name: 'c' }, { name: 'new' }] } };
  assert.deepEqual(
    await logs.nextAttempts(pod),
    new Map([
      ['c', 2],
      ['new', 0],
    ]),
  );
  writeFileSync(join(podLogs, 'shop_web_web-uid/c/4.log.20260101-000000.gz'), '');
  assert.equal((await logs.nextAttempts(pod)).get('c'), 5);
});
