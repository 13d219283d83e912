import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import { createSystemClock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createUserNamespaces } from './user-namespaces.ts';

test('each pod keeps its range, over restarts too, and no two get the same', async (t) => {
  const podsDirectory = await mkdtemp(join(tmpdir(), 'userns-'));
  t.after(() => rm(podsDirectory, { recursive: true }));
  const uids = Array.from({ length: 8 }, (_, index) => podUid(`pod${index}`));
  for (const uid of uids) await mkdir(join(podsDirectory, uid));
  await writeFile(join(podsDirectory, 'a file'), '');
  const config = { podsDirectory, idsPerPod: 65536, maxPods: 110 };
  const deps = {
    clock: createSystemClock(),
    log: createSilentLogger(),
    readText: () => Promise.resolve('root:x:0:0::/root:/bin/sh\n'),
    random: () => 0.5,
  };
  const first = createUserNamespaces(deps, config);
  const ranges = await Promise.all(uids.map((uid) => first.rangeOf(uid)));
  const ids = ranges.map((range) => (range.ok ? range.value.hostId : 0));
  assert.equal(new Set(ids).size, uids.length);
  assert.equal((await stat(join(podsDirectory, 'pod0', 'userns'))).mode & 0o777, 0o600);
  assert.deepEqual(await createUserNamespaces(deps, config).rangeOf(podUid('pod0')), ranges[0]);
  await writeFile(join(podsDirectory, 'pod1', 'userns'), 'half a file');
  assert.match(JSON.stringify(await first.rangeOf(podUid('pod1'))), /user ids of pod pod1: a file of user id ranges/);
  await assert.rejects(first.rangeOf(podUid('no directory')), { code: 'ENOENT' });
  assert.deepEqual(await first.rangeOf(podUid('pod2')), ranges[2], 'a failure does not stop the next');
  assert.match(await readFile(join(podsDirectory, 'pod2', 'userns'), 'utf8'), /uidMappings/);
});

test('the ids that the system gives to the user kubelet are used, read once', async (t) => {
  const podsDirectory = await mkdtemp(join(tmpdir(), 'userns-'));
  t.after(() => rm(podsDirectory, { recursive: true }));
  for (const name of ['a', 'b', 'c']) await mkdir(join(podsDirectory, name));
  let runs = 0;
  const userNamespaces = createUserNamespaces(
    {
      clock: createSystemClock(),
      log: createSilentLogger(),
      readText: () => Promise.resolve('kubelet:x:990:990::/:/bin/false\n'),
      run: () => {
        runs += 1;
        return Promise.resolve('0: kubelet 131072 131072\n');
      },
      random: () => 0,
    },
    { podsDirectory, idsPerPod: 65_536, maxPods: 2 },
  );
  const hostIdOf = async (name: string) => {
    const range = await userNamespaces.rangeOf(podUid(name));
    return range.ok ? range.value.hostId : range.problem;
  };
  assert.deepEqual([await hostIdOf('a'), await hostIdOf('b')], [131_072, 196_608]);
  assert.match(String(await hostIdOf('c')), /no range of 65536 user ids is free: 2 pods have one/);
  assert.equal(runs, 2, 'users and groups');
});
