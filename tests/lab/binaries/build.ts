/** Builds the binaries of one Go module into their directory in the cache: each once, whole or not at all. */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../src/base/clock.ts';
import type { RunCommand } from '../../../tools/machine/command.ts';
import type { GoBinary, GoModule } from './catalog.ts';
import { withLock } from './lock.ts';
import { formatElapsed, type Progress, ticking } from './progress.ts';
import { buildArguments, buildEnvironment } from './recipe.ts';
import type { GoToolchain } from './toolchain.ts';
import { BinariesUnavailable } from './unavailable.ts';

export interface BuildDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly run: RunCommand;
  readonly installPackages: (packages: readonly string[], signal: AbortSignal) => Promise<void>;
  readonly progress: Progress;
  readonly clock: Clock;
  readonly machine: { readonly home: string; readonly goArch: string };
}

/** What is to be built, by which Go, and where to. */
export interface BuildOrder {
  readonly module: GoModule;
  readonly binaries: readonly GoBinary[];
  readonly version: string;
  readonly toolchain: GoToolchain;
  readonly directory: string;
}

const UNFINISHED = '.building-';

/** Builds what is not there yet. Holds the directory's lock while it builds; where nothing is missing, it only looks. */
export async function ensureBuilt(deps: BuildDeps, order: BuildOrder, signal: AbortSignal): Promise<void> {
  if ((await missingOf(order)).length === 0) return;
  await mkdir(order.directory, { recursive: true });
  const onWait = () => deps.progress.line(`Waiting for another process that builds ${order.module.name}`);
  await withLock({ file: `${order.directory}.lock`, signal, onWait }, async () => {
    const missing = await missingOf(order); // another process may have built it while we waited
    if (missing.length === 0) return;
    await removeUnfinished(order.directory);
    await deps.installPackages(order.module.buildPackages, signal);
    for (const binary of missing) await buildOne(deps, order, binary, signal);
  });
}

export async function isBuilt(directory: string, binary: GoBinary): Promise<boolean> {
  return await stat(join(directory, binary.file)).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function missingOf(order: BuildOrder): Promise<readonly GoBinary[]> {
  const there = await Promise.all(order.binaries.map((binary) => isBuilt(order.directory, binary)));
  return order.binaries.filter((_, index) => !there[index]);
}

async function removeUnfinished(directory: string): Promise<void> {
  const left = (await readdir(directory)).filter((name) => name.startsWith(UNFINISHED));
  await Promise.all(left.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}

async function buildOne(deps: BuildDeps, order: BuildOrder, binary: GoBinary, signal: AbortSignal): Promise<void> {
  const what = `${binary.file} ${order.version}`;
  const output = join(order.directory, binary.file);
  const workshop = join(order.directory, `${UNFINISHED}${process.pid}-${binary.file}`);
  const unfinished = join(workshop, binary.file);
  const started = deps.clock.mono();
  const elapsed = () => formatElapsed(deps.clock.mono() - started);
  const work = createWorkCount();
  await mkdir(workshop);
  try {
    using _ticks = ticking(deps.progress, deps.clock, () => `building ${what}: ${elapsed()}${work.describe()}`);
    const outcome = await deps.run({
      argv: [order.toolchain.go, ...buildArguments(binary, order.version, unfinished)],
      // An interrupted Go leaves its working files behind: here they go with the workshop.
      env: { ...buildEnvironment(deps.env, order.module, deps.machine), GOTMPDIR: workshop },
      cwd: order.module.directory,
      signal,
      onLine: work.see,
    });
    if (outcome.code !== 0) throw notBuilt(what, order, outcome.code, work.complaints(outcome.lastLines));
    await rename(unfinished, output);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
  deps.progress.line(`built ${what} in ${elapsed()}${work.describe()}: ${output}`);
}

function notBuilt(what: string, order: BuildOrder, code: number, complaints: readonly string[]): BinariesUnavailable {
  return new BinariesUnavailable(
    'build',
    `${what} could not be built in ${order.module.directory} by ${order.toolchain.version} (ended with ${code}):\n  ${complaints.join('\n  ')}`,
  );
}

/** Go's `-v` output: one line for each module fetched, one for each package compiled, and between them what is wrong. */
function createWorkCount() {
  let fetched = 0;
  let compiled = 0;
  const isFetch = (line: string) => line.startsWith('go: downloading ');
  const isPackage = (line: string) => /^[\w.~/-]+$/.test(line);
  return {
    see: (line: string) => {
      if (isFetch(line)) fetched++;
      else if (isPackage(line)) compiled++;
    },
    describe: () =>
      [
        fetched === 0 ? '' : `, ${fetched} modules fetched`, //
        compiled === 0 ? '' : `, ${compiled} packages compiled`,
      ].join(''),
    complaints: (lines: readonly string[]) => lines.filter((line) => !isFetch(line) && !isPackage(line)),
  };
}
