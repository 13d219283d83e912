import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { Image } from '../wire/gen/cri-runtime-v1.ts';
import { createPullRecords } from './pull-records.ts';
import type { PullCredentials } from './rules/pull-record.ts';

const EVERY_POD: PullCredentials = { secrets: [], serviceAccounts: [], everyPod: true };
const NAME = 'localhost:5000/app:1';
/** Of this name, as the reference calls the file. */
const INTENT_FILE = 'sha256-84c8f3de9b214ce8bd88b80832a0356e6420f8d0c2b82df73f99a369b275de0c';
const RECORD_FILE = 'sha256-67e9bc3cfd2163c2978358dfe00d2f912cd4ee0c99f077c3583b39b48aebb124';

async function createBench(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'records-'));
  t.after(() => rm(root, { recursive: true }));
  const clock = createManualClock(1_700_000_000_000);
  const open = async () => {
    const records = createPullRecords({ clock, log: createSilentLogger() }, root);
    await records.open();
    return records;
  };
  const directory = (name: 'pulling' | 'pulled') => join(root, 'image_manager', name);
  const files = async () => ({
    pulling: await readdir(directory('pulling')),
    pulled: await readdir(directory('pulled')),
  });
  return { clock, open, directory, files, records: await open() };
}

test('a pull leaves an intent while it lasts and a record when it is done', async (t) => {
  const { records, files, directory, open } = await createBench(t);
  await records.begin(NAME);
  assert.deepEqual(await files(), { pulling: [INTENT_FILE], pulled: [] });
  assert.equal(records.isIntended(NAME), true);
  assert.equal((await open()).isIntended(NAME), true, 'also after a restart');
  await records.pulled(NAME, 'sha256:abc', EVERY_POD);
  assert.deepEqual(await files(), { pulling: [], pulled: [RECORD_FILE] });
  assert.equal((await stat(directory('pulled'))).mode & 0o777, 0o700);
  assert.equal((await stat(join(directory('pulled'), RECORD_FILE))).mode & 0o777, 0o600);
  assert.match(
    await readFile(join(directory('pulled'), RECORD_FILE), 'utf8'),
    /"lastUpdatedTime":"2023-11-14T22:13:20Z"/,
  );
  const again = (await open()).recordOf('sha256:abc');
  assert.ok(again !== 'unreadable' && again?.credentials.get('localhost:5000/app')?.everyPod);
});

test('an intent stays as long as one of several pulls goes on', async (t) => {
  const { records } = await createBench(t);
  await records.begin(NAME);
  await records.begin(NAME);
  await records.failed(NAME);
  assert.equal(records.isIntended(NAME), true);
  await records.failed(NAME);
  assert.equal(records.isIntended(NAME), false);
});

test('two notes at once lose neither', async (t) => {
  const { records, open } = await createBench(t);
  const secret = (name: string): PullCredentials => ({
    secrets: [{ uid: name, namespace: 'n', name, credentialHash: 'h' }],
    serviceAccounts: [],
    everyPod: false,
  });
  await Promise.all(['a', 'b', 'c'].map((name) => records.learn(NAME, 'sha256:abc', secret(name))));
  const record = (await open()).recordOf('sha256:abc');
  assert.ok(record !== undefined && record !== 'unreadable');
  assert.equal(record.credentials.get('localhost:5000/app')?.secrets.length, 3);
});

test('what a cancelled pull left is settled once the runtime has had time to notice', async (t) => {
  const { records, clock, files } = await createBench(t);
  const image = { ...Image.zero(), id: 'sha256:abc', repoTags: [NAME] };
  for (const name of [NAME, 'other:1', 'busy:1']) await records.begin(name);
  records.abandon(NAME);
  records.abandon('other:1');
  await records.settle([image]);
  assert.equal((await files()).pulling.length, 3);
  await clock.advance(60_000);
  await records.settle([image]);
  assert.deepEqual((await files()).pulled, [RECORD_FILE]);
  assert.equal(records.isIntended(NAME), false);
  assert.equal(records.isIntended('other:1'), false);
  assert.equal(records.isIntended('busy:1'), true, 'that one goes on');
  const record = records.recordOf('sha256:abc');
  assert.ok(record !== undefined && record !== 'unreadable');
  assert.equal(record.credentials.size, 0, 'no one knows who may have it');
});

test('records of images that are gone are pruned, younger ones are not', async (t) => {
  const { records, clock, files } = await createBench(t);
  await records.learn(NAME, 'sha256:abc', EVERY_POD);
  await records.learn('kept:1', 'sha256:kept', EVERY_POD);
  await records.prune(new Set(['sha256:kept']), clock.now() + 500);
  assert.equal((await files()).pulled.length, 2, 'within the same second');
  await records.prune(new Set(['sha256:kept']), clock.now() + 1000);
  assert.equal((await files()).pulled.length, 1);
  assert.equal(records.recordOf('sha256:abc'), undefined);
});

test('files that are not understood are told apart from none, and strange ones are left alone', async (t) => {
  const { directory, open, files } = await createBench(t);
  await writeFile(join(directory('pulled'), RECORD_FILE), '{');
  await writeFile(join(directory('pulled'), 'README'), 'not ours');
  await writeFile(join(directory('pulled'), `${RECORD_FILE}.tmp`), '{');
  await writeFile(join(directory('pulling'), INTENT_FILE), '{');
  const records = await open();
  assert.equal(records.recordOf('sha256:abc'), 'unreadable');
  assert.equal(records.isIntended(NAME), false);
  await records.learn(NAME, 'sha256:abc', EVERY_POD);
  assert.notEqual(records.recordOf('sha256:abc'), 'unreadable', 'a new pull mends it');
  assert.ok((await files()).pulled.includes('README'));
});

test('a place that can not be written is named', async (t) => {
  const { records, directory } = await createBench(t);
  await rm(directory('pulling'), { recursive: true });
  await writeFile(directory('pulling'), 'a file');
  await assert.rejects(records.begin(NAME), /image_manager\/pulling\/sha256-84c8.*: ENOTDIR/);
  assert.equal(records.isIntended(NAME), false);
});
