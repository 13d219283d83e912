/**
 * Small file systems of a world's own, so that a test can fill a disk without filling the machine's. They are mounted inside the world only: the
 * loop devices go with its mounts, the files with its directory.
 */
import { join } from 'node:path';
import type { World } from './world.ts';

export interface DiskSize {
  readonly mi: number;
  readonly inodes: number;
}

export interface NodeDisks {
  /** For `/var/lib/kubelet` and `/var/log`, and for containerd where it has none of its own. */
  readonly node: DiskSize;
  /** For containerd: images and writable layers. */
  readonly images?: DiskSize;
}

/** Before containerd is started. */
export async function mountDisks(world: World, { node, images }: NodeDisks): Promise<void> {
  const containerd = join(world.directory, 'containerd', 'root');
  const script = [
    make('node-disk', node),
    ...['kubelet /var/lib/kubelet', 'log /var/log'].map((pair) => `place node-disk ${pair}`),
    'mkdir -p /var/log/pods /var/log/containers',
    ...(images === undefined ? [] : [make('image-disk', images)]),
    `place ${images === undefined ? 'node-disk' : 'image-disk'} containerd ${containerd}`,
  ].join('\n');
  const { code, stderr } = await world.exec(['sh', '-ec', `${PLACE}\n${script}`, world.directory]);
  if (code !== 0) throw new Error(`small disks: exit code ${code}: ${stderr.trim()}`);
}

// $0 is the world's directory.
const PLACE = `place() { mkdir -p "$0/$1/$2" "$3"; mount --bind "$0/$1/$2" "$3"; }`;

/** No journal and no blocks kept for root: what is not used is free. */
const make = (name: string, { mi, inodes }: DiskSize): string => `
truncate -s ${mi}M "$0/${name}.img"
mkfs.ext4 -q -m 0 -O ^has_journal -N ${inodes} "$0/${name}.img"
mkdir -p "$0/${name}"
mount -o loop "$0/${name}.img" "$0/${name}"`;
