import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import type { Image } from '../wire/gen/cri-runtime-v1.ts';
import { imagesInUse } from './in-use.ts';

test('images of containers and of volumes are in use; one that the runtime does not have is not', async () => {
  const volumes = [
    { name: 'a', image: { reference: 'x.io/a:1' } },
    { name: 'b', image: { reference: 'x.io/b:1' } },
  ];
  const pod = (uid: string): Pod => ({
    metadata: { name: uid, namespace: 'n', uid },
    spec: { containers: [], volumes },
  });
  const calls: string[] = [];
  const used = await imagesInUse(
    {
      runtime: {
        status: ({ image = '' }) => {
          calls.push(image);
          return Promise.resolve({ image: image === 'x.io/a:1' ? ({ id: 'sha256:a' } as Image) : undefined });
        },
      },
      listContainers: () =>
        Promise.resolve([
          { imageId: 'sha256:c', imageRef: 'x.io/c@sha256:1' },
          { imageId: '', imageRef: 'sha256:d' },
        ]),
      pods: () => [pod('one'), pod('two')],
    },
    new AbortController().signal,
  );
  assert.deepEqual([...used].toSorted(), ['sha256:a', 'sha256:c', 'sha256:d', 'x.io/c@sha256:1']);
  assert.deepEqual(calls, ['x.io/a:1', 'x.io/b:1'], 'each image is asked for once, however many pods mount it');
});
