import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Image } from '../../wire/gen/cri-runtime-v1.ts';
import { computeDeclaredFeatures, computeHandlers, computeImages, computeNodeInfo } from './node-info.ts';

const machine = {
  machineId: 'm',
  systemUuid: 's',
  bootId: 'b',
  kernelVersion: '6.18',
  osImage: 'Debian',
  architecture: 'amd64',
  swap: 0,
};
const image = (id: string, size: bigint, repoTags: readonly string[], repoDigests: readonly string[] = []): Image =>
  ({ id, size, repoTags, repoDigests }) as unknown as Image;

describe('the version of the runtime', () => {
  for (const [said, shown] of [
    ['v2.4.2', 'containerd://2.4.2'],
    ['2.4.2', 'containerd://2.4.2'],
    ['1.6.20~ds1', 'containerd://1.6.20'],
    ['v2.4.2-rc.1+abc', 'containerd://2.4.2-rc.1+abc'],
    ['1.7', 'containerd://1.7'],
    ['unknown', 'containerd://Unknown'],
    [undefined, 'containerd://Unknown'],
  ] as const) {
    it(`${said} is shown as ${shown}`, () => {
      const info = computeNodeInfo(machine, { name: 'containerd', version: said }, 'v1.36.4');
      assert.equal(info.containerRuntimeVersion, shown);
    });
  }
});

it('swap is reported only if there is some', () => {
  const runtime = { name: 'containerd', version: '2.4.2' };
  assert.equal(computeNodeInfo(machine, runtime, 'v1').swap, undefined);
  assert.deepEqual(computeNodeInfo({ ...machine, swap: 4096 }, runtime, 'v1').swap, { capacity: 4096 });
});

describe('images', () => {
  const images = [
    image('a', 5n, ['small:1']),
    image('b', 9n, ['t:1', 't:2', 't:3', 't:4'], ['r@sha256:1', 'r@sha256:2']),
    image('c', 5n, ['equal:1']),
  ];
  it('are sorted by size, then by id, with at most five names', () => {
    assert.deepEqual(computeImages(images, -1), [
      { names: ['r@sha256:1', 'r@sha256:2', 't:1', 't:2', 't:3'], sizeBytes: 9 },
      { names: ['equal:1'], sizeBytes: 5 },
      { names: ['small:1'], sizeBytes: 5 },
    ]);
  });
  for (const [most, count] of [
    [0, 0],
    [1, 1],
    [50, 3],
    [-1, 3],
  ] as const) {
    it(`${count} of 3 with nodeStatusMaxImages ${most}`, () => assert.equal(computeImages(images, most).length, count));
  }
});

it('handlers are sorted, whatever order the runtime has', () => {
  const features = { recursiveReadOnlyMounts: true, userNamespaces: false };
  assert.deepEqual(
    computeHandlers([
      { name: 'runc', features },
      { name: '', features: undefined },
    ]),
    [
      { name: '', features: { recursiveReadOnlyMounts: false, userNamespaces: false } },
      { name: 'runc', features },
    ],
  );
});

describe('declared features', () => {
  const built = new Set(['RestartAllContainersOnContainerExits', 'ExtendWebSocketsToKubelet'] as const);
  it('are those that are built and on', () => {
    assert.deepEqual(
      computeDeclaredFeatures(() => true, built),
      ['ExtendWebSocketsToKubelet', 'RestartAllContainersOnContainerExits'],
    );
    const enabled = (gate: string) => gate !== 'ExtendWebSocketsToKubelet';
    assert.deepEqual(computeDeclaredFeatures(enabled, built), ['RestartAllContainersOnContainerExits']);
  });
  it('are not changed without their own gate', () => {
    assert.equal(
      computeDeclaredFeatures((gate) => gate !== 'NodeDeclaredFeatures', built),
      undefined,
    );
  });
});
