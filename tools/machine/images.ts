/** The images that every node of ours has: made from programs of Debian packages, since no registry can be reached. */
import { readFile } from 'node:fs/promises';
import { captureOk } from './capture.ts';
import type { ImageSpec } from './oci/image.ts';
import type { TarEntry } from './oci/tar.ts';

/** The packages that the images are made from. */
export const IMAGE_PACKAGES = ['catatonit', 'busybox-static'] as const;

/** The sandbox image, under the name that the reference's tools expect today. */
export const PAUSE_IMAGE = 'registry.k8s.io/pause:3.10.2';
export const BUSYBOX_IMAGE = 'lab.local/busybox:1';

const CATATONIT = '/usr/bin/catatonit';
const BUSYBOX = '/bin/busybox';

/** `catatonit -P` does what a pod's sandbox process has to: it sleeps, and reaps the children it is given. */
export async function pauseImage(): Promise<ImageSpec> {
  return {
    names: [PAUSE_IMAGE],
    layers: [[{ kind: 'file', path: 'pause', mode: 0o755, content: await readFile(CATATONIT) }]],
    config: { Entrypoint: ['/pause', '-P'], User: '65535:65535' },
  };
}

export async function busyboxImage(): Promise<ImageSpec> {
  return {
    names: [BUSYBOX_IMAGE],
    layers: [[...baseFiles(), ...(await busyboxFiles())]],
    config: { Cmd: ['sh'], Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'] },
  };
}

/** What programs expect of any root file system. */
export function baseFiles(): TarEntry[] {
  const directories =
    'bin dev etc home mnt opt proc root run sbin srv sys usr usr/bin usr/sbin var var/lib var/log'.split(' ');
  return [
    ...directories.map((path): TarEntry => ({ kind: 'directory', path })),
    { kind: 'directory', path: 'tmp', mode: 0o1777 },
    textFile('etc/passwd', ['root:x:0:0:root:/root:/bin/sh', 'nobody:x:65534:65534:nobody:/home:/bin/false']),
    textFile('etc/group', ['root:x:0:', 'nogroup:x:65534:']),
    textFile('etc/nsswitch.conf', ['hosts: files dns']),
  ];
}

async function busyboxFiles(): Promise<TarEntry[]> {
  const { stdout } = await captureOk([BUSYBOX, '--list']);
  const applets = stdout.split('\n').filter((name) => name !== '' && name !== 'busybox');
  return [
    { kind: 'file', path: 'bin/busybox', mode: 0o755, content: await readFile(BUSYBOX) },
    ...applets.map((name): TarEntry => ({ kind: 'symlink', path: `bin/${name}`, target: 'busybox' })),
  ];
}

export function textFile(path: string, lines: readonly string[]): TarEntry {
  return { kind: 'file', path, content: Buffer.from(`${lines.join('\n')}\n`) };
}
