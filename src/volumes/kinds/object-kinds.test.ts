import assert from 'node:assert/strict';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import type { Volume, VolumeProjection } from '../../api/volume.ts';
import { codeOf, describeError } from '../../base/errors.ts';
import { createManualClock } from '../../base/manual-clock.ts';
import { testDirectory, treeOf, visibleFiles } from '../atomic-testing.ts';
import { createOperations } from '../operations.ts';
import { createVolumeTask } from '../volume.ts';
import { NO_OBJECTS } from './no-objects.ts';
import { configMap, podWith, secret, type TestObjects, testObjects, testVolumes } from './object-kinds-testing.ts';

const SETTINGS = configMap('settings', {
  data: { color: 'blue', 'app.conf': 'a=1\n' },
  binaryData: { blob: 'AAEC/w==' },
});

function world(): TestObjects {
  const made = testObjects();
  made.configMaps.set('settings', SETTINGS);
  made.secrets.set('pass', secret('pass', { user: 'ada', word: 's3cret' }));
  return made;
}

async function filesOf(volume: Volume, more: Partial<Pod['spec']> = {}): Promise<Readonly<Record<string, string>>> {
  await using dir = await testDirectory();
  const volumes = testVolumes(dir.path, world().objects);
  const pod = podWith([volume], more);
  const ready = await volumes.setUp(pod, volume.name);
  assert.deepEqual([ready.path, ready.readOnly], [volumes.directory(pod, volume), true]);
  return await visibleFiles(ready.path ?? '');
}

const CERTIFICATE = { signerName: 'example.com/s', keyType: 'ED25519' };
const projected = (...sources: readonly VolumeProjection[]): Volume => ({ name: 'v', projected: { sources } });

describe('files of each kind', () => {
  const bundle = (more: object) => projected({ clusterTrustBundle: { path: 'roots.pem', ...more } });
  const cases: readonly (readonly [string, Volume, Readonly<Record<string, string>>])[] = [
    [
      'a config map',
      { name: 'v', configMap: { name: 'settings' } },
      { color: 'blue', 'app.conf': 'a=1\n', blob: '\x00\x01\x02�' },
    ],
    [
      'one key of it',
      { name: 'v', configMap: { name: 'settings', items: [{ key: 'color', path: 'x/y' }] } },
      { 'x/y': 'blue' },
    ],
    ['an optional one that is not there', { name: 'v', configMap: { name: 'none', optional: true } }, {}],
    [
      'an optional key',
      { name: 'v', configMap: { name: 'settings', optional: true, items: [{ key: 'no', path: 'n' }] } },
      {},
    ],
    ['a secret', { name: 'v', secret: { secretName: 'pass' } }, { user: 'ada', word: 's3cret' }],
    ['an optional secret', { name: 'v', secret: { secretName: 'none', optional: true } }, {}],
    [
      'the pod',
      { name: 'v', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      { l: 'a="b"' },
    ],
    [
      'a token',
      projected({ serviceAccountToken: { path: 't/token', audience: 'vault' } }),
      { 't/token': 'default for p to vault at 0' },
    ],
    ['a trust bundle', bundle({ name: 'roots' }), { 'roots.pem': 'PEM of roots\n' }],
    ['an optional trust bundle', bundle({ name: 'none', optional: true }), { 'roots.pem': '' }],
    [
      'an optional bundle of a signer',
      bundle({ signerName: 's', labelSelector: {}, optional: true }),
      { 'roots.pem': '' },
    ],
    [
      'a certificate',
      projected({
        podCertificate: { ...CERTIFICATE, credentialBundlePath: 'both', keyPath: 'k', certificateChainPath: 'c' },
      }),
      { both: 'KEY\nCHAIN\n', k: 'KEY\n', c: 'CHAIN\n' },
    ],
    [
      'only the bundle of a certificate',
      projected({ podCertificate: { ...CERTIFICATE, credentialBundlePath: 'both' } }),
      { both: 'KEY\nCHAIN\n' },
    ],
    [
      'several sources, the last one first',
      projected(
        { configMap: { name: 'settings' } },
        { secret: { name: 'pass', items: [{ key: 'user', path: 'color' }] } },
      ),
      { color: 'ada', 'app.conf': 'a=1\n', blob: '\x00\x01\x02�' },
    ],
    ['no source', projected(), {}],
  ];
  for (const [name, volume, expected] of cases) {
    test(name, async () =>
      assert.deepEqual(await filesOf(volume), Object.fromEntries(Object.entries(expected).sort())),
    );
  }
});

describe('what is missing or not allowed', () => {
  const cases: readonly (readonly [string, Volume, string, string])[] = [
    ['a config map', { name: 'v', configMap: { name: 'no' } }, 'waiting', 'configmap "no" not found'],
    ['a secret', { name: 'v', secret: { secretName: 'no' } }, 'waiting', 'secret "no" not found'],
    [
      'a key of a config map',
      { name: 'v', configMap: { name: 'settings', items: [{ key: 'no', path: 'n' }] } },
      'waiting',
      'configmap references non-existent config key: no',
    ],
    [
      'a key of a secret',
      { name: 'v', secret: { secretName: 'pass', items: [{ key: 'no', path: 'n' }] } },
      'waiting',
      'references non-existent secret key: no',
    ],
    [
      'a field',
      { name: 'v', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'status.podIP' } }] } },
      'invalid',
      'unsupported fieldPath: status.podIP',
    ],
    ['a bundle', projected({ clusterTrustBundle: { name: 'no', path: 'p' } }), 'waiting', 'no bundle matches'],
    [
      'the API server',
      projected({ clusterTrustBundle: { name: 'away', path: 'p', optional: true } }),
      'failed: unavailable',
      'no API server',
    ],
    [
      'a bundle of no one',
      projected({ clusterTrustBundle: { path: 'p' } }),
      'invalid',
      'ClusterTrustBundle projection requires either name or signerName to be set',
    ],
    [
      'a certificate that is not issued yet',
      projected({}, { podCertificate: { ...CERTIFICATE, credentialBundlePath: 'p' } }),
      'waiting',
      'no credentials yet for v',
    ],
    [
      'two sources',
      projected({ secret: { name: 'no' } }, { configMap: { name: 'settings' } }, { configMap: { name: 'no' } }),
      'waiting',
      '[secret "no" not found, configmap "no" not found]',
    ],
    [
      'a path outside',
      { name: 'v', configMap: { name: 'settings', items: [{ key: 'color', path: '../x' }] } },
      'failed: invalid',
      "invalid path: must not contain '..': ../x",
    ],
  ];
  for (const [name, volume, kind, message] of cases) {
    test(name, async () => {
      await using dir = await testDirectory();
      const volumes = testVolumes(dir.path, world().objects);
      const answer = await volumes
        .answer(podWith([volume]), volume.name)
        .catch((error: unknown) => ({ kind: `failed: ${codeOf(error)}`, message: describeError(error) }));
      assert.deepEqual(answer, { kind, message });
    });
  }

  test('without an API server each answer names what is missing; the downward API works', async () => {
    await using dir = await testDirectory();
    const volumes = testVolumes(dir.path, NO_OBJECTS);
    const fields = { downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] } };
    const pod = podWith([
      { name: 'cm', configMap: { name: 'x' } },
      { name: 's', secret: { secretName: 'x' } },
      { name: 't', projected: { sources: [fields, { serviceAccountToken: { path: 't' } }] } },
      { name: 'p', projected: { sources: [fields] } },
    ]);
    await assert.rejects(volumes.setUp(pod, 'cm'), /^CodedError: configmap "x" not found: .* without an API server$/);
    await assert.rejects(volumes.setUp(pod, 's'), /^CodedError: secret "x" not found: /);
    await assert.rejects(volumes.setUp(pod, 't'), /^CodedError: failed to fetch token of service account "default": /);
    assert.deepEqual(await visibleFiles((await volumes.setUp(pod, 'p')).path ?? ''), { n: 'p' });
  });
});

describe('who may read', () => {
  const tokenAndMap = projected(
    { serviceAccountToken: { path: 'token' } },
    { configMap: { name: 'settings', items: [{ key: 'color', path: 'c', mode: 0o400 }] } },
  );
  const cases: readonly (readonly [string, Partial<Pod['spec']>, readonly string[]])[] = [
    ['nothing is said', {}, ['..STAMP/c f 400 0:0', '..STAMP/token f 644 0:0', 'token l 777 0:0 ..data/token']],
    [
      'a user',
      { securityContext: { runAsUser: 1000 } },
      ['..STAMP/c f 400 0:0', '..STAMP/token f 600 1000:0', 'token l 777 1000:0 ..data/token'],
    ],
    [
      'a group',
      { securityContext: { fsGroup: 3000 } },
      ['..STAMP/c f 440 0:3000', '..STAMP/token f 640 0:3000', 'token l 777 0:3000 ..data/token'],
    ],
    [
      'a user and a group',
      { securityContext: { fsGroup: 3000, runAsUser: 1000 } },
      ['..STAMP/c f 440 0:3000', '..STAMP/token f 640 1000:3000', 'token l 777 1000:3000 ..data/token'],
    ],
  ];
  for (const [name, more, lines] of cases) {
    test(name, async () => {
      await using dir = await testDirectory();
      const volumes = testVolumes(dir.path, world().objects);
      const { path = '' } = await volumes.setUp(podWith([tokenAndMap], more), 'v');
      const tree = await treeOf(path);
      assert.deepEqual(
        tree.filter((line) => lines.includes(line)),
        lines,
        tree.join('\n'),
      );
      const { mode, gid } = await lstat(path);
      const grouped = more.securityContext?.fsGroup !== undefined;
      assert.deepEqual([(mode & 0o7777).toString(8), gid], grouped ? ['3777', 3000] : ['1777', 0]);
    });
  }
});

describe('while the pod runs', () => {
  test('a changed config map changes the files, the same one does not', async () => {
    await using dir = await testDirectory();
    const objects = world();
    const volumes = testVolumes(dir.path, objects.objects);
    const pod = podWith([{ name: 'v', configMap: { name: 'settings' } }]);
    const { path = '' } = await volumes.setUp(pod, 'v');
    const before = await lstat(join(path, '..data'));
    await volumes.setUp(pod, 'v');
    assert.equal((await lstat(join(path, '..data'))).ino, before.ino);
    objects.configMaps.set('settings', configMap('settings', { data: { color: 'red' } }));
    await volumes.setUp(pod, 'v');
    assert.deepEqual(await visibleFiles(path), { color: 'red' });
  });

  test('labels that change are in the files', async () => {
    await using dir = await testDirectory();
    const volumes = testVolumes(dir.path, world().objects);
    const pod = podWith([
      { name: 'v', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    ]);
    await volumes.setUp(pod, 'v');
    const { path = '' } = await volumes.setUp(
      { ...pod, metadata: { ...pod.metadata, labels: { a: 'c', z: '' } } },
      'v',
    );
    assert.deepEqual(await visibleFiles(path), { l: 'a="c"\nz=""' });
  });

  test('a token is requested again before it expires, and only then', async () => {
    await using dir = await testDirectory();
    let now = 1_000_000;
    const objects = testObjects(() => now);
    const volumes = testVolumes(dir.path, objects.objects);
    const pod = podWith([
      projected(
        { serviceAccountToken: { path: 'long' } },
        { serviceAccountToken: { path: 'short', audience: 'vault', expirationSeconds: 600 } },
      ),
    ]);
    const first = await volumes.setUp(pod, 'v');
    assert.equal(first.refreshAt, now + 480_000);
    now += 479_000;
    await volumes.setUp(pod, 'v');
    assert.equal(objects.requests.length, 2);
    now += 1_000;
    const second = await volumes.setUp(pod, 'v');
    assert.equal(second.refreshAt, now + 480_000);
    const files = await visibleFiles(second.path ?? '');
    assert.deepEqual(files, { long: 'default for p to  at 1000000', short: 'default for p to vault at 1480000' });
  });

  test('a token is prefetched with the same request that the volume will make', async () => {
    await using dir = await testDirectory();
    const objects = testObjects(() => 1_000_000);
    const volumes = testVolumes(dir.path, objects.objects);
    const volume = projected(
      { serviceAccountToken: { path: 'a', audience: 'vault' } },
      { configMap: { name: 'none' } },
    );
    const pod = podWith([volume]);
    volumes.kinds
      .find((kind) => kind.handles(volume))
      ?.prefetch?.(pod, pod.spec.volumes?.[0] ?? { name: '' }, new AbortController().signal);
    const ahead = [...objects.requests];
    assert.equal(ahead.length, 1);
    await volumes.setUp(podWith([projected({ serviceAccountToken: { path: 'a', audience: 'vault' } })]), 'v');
    assert.deepEqual(objects.requests, ahead);
  });

  test('the file is another one before the token expires', async () => {
    await using dir = await testDirectory();
    const clock = createManualClock(1_000_000);
    const objects = testObjects(clock.now);
    const volumes = testVolumes(dir.path, objects.objects);
    const volume = projected({ serviceAccountToken: { path: 't', expirationSeconds: 600 } });
    const kind = volumes.kinds.find((candidate) => candidate.handles(volume));
    assert.ok(kind);
    const pod = podWith([volume]);
    const directory = volumes.directory(pod, volume);
    let settled = Promise.withResolvers<void>();
    const task = createVolumeTask(
      {
        clock,
        guard: (call) => call(),
        resolve: () =>
          Promise.resolve({ kind: 'resolved', by: kind, directoryName: volume.name, uniqueName: undefined }),
        directory: () => directory,
        devices: {
          attach: () => Promise.resolve({ kind: 'attached', devicePath: undefined }),
          stage: () => Promise.resolve(),
        },
        operations: createOperations(clock, () => undefined),
        onSettled: () => {
          if (task.ready() !== undefined) settled.resolve();
        },
        onResolved: () => undefined,
        onObstacle: (_, __, { message }) => settled.reject(new Error(message)),
        resyncMs: () => 10_000_000,
      },
      { pod, volume },
    );
    for (const made of [1_000_000, 1_480_000, 1_960_000]) {
      settled = Promise.withResolvers<void>();
      if (made === 1_000_000) task.look();
      else await clock.advance(480_000);
      await settled.promise;
      assert.deepEqual(await visibleFiles(directory), { t: `default for p to  at ${made}` });
    }
    assert.equal(objects.requests.length, 3);
    await task.stop('done');
  });

  test('a hundred pods that share a config map', async (t) => {
    await using dir = await testDirectory();
    const objects = world();
    const volumes = testVolumes(dir.path, objects.objects);
    const pods = Array.from({ length: 100 }, (_, i) =>
      podWith([{ name: 'v', configMap: { name: 'settings' } }], {}, `u-${i}`),
    );
    const all = () => Promise.all(pods.map((pod) => volumes.setUp(pod, 'v')));
    await all();
    objects.configMaps.set(
      'settings',
      configMap('settings', {
        data: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, 'x'.repeat(5000)])),
      }),
    );
    const start = performance.now();
    const ready = await all();
    t.diagnostic(`100 volumes of 20 files: ${Math.round(performance.now() - start)} ms`);
    for (const { path = '' } of ready) assert.equal((await readdir(path)).length, 22);
  });

  test('a mebibyte in a value, a thousand keys', async () => {
    await using dir = await testDirectory();
    const objects = testObjects();
    const volumes = testVolumes(dir.path, objects.objects);
    objects.secrets.set('big', secret('big', { v: 'v'.repeat(2 ** 20) }));
    objects.configMaps.set(
      'many',
      configMap('many', { data: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k.${i}`, `${i}`])) }),
    );
    const pod = podWith([
      { name: 'b', secret: { secretName: 'big' } },
      { name: 'm', configMap: { name: 'many' } },
    ]);
    assert.equal((await visibleFiles((await volumes.setUp(pod, 'b')).path ?? ''))['v']?.length, 2 ** 20);
    const many = await visibleFiles((await volumes.setUp(pod, 'm')).path ?? '');
    assert.deepEqual([Object.keys(many).length, many['k.999']], [1000, '999']);
  });
});

test('mount points of other volumes are made, also where a name of the volume is in the way', async () => {
  await using dir = await testDirectory();
  const volumes = testVolumes(dir.path, world().objects);
  const mounts = ['/v', '/v/deep/place', '/v/color'].map((mountPath) => ({
    name: mountPath === '/v' ? 'v' : 'w',
    mountPath,
  }));
  const pod = podWith([{ name: 'v', configMap: { name: 'settings' } }], {
    containers: [{ name: 'c', volumeMounts: mounts }],
  });
  const { path = '' } = await volumes.setUp(pod, 'v');
  await volumes.setUp(pod, 'v');
  const tree = await treeOf(path);
  assert.ok(tree.includes('deep/place d 755 0:0') && tree.includes('color d 755 0:0'), tree.join('\n'));
  const later = podWith([{ name: 'v', configMap: { name: 'settings' } }], {}, 'u-2');
  await volumes.setUp(later, 'v');
  await volumes.setUp({ ...later, spec: { ...later.spec, containers: pod.spec.containers } }, 'v');
});

test('taking away leaves nothing, and nothing is no reason to fail', async () => {
  await using dir = await testDirectory();
  const volumes = testVolumes(dir.path, world().objects);
  const pod = podWith([{ name: 'v', secret: { secretName: 'pass' } }]);
  const { path = '' } = await volumes.setUp(pod, 'v');
  await volumes.tearDown(pod, 'v');
  await volumes.tearDown(pod, 'v');
  await assert.rejects(lstat(path), /ENOENT/);
  await volumes.setUp(pod, 'v');
  assert.deepEqual(await visibleFiles(path), { user: 'ada', word: 's3cret' });
});

test('what each volume depends on', () => {
  const volumes = testVolumes('/nowhere', world().objects);
  const shown = (volume: Volume) => {
    const kind = volumes.kinds.find((candidate) => candidate.handles(volume));
    return kind
      ?.dependsOn?.(podWith([volume]), volume)
      .map(({ kind: what, namespace, name }) => `${what} ${namespace}/${name}`);
  };
  assert.deepEqual(shown({ name: 'v', configMap: { name: 'x' } }), ['configMap golden/x']);
  assert.deepEqual(shown({ name: 'v', secret: { secretName: 'x' } }), ['secret golden/x']);
  assert.deepEqual(shown({ name: 'v', downwardAPI: {} }), []);
  assert.deepEqual(
    shown(
      projected(
        { configMap: { name: 'a' } },
        { secret: { name: 'b' } },
        { serviceAccountToken: { path: 't' } },
        { clusterTrustBundle: { name: 'c', path: 'p' } },
        { clusterTrustBundle: { signerName: 'd', path: 'p' } },
        { podCertificate: CERTIFICATE },
      ),
    ),
    [
      'configMap golden/a',
      'secret golden/b',
      'clusterTrustBundle /c',
      'clusterTrustBundle /',
      'podCertificate golden/p',
    ],
  );
  assert.equal(
    volumes.kinds.some((kind) => kind.handles({ name: 'v', emptyDir: {} })),
    false,
  );
});
