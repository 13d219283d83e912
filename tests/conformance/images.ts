/**
 * The images that the upstream suite asks for by name, made here from real programs: no registry can be reached.
 * What is inside follows what the specs use of the originals: a shell with curl beside agnhost, a user in nonroot, two files in kitten.
 */
import { readFile } from 'node:fs/promises';
import { baseFiles, busyboxImage, textFile } from '../../tools/machine/images.ts';
import { type Image, type ImageSpec, makeImage } from '../../tools/machine/oci/image.ts';
import type { TarEntry } from '../../tools/machine/oci/tar.ts';
import { programFiles } from './libraries.ts';

/** The Debian packages whose programs are in the images, beside those of the lab's own. */
export const E2E_IMAGE_PACKAGES = ['bash', 'curl'] as const;

export interface E2ePrograms {
  readonly agnhost: string;
  readonly nginx: string;
}

export const E2E = 'registry.k8s.io/e2e-test-images';
export const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export async function e2eImages(programs: E2ePrograms): Promise<readonly Image[]> {
  return (await e2eImageSpecs(programs)).map(makeImage);
}

export async function e2eImageSpecs(programs: E2ePrograms): Promise<readonly ImageSpec[]> {
  const layers = await shellLayers();
  const { layers: base } = await busyboxImage();
  const agnhost = await readFile(programs.agnhost);
  return [
    { names: [`${E2E}/busybox:1.37.0-1`], layers, config: { Cmd: ['sh'], Env: [PATH] } },
    { names: [`${E2E}/nonroot:1.5`], layers, config: { Cmd: ['sh'], Env: [PATH], User: '1234' } },
    await agnhostImage(agnhost, layers),
    nonewprivsImage(agnhost),
    await nginxImage(programs.nginx, base),
    kittenImage(),
  ];
}

/** A root file system with busybox and bash. */
export async function shellLayers(): Promise<ImageSpec['layers']> {
  const { layers } = await busyboxImage();
  return [...layers, await shellLayer()];
}

/**
 * Debian's busybox is older than the original, and its shell keeps variables from its children whose names it could not set itself
 * (`data-1`), which the original's passes on. So the `sh` that specs look up on the PATH is bash; `/bin/sh`, whose exact error messages
 * one spec compares, stays busybox.
 */
async function shellLayer(): Promise<readonly TarEntry[]> {
  return [
    ...(await programFiles(['/usr/bin/bash'])),
    ...['bin/bash', 'usr/local/bin/sh'].map((path): TarEntry => ({ kind: 'symlink', path, target: '/usr/bin/bash' })),
  ];
}

/** Both versions that the suite names are the one program that its module builds. */
async function agnhostImage(agnhost: Buffer, base: ImageSpec['layers']): Promise<ImageSpec> {
  const tools: readonly TarEntry[] = [
    ...(await programFiles(['/usr/bin/curl'])),
    { kind: 'directory', path: 'uploads' },
    // A user with a group that only the image knows: specs about supplemental groups look for it.
    textFile('etc/passwd', [
      'root:x:0:0:root:/root:/bin/sh',
      'user-defined-in-image:x:1000:1000::/home:/bin/sh',
      'nobody:x:65534:65534:nobody:/home:/bin/false',
    ]),
    textFile('etc/group', [
      'root:x:0:',
      'user-defined-in-image:x:1000:',
      'group-defined-in-image:x:50000:user-defined-in-image',
      'nogroup:x:65534:',
    ]),
  ];
  const program: readonly TarEntry[] = [
    { kind: 'file', path: 'agnhost', mode: 0o755, content: agnhost },
    { kind: 'symlink', path: 'agnhost-2', target: 'agnhost' }, // specs that replace the entry point start this one
  ];
  return {
    names: [`${E2E}/agnhost:2.63.0`, `${E2E}/agnhost:2.55`],
    layers: [...base, tools, program],
    config: { Entrypoint: ['/agnhost'], Cmd: ['pause'], Env: [PATH] },
  };
}

/** A program that is root's whoever starts it, unless that is forbidden, and says who it is. */
function nonewprivsImage(agnhost: Buffer): ImageSpec {
  const program: TarEntry = { kind: 'file', path: 'nnp', mode: 0o6755, content: agnhost };
  return {
    names: [`${E2E}/nonewprivs:1.4`],
    layers: [[...baseFiles(), program]],
    config: { Cmd: ['/nnp', 'nonewprivs'] },
  };
}

const NGINX_CONFIG = `
user nobody nogroup;
error_log /dev/stderr;
pid /run/nginx.pid;
events {}
http {
  access_log /dev/stdout;
  server {
    listen 80;
    root /usr/share/nginx/html;
  }
}`;

async function nginxImage(nginx: string, base: ImageSpec['layers']): Promise<ImageSpec> {
  const files: readonly TarEntry[] = [
    ...(await programFiles([nginx])),
    ...['var/lib/nginx', 'var/log/nginx'].map((path): TarEntry => ({ kind: 'directory', path })),
    textFile('etc/nginx/nginx.conf', [NGINX_CONFIG]),
    textFile('usr/share/nginx/html/index.html', ['<title>Welcome to nginx!</title>']),
  ];
  return {
    names: [`${E2E}/nginx:1.15-4`, `${E2E}/nginx:1.27-0`],
    layers: [...base, files],
    config: { Cmd: ['nginx', '-g', 'daemon off;'], Env: [PATH], ExposedPorts: { '80/tcp': {} } },
  };
}

/** Only ever mounted as a volume: these are the words that the spec looks for in its files. */
function kittenImage(): ImageSpec {
  const files = [
    textFile('data.json', [JSON.stringify({ image: 'kitten.jpg' })]),
    textFile('etc/os-release', ['NAME="Alpine Linux"', '# A stand-in made by the lab: no Alpine inside.']),
  ];
  return { names: [`${E2E}/kitten:1.8`], layers: [[...baseFiles(), ...files]], config: {} };
}
