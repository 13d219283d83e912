/** Our kubelet in a guest, installed as the release is: program, systemd unit, configuration file. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { FILES_DIRECTORY, type GuestFiles } from './files-disk.ts';

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

const UNIT = 'kubelet.service';
const CONFIG = 'kubelet.yaml';
/** An emulated processor takes a few seconds for what Node does in a blink. */
const HEALTHY_SECONDS = 300;

const directoryOf = (form: KubeletForm): string => `kubelet/${form}`;

/** What must be on the guest's disk of files. */
export async function kubeletFiles(repoRoot: string, forms: readonly KubeletForm[]): Promise<GuestFiles> {
  const files: Record<string, string> = {};
  for (const form of forms) {
    for (const [name, path] of Object.entries(await partsOf(repoRoot, form))) {
      if (!existsSync(path)) {
        throw new Error(`${path} is missing: make ${form === 'bundle' ? 'build' : 'dist'} makes it`);
      }
      files[`${directoryOf(form)}/${name}`] = path;
    }
  }
  return files;
}

async function partsOf(repoRoot: string, form: KubeletForm): Promise<Record<string, string>> {
  const release = join(repoRoot, 'tools', 'release');
  if (form === 'bundle') {
    return {
      kubelet: join(repoRoot, 'dist', 'kubelet'),
      'boot.cjs': join(repoRoot, 'dist', 'boot.cjs'),
      'kubelet.cjs': join(repoRoot, 'dist', 'kubelet.cjs'),
      'kubelet.code-cache': join(repoRoot, 'dist', 'kubelet.code-cache'),
      node: join(repoRoot, 'node_modules', 'node', 'bin', 'node'),
      [UNIT]: join(release, UNIT),
      [CONFIG]: join(release, CONFIG),
    };
  }
  const { version } = JSON.parse(await readFile(join(repoRoot, 'package.json'), 'utf8')) as { version: string };
  const directory = join(repoRoot, 'dist', 'release', `kubelet-ts-${version}-linux-amd64`);
  return { kubelet: join(directory, 'kubelet'), [UNIT]: join(directory, UNIT), [CONFIG]: join(directory, CONFIG) };
}

/** One script for all of it: each command costs the guest the better part of a second. */
export async function installScript(
  repoRoot: string,
  given: readonly KubeletForm[],
  installation: KubeletInstallation,
): Promise<string> {
  const form = installation.form ?? given[0];
  if (form === undefined || !given.includes(form)) {
    throw new Error(`the guest was given no kubelet of the form ${form}; it has: ${given.join(', ') || 'none'}`);
  }
  const flags = installation.flags ?? [];
  for (const flag of flags) {
    if (/\s/.test(flag)) throw new Error(`kubelet flag ${JSON.stringify(flag)}: the unit would split it at the space`);
  }
  const { [CONFIG]: samplePath = '' } = await partsOf(repoRoot, form);
  const sample = parse(await readFile(samplePath, 'utf8')) as Record<string, unknown>;
  const directory = `${FILES_DIRECTORY}/${directoryOf(form)}`;
  return `set -e
    mkdir -p /etc/kubernetes/manifests
    ln -sf ${directory}/kubelet /usr/local/bin/kubelet
    cp ${directory}/${UNIT} /etc/systemd/system/${UNIT}
    ${writing('/etc/kubernetes/kubelet.yaml', stringify({ ...sample, ...installation.config }))}
    ${writing('/etc/default/kubelet', `KUBELET_EXTRA_ARGS=${flags.join(' ')}\n`)}
    systemctl daemon-reload`;
}

const writing = (path: string, text: string): string =>
  `base64 -d > ${path} <<< ${Buffer.from(text).toString('base64')}`;

/** Starts the kubelet and waits for its health. One that ended once is not worth waiting for, and its own words say why. */
export const START_SCRIPT = `
  systemctl start kubelet
  until curl --silent --fail --output /dev/null http://127.0.0.1:10248/healthz; do
    if [ "$(systemctl show --property NRestarts --value kubelet)" != 0 ] || [ $SECONDS -gt ${HEALTHY_SECONDS} ]; then
      echo "not healthy after $SECONDS s:" >&2
      journalctl --no-pager --unit kubelet --lines 30 >&2
      exit 1
    fi
    sleep 0.2
  done`;
export const START_TIMEOUT_MS = (HEALTHY_SECONDS + 30) * 1000;
