import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podOomEvent, systemOomEvent } from './event-text.ts';
import { findOwner, levelOf, type OomPod } from './owner.ts';

const POD = '/kubepods/burstable/podu1';
const pod: OomPod = {
  uid: 'u1',
  name: 'web',
  namespace: 'default',
  cgroup: POD,
  containers: [
    { id: 'c1', name: 'c', cgroup: `${POD}/c1`, fieldPath: 'spec.containers{c}', createdAt: 0, oomKilledAt: undefined },
  ],
};
const groups = { pods: '/kubepods', classes: ['/kubepods/burstable', '/kubepods/besteffort'] };

describe('the owner of a killed process', () => {
  it('is found by its cgroup, from the root of this kubelet or of the machine', () => {
    for (const prefix of ['', '/docker/x', '/lab-1']) {
      const owner = findOwner(`${prefix}${POD}/c1`, [{ ...pod, cgroup: '/kubepods/podu2' }, pod]);
      assert.deepEqual([owner?.pod.uid, owner?.container?.name, owner?.prefix], ['u1', 'c', prefix]);
    }
    assert.equal(findOwner(`${POD}/c1/init.scope`, [pod])?.container?.name, 'c');
  });

  it('is the pod where the container is not known, and no one for other cgroups', () => {
    assert.deepEqual(
      [findOwner(`${POD}/c10`, [pod])?.pod.uid, findOwner(`${POD}/c10`, [pod])?.container],
      ['u1', undefined],
    );
    for (const other of ['/', '/system.slice', `${POD}0/c1`, '/kubepods/burstable']) {
      assert.equal(findOwner(other, [pod]), undefined, other);
    }
  });
});

describe('the limit that was reached', () => {
  const owner = findOwner(`/lab${POD}/c1`, [pod]) ?? assert.fail('no owner');
  for (const [limitedCgroup, level] of [
    [`/lab${POD}/c1`, 'container'],
    [`/lab${POD}/c1/below`, 'container'],
    [`/lab${POD}`, 'pod'],
    ['/lab/kubepods/burstable', 'class'],
    ['/lab/kubepods', 'pods'],
    ['/lab', 'node'],
    ['/', 'node'],
    [undefined, 'unknown'],
  ] as const) {
    it(`of ${limitedCgroup} is that of: ${level}`, () => {
      assert.equal(levelOf({ isGlobal: false, limitedCgroup }, owner, groups), level);
    });
  }

  it('is the memory of the machine where that was short', () => {
    assert.equal(levelOf({ isGlobal: true, limitedCgroup: undefined }, owner, groups), 'node');
  });
});

describe('events about killed processes', () => {
  it('have the words of the reference on the node', () => {
    assert.equal(
      systemOomEvent({ process: 'stress', pid: 42 }).message,
      'System OOM encountered, victim process: stress, pid: 42',
    );
    assert.equal(systemOomEvent({ process: '', pid: 0 }).message, 'System OOM encountered');
  });

  it('say which process, container and limit on the pod', () => {
    const victim = { process: 'stress', pid: 42 };
    const text = (level: 'container' | 'node' | 'unknown') =>
      podOomEvent({ victim, container: 'c', level, limitBytes: level === 'container' ? 32 * 1024 * 1024 : undefined });
    assert.equal(
      text('container').message,
      'Process stress (pid 42) in container c was killed: the container reached its memory limit of 32Mi',
    );
    assert.equal(text('node').message, 'Process stress (pid 42) in container c was killed: the node ran out of memory');
    const unknown = podOomEvent({ victim: undefined, container: undefined, level: 'unknown', limitBytes: undefined });
    assert.equal(unknown.message, 'A process was killed: a memory limit was reached');
  });
});
