import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import { createUserNamespaces } from './user-namespaces.ts';

test('each pod keeps its range, over restarts too, and no two get the same', async (t) => {
  const podsDirectory = await mkdtemp(join(tmpdir(), 'userns-'));
  t.after(() => rm(podsDirectory, { recursive: true }));
  const uids = Array.from({ length: 8 }, (_, index) => podUid(`pod${index}`));
  for (const uid of uids) await mkdir(join(podsDirectory, uid));
  await writeFile(join(podsDirectory, 'a file'), '');
  const config = { podsDirectory, idsPerPod: 65536, random: () => 0.5 };
  const first = createUserNamespaces(config);
  const ranges = await Promise.all(uids.map((uid) => first.rangeOf(uid)));
  const ids = ranges.map((range) => (range.ok ? range.value.hostId : 0));
  assert.equal(new Set(ids).size, uids.length);
  assert.equal((await stat(join(podsDirectory, 'pod0', 'userns'))).mode & 0o777, 0o600);
  assert.deepEqual(await createUserNamespaces(config).rangeOf(podUid('pod0')), ranges[0]);
  await writeFile(join(podsDirectory, 'pod1', 'userns'), 'half a file');
  assert.match(JSON.stringify(await first.rangeOf(podUid('pod1'))), /user ids of pod pod1: a file of user id ranges/);
  await assert.rejects(first.rangeOf(podUid('no directory')), { code: 'ENOENT' });
  assert.deepEqual(await first.rangeOf(podUid('pod2')), ranges[2], 'a failure does not stop the next');
  assert.match(await readFile(join(podsDirectory, 'pod2', 'userns'), 'utf8'), /uidMappings/);
});
