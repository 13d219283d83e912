/** The release directory: one executable file that needs no Node, systemd unit, sample config, checksums. `node tools/dist.ts` */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildSingleFile } from './bundle/single-file.ts';
import { debianArchitecture } from './deb/control.ts';

const root = resolve(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

function checksums(directory: string): string {
  const names = readdirSync(directory).sort();
  return names
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(directory, name)))
          .digest('hex')}  ${name}\n`,
    )
    .join('');
}

async function makeRelease(): Promise<string> {
  const name = `kubelet-ts-${version}-linux-${debianArchitecture(process.arch)}`;
  const directory = join(root, 'dist/release', name);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  await buildSingleFile(root, join(directory, 'kubelet'));
  for (const file of ['kubelet.service', 'kubelet.yaml']) {
    copyFileSync(join(root, 'tools/release', file), join(directory, file));
  }
  writeFileSync(join(directory, 'SHA256SUMS'), checksums(directory));
  return directory;
}

console.log(`release: ${await makeRelease()}`);
