/**
 * Debian packages that the lab and `make run` need: installed once, seen to be there quickly ever after.
 * No service is started by an install: the packages of containerd and the registry would start daemons that no one asked for.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type CommandOutcome, type RunCommand, runCommand } from './command.ts';

export interface PackagesOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
  readonly run?: RunCommand;
  /** Where Debian's tools look for the rule about starting services. */
  readonly policyFile?: string;
}

export class PackagesUnavailable extends Error {
  readonly packages: readonly string[];

  constructor(packages: readonly string[], why: string) {
    super(`Debian packages ${packages.join(', ')} are needed and could not be installed: ${why}`);
    this.name = 'PackagesUnavailable';
    this.packages = packages;
  }
}

const POLICY_FILE = '/usr/sbin/policy-rc.d';
// dpkg's own placeholders, not ours.
const STATUS_FORMAT = ['$', '{Package} $', '{db:Status-Status}\\n'].join('');
const APT_OPTIONS = ['-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Dpkg::Use-Pty=0'] as const;

/** Makes sure that the packages are installed. No apt call when they are there already. */
export async function ensurePackages(
  packages: readonly string[],
  log: (line: string) => void,
  options: PackagesOptions = {},
): Promise<void> {
  const run = options.run ?? runCommand;
  const env = options.env ?? process.env;
  const missing = await findMissing(packages, run, env);
  if (missing.length === 0) return;
  options.signal?.throwIfAborted();
  log(`apt: installing ${missing.join(' ')}`);
  const aptEnv = { ...env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8', NEEDRESTART_SUSPEND: '1' };
  const update = await run({
    argv: ['apt-get', ...APT_OPTIONS, 'update'],
    env: aptEnv,
    ...(options.signal && { signal: options.signal }),
  });
  // One broken source among several is common, and the others may well carry the package: the install decides.
  if (update.code !== 0) log(`apt: update ended with ${update.code}; trying to install all the same`);
  // Not interrupted by the signal: a half-done install leaves the machine's package database in need of repair.
  const install = await run({
    argv: servicesDenied(options.policyFile ?? POLICY_FILE, [
      ...['apt-get', ...APT_OPTIONS, 'install', '-y', '--no-install-recommends'],
      ...missing,
    ]),
    env: aptEnv,
  });
  const still = install.code === 0 ? await findMissing(missing, run, env) : missing;
  if (still.length > 0) throw new PackagesUnavailable(still, whyNot(update, install));
  options.signal?.throwIfAborted();
}

/** Fetches a package and unpacks it into `directory`, without installing it. Nothing happens where the directory is there already. */
export async function unpackPackage(
  name: string,
  directory: string,
  log: (line: string) => void,
  options: Omit<PackagesOptions, 'policyFile'> = {},
): Promise<void> {
  if (existsSync(directory)) return;
  const run = options.run ?? runCommand;
  const env = { ...(options.env ?? process.env), LC_ALL: 'C.UTF-8' };
  const parent = dirname(directory);
  mkdirSync(parent, { recursive: true });
  const place = mkdtempSync(join(parent, '.unpacking-'));
  const inPlace = (...argv: [string, ...string[]]) =>
    run({ argv, env, cwd: place, ...(options.signal && { signal: options.signal }) });
  try {
    log(`apt: fetching ${name}`);
    const download = () => inPlace('apt-get', ...APT_OPTIONS, 'download', name);
    let fetched = await download();
    if (fetched.code !== 0) {
      await inPlace('apt-get', ...APT_OPTIONS, 'update');
      fetched = await download();
    }
    const [file] = readdirSync(place).filter((entry) => entry.endsWith('.deb'));
    const unpacked = file === undefined ? fetched : await inPlace('dpkg-deb', '--extract', file, 'content');
    if (file === undefined || unpacked.code !== 0)
      throw new PackagesUnavailable([name], `it can't be fetched or unpacked:\n  ${unpacked.lastLines.join('\n  ')}`);
    renameSync(join(place, 'content'), directory);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function findMissing(
  packages: readonly string[],
  run: RunCommand,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  if (packages.length === 0) return [];
  const query = await run({
    argv: ['dpkg-query', '--show', '--showformat', STATUS_FORMAT, '--', ...packages],
    env,
  });
  const installed = new Set(
    query.stdout
      .split('\n')
      .filter((line) => line.endsWith(' installed'))
      .map((line) => line.slice(0, line.indexOf(' '))),
  );
  return packages.filter((name) => !installed.has(name));
}

/**
 * The command line that runs `argv` while the machine's rule for starting services says no (101).
 * A rule that is there already is covered in a mount namespace of our own, so that nothing of it changes; where there is none, ours
 * is written and removed by the shell, which outlives us if we are killed. One at a time, so that no one removes
 * another's rule: the lock is on dpkg's directory itself, which leaves no file behind.
 */
export function servicesDenied(policyFile: string, argv: readonly string[]): [string, ...string[]] {
  return ['flock', '/var/lib/dpkg', 'sh', '-c', DENYING_SHELL, policyFile, ...argv];
}

// $0 is the policy file, "$@" the command. The marker distinguishes a rule of ours, left by a power failure, from the machine's own.
const DENYING_SHELL = `
set -eu
policy=$0
marker='# kubelet-ts: no service is started by this install'
say_no() { printf '#!/bin/sh\\n%s\\nexit 101\\n' "$marker" > "$1"; chmod 755 "$1"; }
if [ -e "$policy" ] && ! grep -qxF "$marker" "$policy"; then
  ours=$(mktemp "$policy.XXXXXX") # beside it: /tmp and /run may be mounted noexec
  trap 'rm -f "$ours"' EXIT
  trap 'exit 130' INT TERM HUP
  say_no "$ours"
  unshare --mount --propagation private sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$ours" "$policy" "$@"
else
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' INT TERM HUP
  say_no "$policy"
  "$@"
fi
`;

function whyNot(update: CommandOutcome, install: CommandOutcome): string {
  if (install.code === 0) return 'apt-get install succeeded, but dpkg does not list them as installed';
  const lines = [...(update.code === 0 ? [] : update.lastLines), ...install.lastLines];
  const tail = lines.filter((line) => line.trim() !== '').slice(-10);
  return `apt-get install ended with ${install.code}:\n  ${tail.join('\n  ')}`;
}
