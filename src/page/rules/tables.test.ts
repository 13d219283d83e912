import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { imageList } from './image-list.ts';
import { shownPod } from './pod-list.ts';
import { settingsTable } from './settings-table.ts';

test('settings are listed one by one, with lists whole, and with their origins', () => {
  const configuration = { port: 10250, featureGates: { A: true }, tlsCipherSuites: ['x'], evictionHard: {} };
  const originOf = (path: string) => (path === 'port' ? '--port' : 'default');
  assert.deepEqual(settingsTable(configuration, originOf), [
    { name: 'port', value: '10250', origin: '--port' },
    { name: 'featureGates.A', value: 'true', origin: 'default' },
    { name: 'tlsCipherSuites', value: '["x"]', origin: 'default' },
    { name: 'evictionHard', value: '{}', origin: 'default' },
  ]);
});

const pod = (name: string, image: string, more: object = {}): Pod =>
  ({
    metadata: { name, namespace: 'n', uid: name },
    spec: { containers: [{ name: 'c', image }] },
    ...more,
  }) as unknown as Pod;

test('an image is kept by pods that name it, run it or mount it', () => {
  const image = (id: string, size: number, repoTags: readonly string[]) => ({
    ...{ id, size, repoTags, repoDigests: [`${id}@d`], pinned: false },
  });
  const status = { containerStatuses: [{ name: 'c', imageID: 'i2' }] };
  const mounted = pod('c', 'other', {
    spec: { containers: [], volumes: [{ name: 'v', image: { reference: 'x:1' } }] },
  });
  const shown = imageList(
    [image('i1', 5, ['x:1']), image('i2', 9, [])],
    [pod('a', 'x:1'), pod('b', 'latest', { status }), mounted],
  );
  assert.deepEqual(
    shown.map(({ id, names, usedBy }) => [id, names, usedBy]),
    [
      ['i2', ['i2@d'], ['n/b']],
      ['i1', ['x:1'], ['n/a', 'n/c']],
    ],
  );
});

test('a pod of a file is static, and one without a creation time is as old as its start', () => {
  const annotations = { 'kubernetes.io/config.source': 'file' };
  const shown = shownPod(pod('p', 'i', { metadata: { name: 'p', namespace: 'n', uid: 'u', annotations } }), 'why', 5);
  assert.deepEqual([shown.isStatic, shown.createdAt, shown.ready, shown.why], [true, 5, '0/1', 'why']);
});
