/** Who may have an image: passwords from files, secrets and plugins against a real registry that asks for them. */
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { CredentialObjects, PullSecret } from '../../src/images/ports.ts';
import type { CriClient } from '../../src/runtime/cri/client.ts';
import { lab } from '../lab/lab.ts';
import { ACCOUNTS, type Registry } from '../lab/registry.ts';
import { eventually, labNode, never } from './cri-support.ts';
import { type ImagesBench, imageOf, openImages, RELAXED, requestFor } from './images-support.ts';

const [LAB, OTHER] = ACCOUNTS;

const dockerConfig = (host: string, { user, password }: { user: string; password: string }) =>
  JSON.stringify({ auths: { [host]: { auth: Buffer.from(`${user}:${password}`).toString('base64') } } });

function secretOf(name: string, host: string, account: { user: string; password: string }): PullSecret {
  const data = new Map([['.dockerconfigjson', Buffer.from(dockerConfig(host, account))]]);
  return { uid: `uid-of-${name}`, namespace: 'default', name, type: 'kubernetes.io/dockerconfigjson', data };
}

function objectsWith(secrets: readonly PullSecret[]): CredentialObjects {
  const unwanted = () => Promise.reject(new Error('no one asks for it here'));
  return {
    secret: (namespace, name) =>
      Promise.resolve(secrets.find((secret) => secret.namespace === namespace && secret.name === name)),
    serviceAccount: unwanted,
    token: unwanted,
  };
}

async function privateRegistry(t: TestContext): Promise<{ cri: CriClient; registry: Registry; name: string }> {
  const { node, cri } = await labNode(t, 'containerd-2.4');
  const registry = await lab.registry(node, { auth: true });
  return { cri, registry, name: await registry.push(imageOf('private'), 'team/private:1') };
}

const ensure = async (
  { images }: ImagesBench,
  image: string,
  secrets: readonly string[] = [],
  policy = 'IfNotPresent',
) => {
  const imagePullSecrets = secrets.map((name) => ({ name }));
  const request = requestFor(image, { imagePullPolicy: policy as 'IfNotPresent' | 'Never' }, { imagePullSecrets });
  const answer = await images.ensure({ ...request, signal: never });
  return answer.kind === 'ready' ? 'ready' : `${answer.reason}: ${answer.message}`;
};

test('the node has the password in a file', async (t) => {
  const { cri, registry, name } = await privateRegistry(t);
  const without = await openImages(t, cri);
  assert.match(await ensure(without, name), /^ErrImagePull: .*(?:401 Unauthorized|authorization failed|no basic auth)/);

  const rootDirectory = await mkdtemp(join(tmpdir(), 'images-'));
  t.after(() => rm(rootDirectory, { recursive: true }));
  await writeFile(join(rootDirectory, 'config.json'), dockerConfig(registry.host, LAB));
  const bench = await openImages(t, cri, { rootDirectory });
  assert.equal(await ensure(bench, name), 'ready');
  assert.ok((await registry.requests()).some(({ user, status }) => user === LAB.user && status === 200));
});

test('who pulled with a secret shows it again; others ask the registry', async (t) => {
  const { cri, registry, name } = await privateRegistry(t);
  const objects = objectsWith([
    secretOf('mine', registry.host, LAB),
    secretOf('same-login', registry.host, LAB),
    secretOf('other-login', registry.host, OTHER),
    secretOf('wrong', registry.host, { ...LAB, password: 'wrong' }),
    { ...secretOf('broken', registry.host, LAB), data: new Map([['.dockerconfigjson', Buffer.from('{')]]) },
  ]);
  const bench = await openImages(t, cri, {}, { objects });
  const { events, rootDirectory } = bench;
  const told = () => events.splice(0).map((event) => event.split(' ').slice(0, 2).join(' '));

  assert.equal(await ensure(bench, name, ['mine']), 'ready');
  assert.deepEqual(told(), ['Normal Pulling', 'Normal Pulled']);
  assert.equal(await ensure(bench, name, ['mine']), 'ready');
  assert.equal(await ensure(bench, name, ['same-login']), 'ready');
  assert.deepEqual(told(), ['Normal Pulled', 'Normal Pulled'], 'no pull: the login is known');
  assert.match(await ensure(bench, name, []), /^ErrImagePull: /);
  assert.match(await ensure(bench, name, ['wrong']), /^ErrImagePull: /);
  assert.match(
    await ensure(bench, name, [], 'Never'),
    /^ErrImageNeverPull: .*is not present/,
    'no one is told that it is there',
  );
  assert.match(
    await ensure(bench, name, ['broken']),
    /^ErrImagePull: image pull secret default\/broken: \.dockerconfigjson: it is not valid JSON$/,
  );
  told();
  assert.match(await ensure(bench, name, ['absent']), /^ErrImagePull: /);
  assert.equal(
    events.splice(0)[0],
    'Warning FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (absent); attempting to pull the image may not succeed.',
  );
  assert.equal(await ensure(bench, name, ['wrong', 'other-login']), 'ready', 'each is tried');
  assert.deepEqual(told(), ['Normal Pulling', 'Normal Pulled']);

  const directory = join(rootDirectory, 'image_manager', 'pulled');
  const [file = ''] = await readdir(directory);
  const record = JSON.parse(await readFile(join(directory, file), 'utf8'));
  const known = record.credentialMapping['localhost:5000/team/private'].kubernetesSecrets;
  assert.deepEqual(
    known.map((secret: { name: string }) => secret.name),
    ['mine', 'other-login', 'same-login'],
  );

  const restarted = await openImages(t, cri, { rootDirectory }, { objects });
  assert.equal(await ensure(restarted, name, ['mine']), 'ready');
  assert.equal(restarted.events.length, 1, 'a kubelet that starts again has not forgotten');
  const trusting = { policy: 'NeverVerify', allowlist: [] } as const;
  assert.equal(await ensure(await openImages(t, cri, { rootDirectory, verification: trusting }), name), 'ready');
  const listed = { policy: 'NeverVerifyAllowlistedImages', allowlist: ['localhost:5000/team/*'] } as const;
  assert.equal(await ensure(await openImages(t, cri, { rootDirectory, verification: listed }), name), 'ready');
});

test('a pull that kill -9 cut off is not taken for an image that was there before', async (t) => {
  const { cri, registry, name } = await privateRegistry(t);
  const objects = objectsWith([secretOf('mine', registry.host, LAB)]);
  const { rootDirectory } = await openImages(t, cri, {}, { objects });
  // What a kubelet leaves that dies between the end of the pull and its note of it.
  const dying = await openImages(t, cri, { rootDirectory }, { objects });
  await registry.setFaults([{ match: 'blobs', does: { kind: 'delay', ms: 60_000 } }]);
  const controller = new AbortController();
  const cut = dying.images.ensure({
    ...requestFor(name, {}, { imagePullSecrets: [{ name: 'mine' }] }),
    signal: controller.signal,
  });
  cut.catch(() => undefined); // it is meant to be cut off
  await eventually('the intent is on disk', async () => {
    const intents = await readdir(join(rootDirectory, 'image_manager', 'pulling'));
    return intents.length === 1 ? true : undefined;
  });
  controller.abort(new Error('dead'));
  await registry.setFaults([]);
  await cri.images.pull({ image: { image: name }, auth: { username: LAB.user, password: LAB.password } }, never);

  const next = await openImages(t, cri, { rootDirectory }, { objects });
  await next.images.collect(never);
  assert.deepEqual(await readdir(join(rootDirectory, 'image_manager', 'pulling')), [], 'the intent became a record');
  assert.equal((await readdir(join(rootDirectory, 'image_manager', 'pulled'))).length, 1);
  assert.match(await ensure(next, name), /^ErrImagePull: /, 'a pod without the password gets nothing');
  assert.equal(await ensure(next, name, ['mine']), 'ready');
});

const PLUGIN = `#!/bin/sh
cat > "$SEEN/request-$$"
echo '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Registry","cacheDuration":"1h",
"auth":{"localhost:5000":{"username":"'"$1"'","password":"'"$PASSWORD"'"}}}'
`;

test('a credential provider plugin is asked once for a registry', async (t) => {
  const { cri, registry, name } = await privateRegistry(t);
  const second = await registry.push(imageOf('second'), 'team/second:1');
  const directory = await mkdtemp(join(tmpdir(), 'plugins-'));
  t.after(() => rm(directory, { recursive: true }));
  const bin = join(directory, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'lab-login'), PLUGIN);
  await chmod(join(bin, 'lab-login'), 0o755);
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1',
    kind: 'CredentialProviderConfig',
    providers: [
      {
        name: 'lab-login',
        apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
        matchImages: ['localhost:5000/team'],
        defaultCacheDuration: '1m',
        args: [LAB.user],
        env: [{ name: 'PASSWORD', value: LAB.password }],
      },
    ],
  };
  const configPath = join(directory, 'config.json');
  await writeFile(configPath, JSON.stringify(config));
  const plugins = { configPath, binDirectory: bin, tokens: true };
  const seen = join(directory, 'seen');
  await mkdir(seen);
  const surroundings = {
    environment: { PATH: '/usr/bin:/bin', SEEN: seen },
    workingDirectory: directory,
    homeDirectory: undefined,
  };
  const bench = await openImages(t, cri, { ...RELAXED, plugins }, { surroundings });
  assert.equal(await ensure(bench, name), 'ready');
  assert.equal(await ensure(bench, second), 'ready');
  const requests = await readdir(seen);
  assert.equal(requests.length, 1);
  assert.deepEqual(JSON.parse(await readFile(join(seen, requests[0] ?? ''), 'utf8')), {
    kind: 'CredentialProviderRequest',
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    image: 'localhost:5000/team/private',
  });
});
