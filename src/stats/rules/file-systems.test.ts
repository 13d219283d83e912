import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDiskActivity, planFileSystems } from './file-systems.ts';

const mount = (point: string, type: string, source: string, device = '254:0') => ({ point, type, source, device });

test('one for each disk, each tmpfs by its place, nothing of containers and volumes', () => {
  const mounts = [
    mount('/', 'ext4', '/dev/vda'),
    mount('/var/lib/kubelet', 'ext4', '/dev/vda'),
    mount('/proc', 'proc', 'proc', '0:21'),
    mount('/dev/shm', 'tmpfs', 'tmpfs', '0:23'),
    mount('/dev/shm', 'tmpfs', 'tmpfs', '0:27'),
    mount('/var/lib', 'overlay', 'overlay', '0:52'),
    mount('/run/containerd/io.containerd.runtime.v2.task/k8s.io/abc/rootfs', 'overlay', 'overlay', '0:90'),
    mount('/var/lib/kubelet/pods/u/volumes/kubernetes.io~secret/s', 'tmpfs', 'tmpfs', '0:91'),
    mount('/mnt/far', 'nfs4', 'server:/x', '0:92'),
  ];
  assert.deepEqual(planFileSystems(mounts, '/var/lib/kubelet/pods'), [
    { name: '/dev/vda', device: '254:0', point: '/' },
    { name: '/dev/shm', device: '0:27', point: '/dev/shm' },
    { name: 'overlay_0-52', device: '0:52', point: '/var/lib' },
  ]);
});

test('what disks have done', () => {
  const text =
    ' 254       0 vda 583596 16539 100 290655 804807 574256 65227328 679511 2 153596 1066795 0 0\n 7 0 loop0 cut\n';
  const found = parseDiskActivity(text);
  assert.equal(found.size, 1);
  const disk = found.get('254:0');
  assert.deepEqual(
    [disk?.reads, disk?.readMs, disk?.writes, disk?.current, disk?.weightedMs],
    [583596, 290655, 804807, 2, 1066795],
  );
});
