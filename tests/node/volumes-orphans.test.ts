/** Directories of pods that appear while the kubelet runs and belong to no pod. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { idles } from './better-support.ts';
import { podNode, until } from './pod-support.ts';
import { kubeletClient } from './streams-support.ts';
import { atLeast, finished, isGone } from './volumes-support.ts';

const PLAIN = '5c1e39f4-53b5-4d6e-9c1f-0d8a3a5f0001';
const MOUNTED = '5c1e39f4-53b5-4d6e-9c1f-0d8a3a5f0002';

test('an orphaned pod directory is removed while the kubelet runs, and never what is mounted below it', async (t) => {
  const place = await podNode(t);
  const { node } = place;
  const kubelet = kubeletClient(node);
  const pods = join(node.kubeletDirectory, 'pods');
  const file = await place.write('passes', { terminationGracePeriodSeconds: 1, containers: [idles('c')] });
  await place.running('passes', 'c');
  const precious = join(node.world.directory, 'precious');
  await mkdir(precious);
  await writeFile(join(precious, 'data'), 'years of work');
  const volume = join(pods, PLAIN, 'volumes/kubernetes.io~empty-dir/e');
  await mkdir(volume, { recursive: true });
  await writeFile(join(volume, 'file'), 'left');
  const target = `pods/${MOUNTED}/volumes/kubernetes.io~csi/pv/mount`;
  await mkdir(join(node.kubeletDirectory, target), { recursive: true });
  const inside = `/var/lib/kubelet/${target}`;
  const mounted = await node.exec(['mount', '--bind', precious, inside]);
  assert.equal(mounted.code, 0, mounted.stderr);

  // The end of a pod is what makes the kubelet look.
  await finished(place, 'passes', file);
  await until('the orphan is removed', () => isGone(join(pods, PLAIN)));
  await atLeast(kubelet, 'kubelet_orphan_pod_cleaned_volumes', 1);
  await atLeast(kubelet, 'force_cleaned_failed_volume_operation_errors_total', 1);
  assert.equal(await isGone(join(node.kubeletDirectory, target)), undefined, 'what is mounted stays');
  assert.equal(await readFile(join(precious, 'data'), 'utf8'), 'years of work');

  const unmounted = await node.exec(['umount', inside]);
  assert.equal(unmounted.code, 0, unmounted.stderr);
  await until('the other orphan is removed', () => isGone(join(pods, MOUNTED)));
  assert.equal(await readFile(join(precious, 'data'), 'utf8'), 'years of work');
});
