/** containerd in a guest: Debian's, which is on every guest's disk, or a newer one that is brought along. */
import { join } from 'node:path';
import type { RuntimeBinaries } from '../../../tools/machine/containerd.ts';
import { type Image, writeArchive } from '../../../tools/machine/oci/image.ts';
import { FILES_DIRECTORY, type GuestFiles } from './files-disk.ts';

export interface GuestRuntime {
  readonly images: readonly Image[];
  /** Instead of Debian's. */
  readonly binaries?: RuntimeBinaries;
}

const ARCHIVE = 'images.tar';
const PROGRAMS = 'runtime';

/** What must be on the guest's disk of files. */
export function runtimeFiles({ images, binaries }: GuestRuntime): GuestFiles {
  const files: Record<string, GuestFiles[string]> = {};
  if (images.length > 0) files[ARCHIVE] = { content: writeArchive(images) };
  if (binaries !== undefined) {
    files[`${PROGRAMS}/containerd`] = binaries.containerd;
    files[`${PROGRAMS}/containerd-shim-runc-v2`] = join(binaries.shimDirectory, 'containerd-shim-runc-v2');
    files[`${PROGRAMS}/ctr`] = binaries.ctr;
    files[`${PROGRAMS}/runc`] = binaries.runc;
  }
  return files;
}

/** Starts containerd by its unit, with other programs where some were brought along, and imports the images. */
export function startScript({ images, binaries }: GuestRuntime): string {
  const lines = ['set -e'];
  if (binaries !== undefined) {
    const directory = `${FILES_DIRECTORY}/${PROGRAMS}`;
    const override = [
      '[Service]',
      'ExecStart=',
      `ExecStart=${directory}/containerd`,
      // The shim, and runc for it, are looked for there.
      `Environment=PATH=${directory}:/usr/sbin:/usr/bin:/sbin:/bin`,
    ];
    lines.push(
      'mkdir -p /etc/systemd/system/containerd.service.d',
      `printf '%s\\n' ${override.map((line) => `'${line}'`).join(' ')} > /etc/systemd/system/containerd.service.d/lab.conf`,
      `ln -sf ${directory}/ctr /usr/local/bin/ctr`,
      'systemctl daemon-reload',
    );
  }
  lines.push('systemctl start containerd');
  if (images.length > 0) lines.push(`ctr --namespace k8s.io images import ${FILES_DIRECTORY}/${ARCHIVE}`);
  return lines.join('\n');
}
