/** Our kubelet in a guest, installed as the release is: program, systemd unit, configuration file. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { FILES_FOLDER, type GuestFiles } from './files-disk.ts';

/** The launcher and bundle of `make build` with the Node of this repository, or the one executable file of `make dist`. */
export type KubeletForm = 'bundle' | 'release';

export interface KubeletInstallation {
  /** The first that the guest was given, unless told. */
  readonly form?: KubeletForm;
  /** Fields of KubeletConfiguration, over those of the release's sample. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Added to the command line. None may hold a space: that is how the unit tells them apart. */
  readonly flags?: readonly string[];
}

/** What installing needs of a guest. */
export interface KubeletHost {
  runOk(script: string, options?: { readonly timeoutMs?: number }): Promise<string>;
  writeFile(path: string, text: string): Promise<void>;
}

const UNIT = 'kubelet.service';
const CONFIG = 'kubelet.yaml';
/** An emulated processor takes a few seconds for what Node does in a blink. */
const HEALTHY_SECONDS = 120;

const folderOf = (form: KubeletForm): string => `kubelet/${form}`;

/** What must be on the guest's disk of files. */
export async function kubeletFiles(repoRoot: string, forms: readonly KubeletForm[]): Promise<GuestFiles> {
  const files: Record<string, string> = {};
  for (const form of forms) {
    const sources = form === 'bundle' ? bundleFiles(repoRoot) : await releaseFiles(repoRoot);
    for (const [name, path] of Object.entries(sources)) {
      if (!existsSync(path)) {
        throw new Error(`${path} is missing: make ${form === 'bundle' ? 'build' : 'dist'} makes it`);
      }
      files[`${folderOf(form)}/${name}`] = path;
    }
  }
  return files;
}

function bundleFiles(repoRoot: string): Record<string, string> {
  return {
    kubelet: join(repoRoot, 'dist', 'kubelet'),
    'kubelet.cjs': join(repoRoot, 'dist', 'kubelet.cjs'),
    node: join(repoRoot, 'node_modules', 'node', 'bin', 'node'),
    [UNIT]: join(repoRoot, 'tools', 'release', UNIT),
    [CONFIG]: join(repoRoot, 'tools', 'release', CONFIG),
  };
}

async function releaseFiles(repoRoot: string): Promise<Record<string, string>> {
  const { version } = JSON.parse(await readFile(join(repoRoot, 'package.json'), 'utf8')) as { version: string };
  const folder = join(repoRoot, 'dist', 'release', `kubelet-ts-${version}-linux-amd64`);
  return { kubelet: join(folder, 'kubelet'), [UNIT]: join(folder, UNIT), [CONFIG]: join(folder, CONFIG) };
}

export async function installKubelet(
  host: KubeletHost,
  given: readonly KubeletForm[],
  installation: KubeletInstallation,
): Promise<void> {
  const form = installation.form ?? given[0];
  if (form === undefined || !given.includes(form)) {
    throw new Error(`the guest was given no kubelet of the form ${form}; it has: ${given.join(', ') || 'none'}`);
  }
  const flags = installation.flags ?? [];
  for (const flag of flags) {
    if (/\s/.test(flag)) throw new Error(`kubelet flag ${JSON.stringify(flag)}: the unit would split it at the space`);
  }
  const folder = `${FILES_FOLDER}/${folderOf(form)}`;
  const sample = parse(await host.runOk(`cat ${folder}/${CONFIG}`)) as Record<string, unknown>;
  await host.writeFile('/etc/kubernetes/kubelet.yaml', stringify({ ...sample, ...installation.config }));
  await host.writeFile('/etc/default/kubelet', `KUBELET_EXTRA_ARGS=${flags.join(' ')}\n`);
  await host.runOk(`
    mkdir -p /etc/kubernetes/manifests
    ln -sf ${folder}/kubelet /usr/local/bin/kubelet
    cp ${folder}/${UNIT} /etc/systemd/system/${UNIT}
    systemctl daemon-reload`);
}

export async function startKubelet(host: KubeletHost): Promise<void> {
  const ask = `curl --silent --show-error --fail --retry ${HEALTHY_SECONDS} --retry-delay 1 --retry-max-time ${HEALTHY_SECONDS} --retry-connrefused`;
  // A unit that keeps failing is not worth waiting for, and its own words say why.
  await host.runOk(
    `systemctl start kubelet && ${ask} http://127.0.0.1:10248/healthz ||
    { journalctl --no-pager --unit kubelet --lines 30 >&2; exit 1; }`,
    { timeoutMs: (HEALTHY_SECONDS + 30) * 1000 },
  );
}
