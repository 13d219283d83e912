import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { type CredentialPluginDeps, createCredentialPlugins, openCredentialPlugins } from './credential-plugins.ts';
import type { Provider } from './rules/provider-config.ts';

const never = new AbortController().signal;
const VERSION = 'credentialprovider.kubelet.k8s.io/v1';
const podOf = (name: string, serviceAccountName = 'robot'): Pod => ({
  metadata: { name, namespace: 'n', uid: `u-${name}` },
  spec: { containers: [], serviceAccountName },
});
const provider: Provider = {
  name: 'p',
  matchImages: ['*.example.com'],
  defaultCacheMs: 60_000,
  apiVersion: VERSION,
  args: ['--fast'],
  env: [{ name: 'REGION', value: 'moon' }],
  token: undefined,
};
const WITH_TOKEN: NonNullable<Provider['token']> = {
  audience: 'registry',
  cacheType: 'ServiceAccount',
  required: true,
  requiredAnnotations: ['team'],
  optionalAnnotations: ['colour'],
};

interface Request {
  readonly image: string;
  readonly serviceAccountToken?: string;
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>>;
}

function createBench(
  chosen: Partial<Provider> = {},
  answer: (request: Request) => Readonly<Record<string, unknown>> = () => ({}),
  objects?: CredentialPluginDeps['objects'],
) {
  const clock = createManualClock();
  const requests: Request[] = [];
  const programs: { path: string; args: readonly string[]; environment: unknown }[] = [];
  const plugins = createCredentialPlugins(
    {
      clock,
      log: createSilentLogger(),
      environment: { PATH: '/bin', REGION: 'earth' },
      objects,
      run: ({ input, ...program }) => {
        const request = JSON.parse(input) as Request;
        requests.push(request);
        programs.push(program);
        const auth = { '*.example.com': { username: `u${requests.length}`, password: 'p' } };
        const all = { kind: 'CredentialProviderResponse', apiVersion: VERSION, cacheKeyType: 'Image', auth };
        return Promise.resolve(JSON.stringify({ ...all, ...answer(request) }));
      },
    },
    [{ ...provider, ...chosen }],
    '/plugins',
  );
  const ask = async (image: string, pod = podOf('a')) =>
    (await plugins.provide(pod, image, never)).flatMap(({ logins }) => [...logins.values()].map((one) => one.username));
  return { clock, requests, programs, plugins, ask };
}

test('a plugin runs with its arguments and environment for images that match, and for no others', async () => {
  const { ask, programs, requests } = createBench();
  assert.deepEqual(await ask('a.example.com/x'), ['u1']);
  assert.deepEqual(await ask('example.com/x'), []);
  assert.deepEqual(await ask('a.b.example.com/x'), []);
  assert.equal(requests.length, 1);
  assert.deepEqual(programs, [{ path: '/plugins/p', args: ['--fast'], environment: { PATH: '/bin', REGION: 'moon' } }]);
});

const caching: readonly (readonly [string, Readonly<Record<string, unknown>>, readonly string[], number])[] = [
  ['for the image', { cacheKeyType: 'Image' }, ['a.example.com/x', 'a.example.com/x', 'a.example.com/y'], 2],
  ['for the registry', { cacheKeyType: 'Registry' }, ['a.example.com/x', 'a.example.com/y', 'b.example.com/x'], 2],
  ['for all', { cacheKeyType: 'Global' }, ['a.example.com/x', 'b.example.com/y'], 1],
  ['not at all', { cacheKeyType: 'Global', cacheDuration: '0s' }, ['a.example.com/x', 'a.example.com/x'], 2],
];
for (const [name, answer, images, calls] of caching) {
  test(`answers are kept ${name}`, async () => {
    const { ask, requests } = createBench({}, () => answer);
    for (const image of images) assert.equal((await ask(image)).length, 1);
    assert.equal(requests.length, calls);
  });
}

test('answers are kept as long as they say, or as the configuration does', async () => {
  const byDefault = createBench();
  const byAnswer = createBench({}, () => ({ cacheDuration: '10s' }));
  for (const [bench, seconds] of [
    [byDefault, 60],
    [byAnswer, 10],
  ] as const) {
    await bench.ask('a.example.com/x');
    await bench.clock.advance(seconds * 1000 - 1);
    await bench.ask('a.example.com/x');
    assert.equal(bench.requests.length, 1);
    await bench.clock.advance(1);
    await bench.ask('a.example.com/x');
    assert.equal(bench.requests.length, 2);
  }
});

test('several pods at once ask one time', async () => {
  const { ask, requests } = createBench();
  await Promise.all([ask('a.example.com/x', podOf('a')), ask('a.example.com/x', podOf('b'))]);
  assert.equal(requests.length, 1);
});

test('a plugin that fails or answers nonsense has nothing to say', async () => {
  const { ask } = createBench({}, () => ({ cacheKeyType: 'Pod' }));
  assert.deepEqual(await ask('a.example.com/x'), []);
});

const accounts = (annotations: Readonly<Record<string, string>>): NonNullable<CredentialPluginDeps['objects']> => ({
  serviceAccount: (_namespace, name) => Promise.resolve({ uid: `uid-${name}`, annotations }),
  token: ({ pod, audience }) => Promise.resolve(`token of ${pod.name} for ${audience}`),
});

test('a plugin can have the token of the service account, and its answer is that of the account', async () => {
  const objects = accounts({ team: 'red', other: 'x' });
  const { ask, requests, plugins } = createBench({ token: WITH_TOKEN }, () => ({}), objects);
  await ask('a.example.com/x');
  await ask('a.example.com/x', podOf('b'));
  await ask('a.example.com/x', podOf('c', 'human'));
  assert.deepEqual(
    requests.map(({ serviceAccountToken, serviceAccountAnnotations }) => [
      serviceAccountToken,
      serviceAccountAnnotations,
    ]),
    [
      ['token of a for registry', { team: 'red' }],
      ['token of c for registry', { team: 'red' }],
    ],
  );
  const [found] = await plugins.provide(podOf('a'), 'a.example.com/x', never);
  assert.deepEqual(found?.source, { kind: 'serviceAccount', uid: 'uid-robot', namespace: 'n', name: 'robot' });
});

test('with cacheType Token an answer is good for one token only', async () => {
  const token = { ...WITH_TOKEN, cacheType: 'Token' } as const;
  const { ask, requests } = createBench({ token }, () => ({}), accounts({ team: 'red' }));
  for (const name of ['a', 'a', 'b']) await ask('a.example.com/x', podOf(name));
  assert.equal(requests.length, 2);
});

test('pods that a plugin for tokens has nothing to do with', async () => {
  const without = createBench({ token: WITH_TOKEN }, () => ({}), accounts({}));
  assert.deepEqual(await without.ask('a.example.com/x'), [], 'the annotation is missing');
  const annotated = accounts({ team: 'red' });
  assert.deepEqual(
    await createBench({ token: WITH_TOKEN }, () => ({}), annotated).ask('a.example.com/x', podOf('a', '')),
    [],
  );
  const lax = createBench({ token: { ...WITH_TOKEN, required: false } }, () => ({}), annotated);
  assert.deepEqual(await lax.ask('a.example.com/x', podOf('a', '')), ['u1']);
  assert.equal(lax.requests[0]?.serviceAccountToken, undefined);
  assert.deepEqual(await createBench({ token: WITH_TOKEN }).ask('a.example.com/x'), [], 'there is no API server');
});

test('the token itself as the password needs cacheType Token', async () => {
  const echo = ({ serviceAccountToken = '' }: Request) => ({
    auth: { '*.example.com': { username: 'echo', password: serviceAccountToken } },
  });
  const objects = accounts({ team: 'red' });
  assert.deepEqual(await createBench({ token: WITH_TOKEN }, echo, objects).ask('a.example.com/x'), []);
  const token = { ...WITH_TOKEN, cacheType: 'Token' } as const;
  assert.deepEqual(await createBench({ token }, echo, objects).ask('a.example.com/x'), ['echo']);
});

test('opening: files of a directory in order, executables that are there, all complaints at once', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'plugins-'));
  t.after(() => rm(directory, { recursive: true }));
  const deps = { clock: createManualClock(), log: createSilentLogger(), environment: {}, objects: undefined };
  const configPath = join(directory, 'config');
  const settings = { configPath, binDirectory: directory, tokens: true };
  await assert.rejects(openCredentialPlugins(deps, settings), /credential provider configuration .*config: ENOENT/);
  await mkdir(configPath);
  await assert.rejects(openCredentialPlugins(deps, settings), /no \.json, \.yaml or \.yml files/);
  const write = async (file: string, name: string) => {
    const one = { name, apiVersion: VERSION, matchImages: ['a.io'], defaultCacheDuration: '1m' };
    const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [one] };
    await writeFile(join(configPath, file), JSON.stringify(config));
  };
  await write('1.json', 'one');
  await write('2.yaml', 'two');
  await writeFile(join(configPath, 'README'), 'not one of them');
  await assert.rejects(openCredentialPlugins(deps, settings), /plugin .*one is no executable file/);
  for (const name of ['one', 'two']) {
    await writeFile(join(directory, name), '#!/bin/sh\n');
    await chmod(join(directory, name), 0o755);
  }
  await openCredentialPlugins(deps, settings);
  await write('3.yml', 'a b');
  await write('4.yml', 'one');
  await assert.rejects(
    openCredentialPlugins(deps, settings),
    /3\.yml: .*slashes or spaces[\s\S]*4\.yml: .*another provider/,
  );
});

test('of very many answers the oldest are forgotten', async () => {
  const { ask, requests } = createBench();
  for (let n = 0; n <= 1000; n += 1) await ask(`a.example.com/x${n}`);
  await ask('a.example.com/x1000');
  assert.equal(requests.length, 1001);
  await ask('a.example.com/x0');
  assert.equal(requests.length, 1002);
});
