import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { nestedMountPoints } from './nested-mount-points.ts';

/** Mounts as `volume:path`, one list for each container. */
function pod(...containers: readonly (readonly string[])[]): Pod {
  return {
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: {
      containers: containers.map((mounts, index) => ({
        name: `c${index}`,
        volumeMounts: mounts.map((mount) => ({
          name: mount.split(':')[0] ?? '',
          mountPath: mount.split(':')[1] ?? '',
        })),
      })),
    },
  };
}

describe('mount points inside of a volume', () => {
  const cases: readonly (readonly [string, Pod, readonly string[]])[] = [
    ['none', pod(['v:/a', 'w:/b']), []],
    ['one', pod(['v:/a', 'w:/a/b']), ['b']],
    ['deep', pod(['v:/a', 'w:/a/b/c']), ['b/c']],
    ['only the upper one of two', pod(['v:/a', 'w:/a/b', 'x:/a/b/c']), ['b']],
    ['names with a common beginning', pod(['v:/a', 'w:/a/n', 'x:/a/n-vol', 'y:/a/n/deep', 'z:/ab']), ['n', 'n-vol']],
    ['mounted twice', pod(['v:/a', 'v:/b', 'w:/a/x', 'w:/b/y']), ['x', 'y']],
    ['other containers are other trees', pod(['v:/a'], ['w:/a/b']), []],
    ['the same in two containers', pod(['v:/a', 'w:/a/b'], ['v:/a', 'w:/a/b']), ['b']],
    ['not clean', pod(['v:/a//', 'w:/a/./b/']), ['b']],
    ['parents', pod(['v:/x/../a', 'w:/../a/b/../c']), ['c']],
    ['at the root', pod(['v:/', 'w:/a']), []],
  ];
  for (const [name, subject, expected] of cases) {
    test(name, () => assert.deepEqual(nestedMountPoints(subject, 'v'), expected));
  }
});
