import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createDockerConfigFiles } from './docker-config-files.ts';

async function createBench(t: TestContext, texts: Readonly<Record<string, string>>) {
  const directory = await mkdtemp(join(tmpdir(), 'docker-'));
  t.after(() => rm(directory, { recursive: true }));
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  };
  for (const [path, text] of Object.entries(texts)) await write(path, text);
  const clock = createManualClock();
  const files = createDockerConfigFiles(
    { clock, log: createSilentLogger() },
    {
      rootDirectory: join(directory, 'root'),
      workingDirectory: join(directory, 'cwd'),
      homeDirectory: join(directory, 'home'),
    },
  );
  const users = async () => [...(await files.read()).values()].map(({ username }) => username);
  return { clock, write, users };
}

const modern = (username: string) => JSON.stringify({ auths: { 'a.io': { username, password: 'p' } } });
const old = (username: string) => JSON.stringify({ 'a.io': { username, password: 'p' } });

const cases: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
  ['no file', {}, []],
  [
    'the root directory first',
    { 'root/config.json': modern('root'), 'home/.docker/config.json': modern('home') },
    ['root'],
  ],
  [
    'then the working directory',
    { 'cwd/config.json': modern('cwd'), 'home/.docker/config.json': modern('home') },
    ['cwd'],
  ],
  ['then the home directory', { 'home/.docker/config.json': modern('home'), 'root/.dockercfg': old('old') }, ['home']],
  ['the old form only where the new one is nowhere', { 'home/.dockercfg': old('old') }, ['old']],
  ['a broken file is passed over', { 'root/config.json': '{', 'cwd/config.json': modern('cwd') }, ['cwd']],
  ['an empty file counts', { 'root/config.json': '{}', 'cwd/config.json': modern('cwd') }, []],
];
for (const [name, texts, expected] of cases) {
  test(name, async (t) => {
    const { users } = await createBench(t, texts);
    assert.deepEqual(await users(), expected);
  });
}

test('a changed file counts after five minutes', async (t) => {
  const { users, write, clock } = await createBench(t, { 'root/config.json': modern('before') });
  assert.deepEqual(await users(), ['before']);
  await write('root/config.json', modern('after'));
  assert.deepEqual(await users(), ['before']);
  await clock.advance(5 * 60_000);
  assert.deepEqual(await users(), ['after']);
});
