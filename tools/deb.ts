/** The Debian package: `node tools/deb.ts [--executable FILE] [--version VERSION] [--compression none]` prints its path. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { defaultConfigurable } from '../src/config/config.ts';
import { flagTable } from '../src/config/flags/table.ts';
import { KUBERNETES_VERSION, PROGRAM_VERSION } from '../src/config/version.ts';
import { buildSingleFile } from './bundle/single-file.ts';
import { renderCompletion } from './deb/completion.ts';
import { CONFFILES, debianArchitecture, renderControl } from './deb/control.ts';
import { renderManPage } from './deb/man-page.ts';

const root = resolve(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    executable: { type: 'string' },
    version: { type: 'string' },
    compression: { type: 'string', default: 'gzip' },
  },
});
const version = values.version ?? PROGRAM_VERSION;

function readRelease(name: string): string {
  return readFileSync(join(root, 'tools/release', name), 'utf8');
}

/** Everything but the executable, by its path in the package. */
function textFiles(): Readonly<Record<string, string | Buffer>> {
  const unit = readRelease('kubelet.service').replace('/usr/local/bin/kubelet', '/usr/bin/kubelet');
  return {
    'usr/lib/systemd/system/kubelet.service': unit,
    'usr/share/kubelet-ts/10-kubeadm.conf': readRelease('10-kubeadm.conf'),
    'etc/kubernetes/kubelet.yaml': readRelease('kubelet.yaml'),
    'etc/default/kubelet': readRelease('debian/default'),
    'usr/share/man/man8/kubelet.8.gz': gzipSync(renderManPage(flagTable, defaultConfigurable(), version)),
    'usr/share/bash-completion/completions/kubelet': renderCompletion(flagTable),
  };
}

function place(directory: string, path: string, content: string | Buffer, mode = 0o644): void {
  const target = join(directory, path);
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
  writeFileSync(target, content);
  chmodSync(target, mode);
}

async function makePackage(): Promise<string> {
  const architecture = debianArchitecture(process.arch);
  const output = join(root, 'dist/release', `kubelet-ts_${version}_${architecture}.deb`);
  mkdirSync(dirname(output), { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'kubelet-deb-'));
  try {
    chmodSync(work, 0o755);
    const executable = join(work, 'usr/bin/kubelet');
    mkdirSync(dirname(executable), { recursive: true });
    if (values.executable === undefined) await buildSingleFile(root, executable);
    else copyFileSync(values.executable, executable);
    chmodSync(executable, 0o755);
    for (const [path, content] of Object.entries(textFiles())) place(work, path, content);
    mkdirSync(join(work, 'etc/kubernetes/manifests'), { mode: 0o755 });
    const installedKib = Math.ceil(statSync(executable).size / 1024);
    const control = renderControl({ version, kubernetes: KUBERNETES_VERSION, architecture, installedKib });
    place(work, 'DEBIAN/control', control);
    place(work, 'DEBIAN/conffiles', `${CONFFILES.join('\n')}\n`);
    for (const script of ['postinst', 'prerm', 'postrm']) {
      place(work, `DEBIAN/${script}`, readRelease(`debian/${script}`), 0o755);
    }
    // Weak compression: the strongest takes a minute and saves a third.
    const compression = values.compression === 'none' ? ['-Znone'] : [`-Z${values.compression}`, '-z3'];
    execFileSync('dpkg-deb', ['--build', '--root-owner-group', ...compression, work, output], { stdio: 'pipe' });
  } finally {
    rmSync(work, { recursive: true });
  }
  return output;
}

console.log(`package: ${await makePackage()}`);
