/** The release directory: one executable file that needs no Node, systemd unit, sample config, checksums. `node tools/dist.ts` */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundleKubelet } from './bundle/bundle.ts';
import { makeCodeCache } from './bundle/code-cache.ts';
import { buildExecutable } from './bundle/executable.ts';

const root = resolve(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

/** Machines as release files name them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

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
  const name = `kubelet-ts-${version}-linux-${ARCHITECTURES[process.arch] ?? process.arch}`;
  const directory = join(root, 'dist/release', name);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'kubelet-dist-'));
  try {
    const { code, boot } = await bundleKubelet(root);
    const place = (name: string) => join(work, name);
    writeFileSync(place('boot.cjs'), boot);
    writeFileSync(place('kubelet.cjs'), code);
    writeFileSync(place('kubelet.code-cache'), makeCodeCache(place('kubelet.cjs')));
    const assets = { 'kubelet.cjs': place('kubelet.cjs'), 'kubelet.code-cache': place('kubelet.code-cache') };
    buildExecutable({ boot: place('boot.cjs'), assets, output: join(directory, 'kubelet'), work });
  } finally {
    rmSync(work, { recursive: true });
  }
  for (const file of ['kubelet.service', 'kubelet.yaml']) {
    copyFileSync(join(root, 'tools/release', file), join(directory, file));
  }
  writeFileSync(join(directory, 'SHA256SUMS'), checksums(directory));
  return directory;
}

console.log(`release: ${await makeRelease()}`);
