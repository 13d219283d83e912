/** How a Go binary is built, decided without touching anything: the command, its environment, and the directory of the result. */
import { createHash } from 'node:crypto';
import type { GoBinary, GoModule } from './catalog.ts';
import { parseVersion, type Version } from './version.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The two files that pin a module, as text. */
export interface Pins {
  readonly goMod: string;
  readonly goSum: string;
}

/** The version of `module`'s binaries, from its go.mod. */
export function pinnedVersion(module: GoModule, pins: Pins): string {
  for (const line of pins.goMod.split('\n')) {
    const [name, version] = line
      .replace(/^require\s/, '')
      .trim()
      .split(/\s+/);
    if (name === module.versionOf && version !== undefined && /^v\d/.test(version)) return version;
  }
  throw new Error(`${module.directory}/go.mod requires no version of ${module.versionOf}`);
}

/** The oldest Go that may build the module: what the `go` line of its go.mod says. */
export function requiredGo(module: GoModule, pins: Pins): Version {
  const version = parseVersion(/^go\s+(\S+)/m.exec(pins.goMod)?.[1] ?? '');
  if (version === undefined) throw new Error(`${module.directory}/go.mod has no line "go VERSION"`);
  return version;
}

/** Flags that shape the result. All of them are part of the key. */
export function buildFlags(module: GoModule, version: string): readonly string[] {
  const link = ['-s', '-w', ...module.stamps(version).map((stamp) => `-X ${stamp}`)].join(' ');
  return ['-buildvcs=false', '-trimpath', `-tags=${module.tags.join(',')}`, `-ldflags=${link}`];
}

export interface KeyParts {
  readonly module: GoModule;
  readonly binaries: readonly GoBinary[];
  readonly pins: Pins;
  readonly goVersion: string;
  readonly goArch: string;
}

/** The name of the directory that holds a module's binaries: changes whenever anything changes that could change one of them. */
export function computeKey({ module, binaries, pins, goVersion, goArch }: KeyParts): string {
  const version = pinnedVersion(module, pins);
  const recipes = binaries.map(({ file, goPackage, mode }) => [file, goPackage, mode]).sort();
  const parts = [pins.goMod, pins.goSum, buildFlags(module, version), module.cgo, recipes, goVersion, goArch];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${module.name}-${version}-${digest.slice(0, 12)}`;
}

export function buildArguments(binary: GoBinary, version: string, output: string): readonly string[] {
  const command = binary.mode === 'test' ? ['test', '-c', '-vet=off'] : ['build'];
  // -v names each package as it is compiled: that is the progress shown.
  return [...command, '-v', ...buildFlags(binary.module, version), '-o', output, binary.goPackage];
}

/** Where modules come from and where Go keeps its caches is the machine's business; everything else of Go's settings is ours. */
const KEPT_GO_SETTINGS = new Set([
  ...['GOPROXY', 'GONOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GOPRIVATE', 'GOINSECURE', 'GOAUTH', 'GOVCS', 'GOENV'],
  ...['GOPATH', 'GOCACHE', 'GOMODCACHE', 'GOCACHEPROG', 'GOMAXPROCS', 'GOMEMLIMIT', 'GOGC'],
]);

/** Set, never left empty: an empty variable lets `go env -w` of the machine's user speak instead. */
export function buildEnvironment(
  env: Environment,
  module: GoModule,
  machine: { readonly home: string; readonly goArch: string },
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || /^CGO_/.test(name)) continue;
    if (/^GO[A-Z0-9]/.test(name) && !KEPT_GO_SETTINGS.has(name)) continue;
    kept[name] = value;
  }
  return {
    HOME: machine.home,
    ...kept,
    GO111MODULE: 'on',
    GOOS: 'linux',
    GOARCH: machine.goArch,
    GOFLAGS: '-mod=readonly',
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
    CGO_ENABLED: module.cgo ? '1' : '0',
  };
}
