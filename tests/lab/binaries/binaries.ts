/**
 * The real programs that the lab runs: built once from pinned Go modules into a cache that outlives the work tree, taken from
 * Debian's packages, or from KUBEBUILDER_ASSETS. Only what is asked for is made.
 */
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createSystemClock } from '../../../src/base/clock.ts';
import { cacheRoot } from '../../../tools/machine/cache.ts';
import { type RunCommand, runCommand } from '../../../tools/machine/command.ts';
import { ensurePackages, PackagesUnavailable, unpackPackage } from '../../../tools/machine/packages.ts';
import { assetPath, checkAsset } from './assets.ts';
import { type BuildDeps, ensureBuilt, isBuilt } from './build.ts';
import {
  type BinaryName,
  type Catalog,
  type GoBinary,
  type GoModule,
  labCatalog,
  type Source,
  type UnpackedBinary,
} from './catalog.ts';
import type { Progress } from './progress.ts';
import { computeKey, type Pins, pinnedVersion, requiredGo } from './recipe.ts';
import { ensureGo, findGo, type GoToolchain, type ToolchainDeps } from './toolchain.ts';
import { BinariesUnavailable } from './unavailable.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface BinariesDeps {
  readonly env: Environment;
  readonly log: Progress;
  /** Default: `cacheRoot(env)`. */
  readonly cacheDir?: string;
  readonly clock?: Clock;
  readonly run?: RunCommand;
}

export interface Listed<N extends string> {
  readonly name: N;
  /** `go`: built from a pinned module; `debian`: from a package, installed or only unpacked; `assets`: from KUBEBUILDER_ASSETS. */
  readonly from: Source['from'] | 'assets';
  readonly version: string;
  /** Where it is, or nothing if it would have to be made first. */
  readonly path: string | undefined;
}

export interface Binaries<N extends string = BinaryName> {
  /** Absolute paths, after everything missing was made. Throws BinariesUnavailable where that is not possible. */
  ensure<Asked extends N>(names: readonly Asked[], signal: AbortSignal): Promise<Record<Asked, string>>;
  /** What there is, without making anything. */
  list(): Promise<readonly Listed<N>[]>;
}

export function createBinaries(deps: BinariesDeps): Binaries {
  return createBinariesOf<BinaryName>(labCatalog, deps);
}

export function createBinariesOf<N extends string>(catalog: Catalog<N>, deps: BinariesDeps): Binaries<N> {
  const parts = resolveParts(deps);
  const goModules = new Map<string, readonly GoBinary[]>();
  for (const source of Object.values<Source>(catalog)) {
    if (source.from !== 'go') continue;
    goModules.set(source.module.name, [...(goModules.get(source.module.name) ?? []), source]);
  }
  const checkedAssets = new Set<string>();

  const placeOf = (module: GoModule, toolchain: GoToolchain, pins: Pins): string => {
    const binaries = goModules.get(module.name) ?? [];
    const key = computeKey({ module, binaries, pins, goVersion: toolchain.version, goArch: parts.machine.goArch });
    return join(parts.cacheDir, 'bin', key);
  };

  const ensureGoBinaries = async (module: GoModule, binaries: readonly GoBinary[], signal: AbortSignal) => {
    const pins = await readPins(module);
    const toolchain = await ensureGo(parts, requiredGo(module, pins), signal);
    const directory = placeOf(module, toolchain, pins);
    const order = { module, binaries, version: pinnedVersion(module, pins), toolchain, directory };
    await ensureBuilt(parts, order, signal);
    return directory;
  };

  const unpackedPlace = ({ debianPackage }: UnpackedBinary) => join(parts.cacheDir, 'unpacked', debianPackage);
  const ensureUnpacked = async (source: UnpackedBinary, signal: AbortSignal): Promise<string> => {
    const { debianPackage, path } = source;
    const directory = unpackedPlace(source);
    const { env, run, progress } = parts;
    try {
      await unpackPackage(debianPackage, directory, progress.line, { env, run, signal });
    } catch (error) {
      if (error instanceof PackagesUnavailable) throw new BinariesUnavailable('packages', error.message, error);
      throw error;
    }
    return join(directory, path);
  };

  const ensureAsset = async (name: string, path: string, signal: AbortSignal) => {
    if (checkedAssets.has(path)) return;
    await checkAsset(name, path, { run: parts.run, env: parts.env, signal });
    checkedAssets.add(path);
  };

  return {
    ensure: async (names, signal) => {
      const paths: Partial<Record<N, string>> = {};
      const wantedOfGo = new Map<GoModule, Map<N, GoBinary>>();
      const debianPackages = new Set<string>();
      for (const name of new Set<N>(names)) {
        const source: Source = catalog[name];
        const asset = assetPath(parts.env, name);
        if (asset !== undefined) {
          await ensureAsset(name, asset, signal);
          paths[name] = asset;
        } else if (source.from === 'debian') {
          debianPackages.add(source.debianPackage);
          paths[name] = source.path;
        } else if (source.from === 'debian-unpacked') {
          paths[name] = await ensureUnpacked(source, signal);
        } else {
          const wanted = wantedOfGo.get(source.module) ?? new Map<N, GoBinary>();
          wantedOfGo.set(source.module, wanted.set(name, source));
        }
      }
      await parts.installPackages([...debianPackages], signal);
      for (const [module, wanted] of wantedOfGo) {
        const directory = await ensureGoBinaries(module, [...wanted.values()], signal);
        for (const [name, binary] of wanted) paths[name] = join(directory, binary.file);
      }
      return paths as Record<(typeof names)[number], string>;
    },
    list: async () => {
      const rows: Listed<N>[] = [];
      for (const name of Object.keys(catalog) as N[]) rows.push(await describe(name));
      return rows;
    },
  };

  async function describe(name: N): Promise<Listed<N>> {
    const source: Source = catalog[name];
    const asset = assetPath(parts.env, name);
    if (asset !== undefined) return { name, from: 'assets', version: '', path: await ifThere(asset) };
    if (source.from === 'debian') return { name, from: 'debian', version: '', path: await ifThere(source.path) };
    if (source.from === 'debian-unpacked')
      return { name, from: source.from, version: '', path: await ifThere(join(unpackedPlace(source), source.path)) };
    const pins = await readPins(source.module);
    const version = pinnedVersion(source.module, pins);
    const toolchain = await findGo(parts, requiredGo(source.module, pins));
    if (toolchain === undefined) return { name, from: 'go', version, path: undefined };
    const directory = placeOf(source.module, toolchain, pins);
    return {
      name,
      from: 'go',
      version,
      path: (await isBuilt(directory, source)) ? join(directory, source.file) : undefined,
    };
  }
}

/** Everything that the steps need, complete: past this nothing is optional. */
function resolveParts(deps: BinariesDeps): BuildDeps & ToolchainDeps {
  const run = deps.run ?? runCommand;
  return {
    env: deps.env,
    run,
    progress: deps.log,
    clock: deps.clock ?? createSystemClock(),
    cacheDir: deps.cacheDir ?? cacheRoot(deps.env),
    machine: { home: deps.env['HOME'] || homedir(), goArch: process.arch === 'x64' ? 'amd64' : process.arch },
    installPackages: async (packages, signal) => {
      try {
        await ensurePackages(packages, deps.log.line, { env: deps.env, run, signal });
      } catch (error) {
        if (error instanceof PackagesUnavailable) throw new BinariesUnavailable('packages', error.message, error);
        throw error;
      }
    },
  };
}

async function readPins(module: GoModule): Promise<Pins> {
  const [goMod, goSum] = await Promise.all([
    readFile(join(module.directory, 'go.mod'), 'utf8'),
    readFile(join(module.directory, 'go.sum'), 'utf8'),
  ]);
  return { goMod, goSum };
}

async function ifThere(path: string): Promise<string | undefined> {
  return await stat(path).then(
    () => path,
    () => undefined,
  );
}
