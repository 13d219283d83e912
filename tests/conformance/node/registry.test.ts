import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { textFile } from '../../../tools/machine/images.ts';
import { makeImage } from '../../../tools/machine/oci/image.ts';
import { writeLayout } from '../../../tools/machine/oci/layout.ts';
import { createRegistry } from './registry.ts';

test('an image of a layout is served by its tag and by the digests of its parts', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-ts-layout-'));
  t.after(() => rm(directory, { recursive: true }));
  const image = makeImage({
    names: ['registry.example/team/app:1'],
    layers: [[textFile('a', ['hello'])]],
    config: { Cmd: ['/a'] },
  });
  await writeLayout(directory, [image]);
  const server = (await createRegistry(directory, ['registry.example'])).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const ask = (path: string, method = 'GET') =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method });

  assert.equal((await ask('/v2/')).status, 200);
  const tagged = await ask('/v2/team/app/manifests/1?ns=registry.example');
  assert.equal(tagged.headers.get('docker-content-digest'), image.manifest.digest);
  assert.equal(tagged.headers.get('content-type'), image.manifest.mediaType);
  assert.deepEqual(Buffer.from(await tagged.arrayBuffer()), image.manifest.content);
  const head = await ask(`/v2/team/app/manifests/${image.manifest.digest}`, 'HEAD');
  assert.equal(head.headers.get('content-length'), String(image.manifest.content.length));
  const layer = image.layers[0];
  assert.ok(layer);
  const blob = await ask(`/v2/team/app/blobs/${layer.digest}`);
  assert.deepEqual(Buffer.from(await blob.arrayBuffer()), layer.content);
  const unknown = [
    '/v2/team/app/manifests/2',
    '/v2/other/manifests/1',
    `/v2/team/app/blobs/sha256:${'0'.repeat(64)}`,
    '/v2/team/app/blobs/..%2f..%2findex.json',
    '/elsewhere',
  ];
  for (const path of unknown) assert.equal((await ask(path)).status, 404, path);
});
