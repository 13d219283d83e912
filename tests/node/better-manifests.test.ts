/** People edit manifests with all kinds of programs, in a hurry, and wrongly: running pods must not suffer for it. */
import assert from 'node:assert/strict';
import { appendFile, copyFile, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { ContainerState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { never, type PodNode, podNode, stays, until } from './pod-support.ts';

const manifest = (name: string, env: string): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [stays('c', { env: [{ name: 'ROUND', value: env }] })],
    },
  });

const BROKEN: Readonly<Record<string, (good: string) => string>> = {
  'half a file': (good) => good.slice(0, good.indexOf('containers:') + 'cont'.length),
  'no YAML': () => 'apiVersion: v1\n  kind: [Pod\n',
  'not a pod': () => 'apiVersion: v1\nkind: Service\nmetadata: {name: a}\n',
  'a pod that is not allowed': (good) => good.replace('name: c', 'name: NOT_ALLOWED'),
  'nothing at all': () => '',
};

test('a broken edit keeps the running pod and is told at once', async (t) => {
  // The files are looked at by the clock so rarely that only a change of them can be what tells.
  const place = await podNode(t, { config: { fileCheckFrequency: '1h' } });
  const path = join(place.node.manifestsDirectory, 'a.yaml');
  const good = manifest('a', 'first');
  await writeFile(path, good);
  const before = await place.running('a', 'c');
  for (const [what, breakIt] of Object.entries(BROKEN)) {
    const told = (await complaints(place)).length;
    await writeFile(path, breakIt(good));
    await until(`${what} is told`, async () => ((await complaints(place)).length > told ? true : undefined));
    await writeFile(path, good);
  }
  // Had any of these ended the pod, it would show by the time that another one is up.
  await place.write('b', { containers: [stays('c')] });
  await place.running('b', 'c');
  assert.equal((await place.running('a', 'c')).id, before.id);
  assert.equal((await place.containers('a')).length, 1);
});

async function complaints({ events }: PodNode): Promise<readonly string[]> {
  return (await events('a')).filter((event) => event.startsWith('FailedValidation: "Invalid manifest '));
}

test('a manifest that is broken when the kubelet starts keeps its pod too', async (t) => {
  const place = await podNode(t);
  const path = await place.write('a', { containers: [stays('c')] });
  const before = await place.running('a', 'c');
  await place.node.kubelet.kill();
  await appendFile(path, '\n{{{ oh no\n');
  await place.node.kubelet.start();
  await place.untilEvent('a', /^FailedValidation: /);
  await place.write('b', { containers: [stays('c')] });
  await place.running('b', 'c');
  assert.equal((await place.running('a', 'c')).id, before.id);
});

test('copies, backups and half-written files of editors change nothing', async (t) => {
  const place = await podNode(t);
  const path = await place.write('a', { containers: [stays('c')] });
  const before = await place.running('a', 'c');
  const beside = (name: string) => join(place.node.manifestsDirectory, name);
  for (const name of ['a.yaml.bak', 'a.yaml~', 'a.yaml.orig', '.a.yaml.swp', 'a.yaml.tmp', '.hidden.yaml']) {
    await copyFile(path, beside(name));
    // As a leftover of an older text it would be another pod of the same name.
    await appendFile(beside(name), '# old\n');
  }
  await writeFile(beside('z.yaml.bak'), manifest('z', 'leftover'));
  // What vim does: the old text moved away, the new one written, the backup removed.
  const text = await readFile(path, 'utf8');
  await rename(path, beside('a.yaml~'));
  await writeFile(path, text);
  await rm(beside('a.yaml~'));
  const half = await open(beside('half.yaml'), 'w');
  await half.write(manifest('half', 'x').slice(0, 60));
  await place.write('b', { containers: [stays('c')] });
  await place.running('b', 'c');
  assert.equal((await place.running('a', 'c')).id, before.id);
  assert.deepEqual(await place.sandboxes('z'), []);
  const log = await readFile(place.node.kubelet.logFile, 'utf8');
  assert.doesNotMatch(log, /Could not process manifest file/);
  await half.write(manifest('half', 'x').slice(60));
  await half.close();
  await place.running('half', 'c');
});

test('a hundred quick edits end in exactly the last one', async (t) => {
  const place = await podNode(t);
  const path = join(place.node.manifestsDirectory, 'a.yaml');
  for (let round = 1; round <= 100; round += 1) {
    // Half of them in place, half of them moved in.
    const target = round % 2 === 0 ? path : join(place.node.world.directory, 'next');
    await writeFile(target, manifest('a', `round-${round}`));
    if (target !== path) await rename(target, path);
  }
  const last = await until('the last one runs', async () => {
    const running = (await place.containers('a')).filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
    assert.ok(running.length <= 1, 'never two at once');
    const [one] = running;
    if (one === undefined) return undefined;
    return (await roundOf(place, one.id)) === 'round-100' ? one : undefined;
  });
  await place.write('b', { containers: [stays('c')] });
  await place.running('b', 'c');
  const left = await until('nothing of the others is left', async () => {
    const sandboxes = await place.sandboxes('a');
    return sandboxes.length === 1 ? sandboxes : undefined;
  });
  assert.equal(left[0]?.id, last.podSandboxId);
  assert.deepEqual(
    (await place.containers('a')).map(({ id }) => id),
    [last.id],
  );
});

async function roundOf({ cri }: PodNode, id: string): Promise<string> {
  const command = ['sh', '-c', 'echo $ROUND'];
  const asked = cri.streams.execSync({ containerId: id, command, timeoutSeconds: 60 }, never);
  // It may be ending: then it is not the last one.
  return await asked.then(
    ({ stdout }) => Buffer.from(stdout).toString().trim(),
    () => 'ended',
  );
}
