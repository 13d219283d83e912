import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, VolumeMount } from '../../api/container.ts';
import type { Pod, PodSpec } from '../../api/pod.ts';
import type { Volume } from '../../api/volume.ts';
import type { MountedVolume } from '../../model/mounted-volume.ts';
import { MountPropagation } from '../../wire/gen/cri-runtime-v1.ts';
import { containerMounts, type MountsInput, subPathsOf } from './mounts.ts';

type More = Partial<MountsInput> & {
  spec?: Partial<PodSpec>;
  volume?: Partial<Volume>;
  mounted?: Partial<MountedVolume>;
  terminationMessagePath?: string;
};

function input(mounts: readonly VolumeMount[], more: More = {}): MountsInput {
  const container: Container = {
    name: 'c',
    volumeMounts: mounts,
    terminationMessagePath: more.terminationMessagePath ?? '',
  };
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: { containers: [container], volumes: [{ name: 'v', ...more.volume }], ...more.spec },
  };
  return {
    pod,
    container,
    env: [{ name: 'WHO', value: 'me' }],
    volumes: new Map([['v', { hostPath: '/host/v', ...more.mounted }]]),
    imageVolumes: new Map(),
    subPaths: new Map(),
    podDirectory: '/pods/u',
    podIps: [],
    terminationLog: undefined,
    userNamespace: undefined,
    selinux: false,
    recursiveReadOnly: true,
    extra: [],
    ...more,
  };
}

const mountsOf = (mounts: readonly VolumeMount[], more?: More) => {
  const made = containerMounts(input(mounts, more));
  return made.ok ? made.value : made.problem;
};
const first = (mount: Partial<VolumeMount>, more?: More) => {
  const made = mountsOf([{ name: 'v', mountPath: '/v', ...mount }], more);
  return typeof made === 'string' ? made : made[0];
};
const field = <
  Key extends 'readonly' | 'propagation' | 'recursiveReadOnly' | 'hostPath' | 'containerPath' | 'selinuxRelabel',
>(
  key: Key,
  mount: Partial<VolumeMount>,
  more?: More,
) => {
  const made = first(mount, more);
  return typeof made === 'object' ? made[key] : made;
};

test('order: devices, volumes as declared, hosts file, termination log', () => {
  const made = mountsOf(
    [
      { name: 'v', mountPath: '/b' },
      { name: 'v', mountPath: 'a' },
    ],
    {
      extra: [{ containerPath: '/dev-lib', hostPath: '/lib/dev' }],
      podIps: ['10.0.0.1'],
      terminationLog: '/pods/u/containers/c/0badcafe',
      terminationMessagePath: 'dev/log',
    },
  );
  assert.ok(typeof made === 'object');
  assert.deepEqual(
    made.map(({ containerPath, hostPath }) => `${hostPath}:${containerPath}`),
    [
      '/lib/dev:/dev-lib',
      '/host/v:/b',
      '/host/v:/a',
      '/pods/u/etc-hosts:/etc/hosts',
      '/pods/u/containers/c/0badcafe:/dev/log',
    ],
  );
});

test('the hosts file is there when the pod has an address or that of its node, unless it brings its own', () => {
  const has = (more: More, mountPath = '/v') => {
    const made = mountsOf([{ name: 'v', mountPath }], more);
    return typeof made === 'object' && made.some(({ hostPath }) => hostPath === '/pods/u/etc-hosts');
  };
  assert.equal(has({ podIps: ['10.0.0.1'] }), true);
  assert.equal(has({ spec: { hostNetwork: true } }), true);
  assert.equal(has({}), false);
  assert.equal(has({ podIps: ['10.0.0.1'] }, '/etc/hosts'), false);
});

test('read-only: the mount, the volume, or the kind of volume', () => {
  assert.equal(field('readonly', {}), false);
  assert.equal(field('readonly', { readOnly: true }), true);
  assert.equal(field('readonly', {}, { mounted: { readOnly: true } }), true);
  for (const volume of [
    { secret: {} },
    { configMap: {} },
    { downwardAPI: {} },
    { projected: {} },
  ] as readonly Partial<Volume>[]) {
    assert.equal(field('readonly', {}, { volume }), true, JSON.stringify(volume));
  }
  assert.equal(field('readonly', {}, { volume: { emptyDir: {} } }), false);
});

test('recursively read-only', () => {
  const rro = (mount: Partial<VolumeMount>, recursiveReadOnly = true) =>
    field('recursiveReadOnly', mount, { recursiveReadOnly });
  const prefix = 'failed to resolve recursive read-only mode: ';
  assert.equal(rro({ readOnly: true }), false);
  assert.equal(rro({ recursiveReadOnly: 'Disabled' }), false);
  assert.equal(rro({ readOnly: true, recursiveReadOnly: 'IfPossible' }), true);
  assert.equal(rro({ readOnly: true, recursiveReadOnly: 'IfPossible' }, false), false);
  assert.equal(rro({ readOnly: true, recursiveReadOnly: 'Enabled', mountPropagation: 'None' }), true);
  assert.equal(
    rro({ readOnly: true, recursiveReadOnly: 'Enabled' }, false),
    `${prefix}volume "v" requested recursive read-only mode, but it is not supported by the runtime`,
  );
  assert.equal(
    rro({ recursiveReadOnly: 'Enabled' }),
    `${prefix}volume "v" requested recursive read-only mode, but it is not read-only`,
  );
  assert.equal(
    rro({ readOnly: true, recursiveReadOnly: 'IfPossible', mountPropagation: 'HostToContainer' }),
    `${prefix}volume "v" requested recursive read-only mode, but it is not compatible with propagation "HostToContainer"`,
  );
  const odd = { readOnly: true, recursiveReadOnly: 'Odd' } as unknown as Partial<VolumeMount>;
  assert.equal(rro(odd), `${prefix}unknown recursive read-only mode "Odd"`);
});

test('propagation', () => {
  assert.equal(field('propagation', {}), MountPropagation.PROPAGATION_PRIVATE);
  assert.equal(field('propagation', { mountPropagation: 'None' }), MountPropagation.PROPAGATION_PRIVATE);
  assert.equal(
    field('propagation', { mountPropagation: 'HostToContainer' }),
    MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  );
  assert.equal(field('propagation', { mountPropagation: 'Bidirectional' }), MountPropagation.PROPAGATION_BIDIRECTIONAL);
  const odd = { mountPropagation: 'Odd' } as unknown as Partial<VolumeMount>;
  assert.equal(field('propagation', odd), 'invalid MountPropagation mode: "Odd"');
});

test('SELinux labels only where the node has them and the volume takes them', () => {
  assert.equal(field('selinuxRelabel', {}, { selinux: true, mounted: { selinuxRelabel: true } }), true);
  assert.equal(field('selinuxRelabel', {}, { selinux: false, mounted: { selinuxRelabel: true } }), false);
  assert.equal(field('selinuxRelabel', {}, { selinux: true }), false);
});

test('sub-paths: what must be prepared, and what can not be', () => {
  const requested = (mount: Partial<VolumeMount>, volume: Partial<Volume> = {}) => {
    const { pod, container, env } = input([{ name: 'v', mountPath: '/v', ...mount }], { volume });
    const made = subPathsOf(pod, container, env);
    return made.ok
      ? made.value.map(({ index, volumeName, subPath }) => `${index} ${volumeName} ${subPath}`)
      : made.problem;
  };
  assert.deepEqual(requested({}), []);
  assert.deepEqual(requested({ subPath: 'x/y' }), ['0 v x/y']);
  assert.deepEqual(requested({ subPathExpr: 'u-$(WHO)' }), ['0 v u-me']);
  assert.deepEqual(requested({ subPath: 'x' }, { image: { reference: 'i' } }), [], 'the runtime does it for images');
  assert.equal(requested({ subPathExpr: '$(B)/$(A)/$(WHO)' }), 'missing value for A, B');
  assert.equal(requested({ subPath: '/x' }), 'error SubPath `/x` must not be an absolute path');
  assert.equal(requested({ subPath: 'a/../../x' }), "unable to provision SubPath `a/../../x`: must not contain '..'");
  assert.deepEqual(requested({ subPath: 'a..b' }), ['0 v a..b']);
  const tooLong = 'the sub-path of volume mount "v" is longer than 4095 bytes';
  assert.equal(requested({ subPath: 'x'.repeat(4096) }), tooLong);
  assert.equal(requested({ subPathExpr: '$(WHO)'.repeat(2048) }), tooLong);
  const unknown = Array.from({ length: 12 }, (_, index) => `$(${'abcdefghijkl'[index]})`).join('');
  assert.equal(requested({ subPathExpr: unknown }), 'missing value for a, b, c, d, e, f, g, h, i, j and others');
});

test('a sub-path is mounted from its prepared place', () => {
  assert.equal(field('hostPath', { subPath: 'x' }, { subPaths: new Map([[0, '/safe/0']]) }), '/safe/0');
  assert.equal(first({ subPath: 'x' }), 'failed to prepare subPath for volumeMount "v" of container "c"');
});

test('a volume that is not there', () => {
  assert.equal(first({ name: 'w' }), 'cannot find volume "w" to mount into container "c"');
});

test('an image is mounted by the runtime', () => {
  const image = { image: 'sha256:1', userSpecifiedImage: 'i' };
  const made = first(
    { subPath: 'etc' },
    { volumes: new Map(), imageVolumes: new Map([['v', image]]), volume: { image: { reference: 'i' } } },
  );
  assert.ok(typeof made === 'object');
  assert.deepEqual([made.image, made.imageSubPath, made.hostPath, made.readonly], [image, 'etc', undefined, true]);
});

test('ids of a user namespace are mapped on every mount', () => {
  const mapping = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
  const made = mountsOf([{ name: 'v', mountPath: '/v' }], {
    podIps: ['10.0.0.1'],
    userNamespace: { uids: mapping, gids: mapping },
  });
  assert.ok(typeof made === 'object');
  for (const mount of made) assert.deepEqual([mount.uidMappings, mount.gidMappings], [mapping, mapping]);
});
