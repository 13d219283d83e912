/** The image of our test server: built from the Go sources beside this file, once for each version of them. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunCommand } from '../../../tools/machine/command.ts';
import { baseFiles } from '../../../tools/machine/images.ts';
import type { ImageSpec } from '../../../tools/machine/oci/image.ts';
import type { GoToolchain } from '../binaries/toolchain.ts';

/** What it can do: images/testserver/main.go (flags) and http.go (requests). */
export const TESTSERVER_IMAGE = 'lab.local/testserver:1';

const SOURCES = join(import.meta.dirname, 'testserver');

export interface TestserverDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly run: RunCommand;
  readonly cacheDirectory: string;
  readonly toolchain: () => Promise<GoToolchain>;
}

export async function testserverImage(deps: TestserverDeps): Promise<ImageSpec> {
  const content = await readFile(await ensureTestserver(deps));
  return {
    names: [TESTSERVER_IMAGE],
    layers: [[...baseFiles(), { kind: 'file', path: 'bin/testserver', mode: 0o755, content }]],
    config: { Entrypoint: ['/bin/testserver'], Env: ['PATH=/bin'], ExposedPorts: { '8080/tcp': {} } },
  };
}

async function ensureTestserver(deps: TestserverDeps): Promise<string> {
  const directory = join(deps.cacheDirectory, 'bin', `testserver-${await hashSources()}`);
  const binary = join(directory, 'testserver');
  if (existsSync(binary)) return binary;
  const { go } = await deps.toolchain();
  await mkdir(directory, { recursive: true });
  const half = `${binary}.${process.pid}`;
  const outcome = await deps.run({
    argv: [go, 'build', '-buildvcs=false', '-trimpath', '-ldflags=-s -w', '-o', half, '.'],
    env: { ...deps.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOFLAGS: '' },
    cwd: SOURCES,
  });
  if (outcome.code !== 0) throw new Error(`go build of testserver failed:\n${outcome.lastLines.join('\n')}`);
  await rename(half, binary);
  return binary;
}

async function hashSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await readdir(SOURCES)).sort())
    hash.update(`${name}\0`).update(await readFile(join(SOURCES, name)));
  return hash.digest('hex').slice(0, 12);
}
