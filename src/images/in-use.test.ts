import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { imagesInUse } from './in-use.ts';

const ID = 'e'.repeat(64);

test('images of containers, and those that pods name for containers and volumes, started or not, are in use', async () => {
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'n', uid: 'p' },
    spec: {
      initContainers: [{ name: 'i', image: ID }],
      containers: [
        { name: 'a', image: 'busybox' },
        { name: 'b', image: `x.io/b:1@sha256:${ID}` },
      ],
      volumes: [{ name: 'v', image: { reference: 'x.io/v:1' } }],
    },
  };
  const containers = [
    { imageId: 'sha256:c', imageRef: 'x.io/c@sha256:1' },
    { imageId: '', imageRef: 'sha256:d' },
  ];
  const used = await imagesInUse(
    { listContainers: () => Promise.resolve(containers), pods: () => [pod] },
    new AbortController().signal,
  );
  for (const name of [
    'sha256:c',
    'x.io/c@sha256:1',
    'sha256:d',
    'docker.io/library/busybox:latest',
    `x.io/b@sha256:${ID}`,
    `sha256:${ID}`,
    'x.io/v:1',
  ]) {
    assert.ok(used.has(name), name);
  }
  assert.ok(!used.has('') && !used.has('docker.io/library/other:latest'));
});
