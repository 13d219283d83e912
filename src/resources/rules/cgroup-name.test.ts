import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cgroupPath,
  nodeCgroup,
  parseCgroupName,
  podCgroup,
  podUidOfDirectory,
  qosCgroup,
  uidFault,
} from './cgroup-name.ts';

const uid = '0a1b-22';

test('names of both drivers', () => {
  const cases = [
    [
      podCgroup(nodeCgroup('/'), 'Guaranteed', uid),
      '/kubepods/pod0a1b-22',
      '/kubepods.slice/kubepods-pod0a1b_22.slice',
    ],
    [
      podCgroup(nodeCgroup(''), 'Burstable', uid),
      '/kubepods/burstable/pod0a1b-22',
      '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b_22.slice',
    ],
    [
      podCgroup(nodeCgroup('/'), 'BestEffort', uid),
      '/kubepods/besteffort/pod0a1b-22',
      '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod0a1b_22.slice',
    ],
    [
      qosCgroup(nodeCgroup('/batch/my-jobs'), 'Burstable'),
      '/batch/my-jobs/kubepods/burstable',
      '/batch.slice/batch-my_jobs.slice/batch-my_jobs-kubepods.slice/batch-my_jobs-kubepods-burstable.slice',
    ],
    [parseCgroupName('/'), '/', '/'],
  ] as const;
  for (const [name, cgroupfs, systemd] of cases) {
    assert.equal(cgroupPath(name, 'cgroupfs'), cgroupfs);
    assert.equal(cgroupPath(name, 'systemd'), systemd);
  }
});

test('the UID of a pod is in the name of its directory', () => {
  assert.equal(podUidOfDirectory('pod0a1b-22', 'cgroupfs'), uid);
  assert.equal(podUidOfDirectory('kubepods-burstable-pod0a1b_22.slice', 'systemd'), uid);
  for (const other of ['burstable', 'pod', 'podman_1', 'crio-123', 'system.slice']) {
    assert.equal(podUidOfDirectory(other, 'cgroupfs'), undefined, other);
  }
  for (const other of ['kubepods-burstable.slice', 'pod0a1b_22', 'cri.scope']) {
    assert.equal(podUidOfDirectory(other, 'systemd'), undefined, other);
  }
});

test('a UID that would lead elsewhere is refused', () => {
  for (const bad of ['', '.', '..', '../../system', 'a/b', 'a b', 'a_b', 'a\0'])
    assert.match(uidFault(bad) ?? '', /can't name a cgroup/, bad);
  for (const good of [uid, '9c9f2d9c0d0d4d1f8a8f7e6d5c4b3a29']) assert.equal(uidFault(good), undefined);
});
