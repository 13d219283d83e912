import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { attachmentStep, volumesInUse } from './attachment.ts';
import { emptyDirPlace } from './empty-dir.ts';
import { hostPathCheck, hostPathFault } from './host-path.ts';
import { nextMeasure } from './measure.ts';
import { volumeFailed, volumesNotReady } from './messages.ts';
import { placeFromUid, pluginDirectory, pluginOfDirectory, readyDirectory, subPathPlace } from './places.ts';
import { swappableEvent } from './swap.ts';

const POD = (requests: readonly object[], more: object = {}): Pod =>
  ({
    metadata: { name: 'p', namespace: 'd', uid: 'u' },
    spec: {
      containers: requests.map((list, index) => ({ name: `c${index}`, resources: { requests: list } })),
      ...more,
    },
  }) as unknown as Pod;

test('where an emptyDir lives and how large it may be', () => {
  const node = { allocatableMemory: 1000n, podMemoryLimit: undefined, podLevel: true };
  const place = (source: object, more: object = {}, pod = POD([{}])) => {
    const answer = emptyDirPlace(pod, source, { ...node, ...more });
    return answer.ok ? answer.value : answer.problem;
  };
  const memory = (sizeBytes: number) => ({ kind: 'memory', sizeBytes });
  assert.deepEqual(place({}), { kind: 'disk' });
  assert.deepEqual(place({ medium: '', sizeLimit: '1Gi' }), { kind: 'disk' });
  assert.deepEqual(place({ medium: 'Memory' }), memory(1000));
  assert.deepEqual(place({ medium: 'Memory', sizeLimit: '500' }), memory(500));
  assert.deepEqual(place({ medium: 'Memory', sizeLimit: '0' }), memory(1000));
  assert.deepEqual(place({ medium: 'Memory', sizeLimit: '1Gi' }), memory(1000));
  assert.deepEqual(place({ medium: 'Memory', sizeLimit: '500' }, { podMemoryLimit: 400n }), memory(400));
  assert.deepEqual(place({ medium: 'Memory', sizeLimit: '500' }, { podMemoryLimit: 0n }), memory(500));
  assert.deepEqual(place({ medium: 'Memory' }, { podMemoryLimit: 4000n }), memory(1000));
  assert.equal(place({ medium: 'Disk' }), 'unknown storage medium "Disk"');
  const two = POD([{ 'hugepages-2Mi': '4Mi', cpu: '1' }, {}]);
  const mixed = POD([{ 'hugepages-2Mi': '4Mi' }, { 'hugepages-1Gi': '1Gi' }]);
  const pages = (pageSize: string) => ({ kind: 'huge-pages', pageSize });
  assert.deepEqual(place({ medium: 'HugePages' }, {}, two), pages('2Mi'));
  assert.deepEqual(place({ medium: 'HugePages-1Gi' }, {}, mixed), pages('1Gi'));
  assert.match(String(place({ medium: 'HugePages' }, {}, mixed)), /multiple huge page sizes/);
  assert.match(String(place({ medium: 'HugePages' })), /no resource request for huge pages/);
  assert.match(String(place({ medium: 'HugePages-1Gi' }, {}, two)), /no resource request for huge pages/);
  const whole = POD([{}], { resources: { requests: { 'hugepages-2Mi': '4Mi' } } });
  assert.deepEqual(place({ medium: 'HugePages' }, {}, whole), pages('2Mi'));
  assert.match(String(place({ medium: 'HugePages' }, { podLevel: false }, whole)), /no resource request/);
});

test('what a path of the node must be', () => {
  const verdict = (type: string, found: Parameters<typeof hostPathFault>[2], path = '/p') => {
    const check = hostPathCheck(path, type);
    return check.ok ? hostPathFault(path, check.value, found) : check.problem;
  };
  assert.equal(verdict('', 'missing'), undefined);
  assert.equal(verdict('Directory', 'directory'), undefined);
  assert.equal(verdict('Directory', 'missing'), 'hostPath type check failed: /p is not a directory');
  assert.equal(verdict('FileOrCreate', 'directory'), 'hostPath type check failed: /p is not a file');
  assert.equal(verdict('Socket', 'file'), 'hostPath type check failed: /p is not a socket file');
  assert.equal(verdict('BlockDevice', 'character device'), 'hostPath type check failed: /p is not a block device');
  assert.match(verdict('constructor', 'file') ?? '', /hostPath type "constructor" is unknown/);
  assert.equal(verdict('', 'file', '/a/../b'), "invalid HostPath `/a/../b`: must not contain '..'");
  assert.equal(verdict('', 'file', '/a/..b'), undefined);
});

test('paths and messages', () => {
  assert.equal(pluginDirectory('kubernetes.io/empty-dir'), 'kubernetes.io~empty-dir');
  assert.equal(pluginOfDirectory('a~b'), 'a/b');
  assert.equal(
    readyDirectory('/r/pods/U/volumes/kubernetes.io~empty-dir/e'),
    '/r/pods/U/plugins/kubernetes.io~empty-dir/e',
  );
  assert.equal(
    readyDirectory('/r/pods/U/volumes/kubernetes.io~secret/s'),
    '/r/pods/U/plugins/kubernetes.io~empty-dir/wrapped_s',
  );
  assert.equal(subPathPlace('/r/pods/U', { volume: 'v', container: 'c', index: 2 }), '/r/pods/U/volume-subpaths/v/c/2');
  assert.equal(placeFromUid('/r/pods/U-1/volumes/x', 'U-1'), 'U-1/volumes/x');
  const waiting = { outcome: 'waiting', message: 'secret "absent" not found' } as const;
  assert.deepEqual(volumeFailed('s', { ...waiting, stage: 'fetch-object' }), {
    reason: 'FailedMount',
    message: 'MountVolume.SetUp failed for volume "s" : secret "absent" not found',
  });
  assert.equal(volumeFailed('s', { ...waiting, stage: 'attach' }), undefined, 'to wait for a device is normal');
  assert.equal(volumeFailed('s', { ...waiting, stage: 'attach', outcome: 'failed' })?.reason, 'FailedAttachVolume');
  assert.equal(
    volumesNotReady({ unmounted: ['b', 'a'], unattached: [], unprocessed: [], reason: 'context deadline exceeded' }),
    'Unable to attach or mount volumes: unmounted volumes=[a b], unattached volumes=[], failed to process volumes=[]: context deadline exceeded',
  );
});

test('volumes in memory that may be swapped are reported where there is swap', () => {
  assert.equal(swappableEvent([]), undefined);
  assert.equal(swappableEvent(['/swap'])?.reason, 'PossibleMemoryBackedVolumesOnDisk');
});

test('who attaches, and what is in use', () => {
  const state = { byController: true, reportedInUse: true, devicePath: '/dev/x' };
  assert.deepEqual(attachmentStep('v', state), { kind: 'attached', devicePath: '/dev/x' });
  assert.match(JSON.stringify(attachmentStep('v', { ...state, reportedInUse: false })), /VolumesInUse/);
  assert.match(
    JSON.stringify(attachmentStep('v', { ...state, devicePath: undefined })),
    /not attached according to node status/,
  );
  assert.deepEqual(attachmentStep('v', { ...state, byController: false }), { kind: 'attach-here' });
  assert.deepEqual(volumesInUse(['b', undefined, 'a', 'b']), ['a', 'b']);
});

test('a volume is measured soon after it is there, then once in a period', () => {
  assert.equal(nextMeasure({ readySince: undefined, measuredAt: undefined, periodMs: 60_000 }), undefined);
  assert.equal(nextMeasure({ readySince: 100, measuredAt: undefined, periodMs: 60_000 }), 5100);
  assert.equal(nextMeasure({ readySince: 100, measuredAt: undefined, periodMs: 1000 }), 1100);
  assert.equal(nextMeasure({ readySince: 100, measuredAt: 5000, periodMs: 60_000 }), 65_000);
});
