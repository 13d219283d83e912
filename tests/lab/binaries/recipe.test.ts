import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type GoBinary, type GoModule, labCatalog } from './catalog.ts';
import {
  buildArguments,
  buildEnvironment,
  buildFlags,
  computeKey,
  type KeyParts,
  pinnedVersion,
  requiredGo,
} from './recipe.ts';

const module: GoModule = {
  name: 'thing',
  directory: '/src/thing',
  versionOf: 'example.invalid/thing',
  cgo: false,
  tags: ['small', 'fast'],
  stamps: (version) => [`main.Version=${version}`],
  buildPackages: [],
};
const binary: GoBinary = { from: 'go', module, goPackage: 'example.invalid/thing/cmd', file: 'thing', mode: 'build' };
const goMod = `module kubelet-ts.invalid/lab/thing

go 1.26.3

require (
	example.invalid/other v0.9.0 // indirect
	example.invalid/thing v1.2.3 // indirect
)

replace example.invalid/thing/api => example.invalid/thing/api v0.2.3
`;
const parts: KeyParts = {
  module,
  binaries: [binary],
  pins: { goMod, goSum: 'sums' },
  goVersion: 'go1.26.8',
  goArch: 'amd64',
};

test('the version and the oldest Go come from go.mod', () => {
  assert.equal(pinnedVersion(module, parts.pins), 'v1.2.3');
  assert.deepEqual(requiredGo(module, parts.pins), [1, 26, 3]);
  const oneLine = { goMod: 'go 1.27\nrequire example.invalid/thing v2.0.0', goSum: '' };
  assert.equal(pinnedVersion(module, oneLine), 'v2.0.0');
  assert.deepEqual(requiredGo(module, oneLine), [1, 27, 0]);
});

for (const [text, read, message] of [
  ['go 1.26', pinnedVersion, /thing\/go\.mod requires no version of example\.invalid\/thing/],
  ['replace example.invalid/thing => example.invalid/fork v1.0.0', pinnedVersion, /requires no version/],
  ['require example.invalid/thing v1.2.3', requiredGo, /no line "go VERSION"/],
] as const) {
  test(`a go.mod that pins nothing is refused: ${text}`, () => {
    assert.throws(() => read(module, { goMod: text, goSum: '' }), message);
  });
}

test('the key names module and version and stays the same for the same input', () => {
  assert.match(computeKey(parts), /^thing-v1\.2\.3-[0-9a-f]{12}$/);
  assert.equal(computeKey(parts), computeKey(structuredCloneOfParts()));
});

function structuredCloneOfParts(): KeyParts {
  return { ...parts, binaries: [...parts.binaries], pins: { ...parts.pins } };
}

const changes: Record<string, Partial<KeyParts>> = {
  'go.mod': { pins: { goMod: `${goMod}\n`, goSum: 'sums' } },
  'go.sum': { pins: { goMod, goSum: 'other sums' } },
  'the version of Go': { goVersion: 'go1.26.9' },
  'the architecture': { goArch: 'arm64' },
  'build tags': { module: { ...module, tags: ['small'] } },
  'linker settings': { module: { ...module, stamps: () => [] } },
  cgo: { module: { ...module, cgo: true } },
  'the package of a binary': { binaries: [{ ...binary, goPackage: 'example.invalid/thing/v2' }] },
  'a further binary': { binaries: [binary, { ...binary, file: 'more' }] },
};
for (const [what, change] of Object.entries(changes)) {
  test(`the key changes with ${what}`, () => assert.notEqual(computeKey({ ...parts, ...change }), computeKey(parts)));
}

test('the order of the binaries does not matter to the key', () => {
  const more = { ...binary, file: 'more' };
  assert.equal(computeKey({ ...parts, binaries: [binary, more] }), computeKey({ ...parts, binaries: [more, binary] }));
});

test('arguments of a build and of a compiled test', () => {
  const flags = ['-buildvcs=false', '-trimpath', '-tags=small,fast', '-ldflags=-s -w -X main.Version=v1.2.3'];
  assert.deepEqual(buildFlags(module, 'v1.2.3'), flags);
  assert.deepEqual(buildArguments(binary, 'v1.2.3', '/out'), ['build', '-v', ...flags, '-o', '/out', binary.goPackage]);
  assert.deepEqual(buildArguments({ ...binary, mode: 'test' }, 'v1.2.3', '/out').slice(0, 4), [
    'test',
    '-c',
    '-vet=off',
    '-v',
  ]);
});

test("the machine's odd Go settings don't reach a build, its proxy and caches do", () => {
  const env = {
    ...{ PATH: '/bin', HTTPS_PROXY: 'http://127.0.0.1:1', GOPROXY: 'off', GOCACHE: '/c', GOMODCACHE: '/m', HOME: '/h' },
    ...{
      GOFLAGS: '-mod=vendor -race',
      GOROOT: '/old',
      GOOS: 'plan9',
      GOARCH: 'mips',
      GOTOOLCHAIN: 'auto',
      GOWORK: '/w',
    },
    ...{
      GOEXPERIMENT: 'x',
      GO111MODULE: 'off',
      CGO_ENABLED: '1',
      CGO_CFLAGS: '-broken',
      GODEBUG: 'x=1',
      UNSET: undefined,
    },
  };
  assert.deepEqual(buildEnvironment(env, module, { home: '/home/of/passwd', goArch: 'amd64' }), {
    ...{ PATH: '/bin', HTTPS_PROXY: 'http://127.0.0.1:1', GOPROXY: 'off', GOCACHE: '/c', GOMODCACHE: '/m', HOME: '/h' },
    ...{
      GO111MODULE: 'on',
      GOOS: 'linux',
      GOARCH: 'amd64',
      GOFLAGS: '-mod=readonly',
      GOTOOLCHAIN: 'local',
      GOWORK: 'off',
    },
    CGO_ENABLED: '0',
  });
  const withCgo = buildEnvironment({}, { ...module, cgo: true }, { home: '/root', goArch: 'arm64' });
  assert.deepEqual([withCgo['CGO_ENABLED'], withCgo['HOME'], withCgo['GOARCH']], ['1', '/root', 'arm64']);
});

test('the go.mod files that are checked in pin what the lab promises', async () => {
  const promised: Record<string, string> = {};
  for (const source of Object.values(labCatalog)) {
    if (source.from !== 'go') continue;
    const text = await readFile(join(source.module.directory, 'go.mod'), 'utf8');
    promised[source.module.name] = pinnedVersion(source.module, { goMod: text, goSum: '' });
    assert.ok(
      text.includes(`\t${source.goPackage}\n`) || text.includes(`tool ${source.goPackage}\n`),
      source.goPackage,
    );
  }
  assert.deepEqual(promised, {
    containerd: 'v2.4.2',
    runc: 'v1.5.2',
    etcd: 'v3.6.8',
    kubernetes: 'v1.36.4',
    'node-suite': 'v1.36.4',
    'metrics-server': 'v0.9.0',
  });
});

test('Kubernetes tells its version in servers and in clients', () => {
  const flags = buildFlags(labCatalog.kubectl.module, 'v1.36.4').join(' ');
  for (const place of ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']) {
    assert.ok(flags.includes(`-X ${place}.gitVersion=v1.36.4`));
    assert.ok(flags.includes(`-X ${place}.gitMajor=1 -X ${place}.gitMinor=36`));
  }
});
