/** Images on real containerd from a real registry: policies, limits, cancelled and shared pulls, back-off. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseDuration } from '../../src/api/duration.ts';
import { lab } from '../lab/lab.ts';
import { eventually, labNode, never } from './cri-support.ts';
import { imageOf, openImages, RELAXED, requestFor } from './images-support.ts';
import { RUNTIMES } from './runtimes.ts';

const LAYER_BYTES = 400_000;
const LONG_LAYER_BYTES = 4_000_000;
const blobsOf = (repository: string) => `GET /v2/${repository}/blobs/`;

for (const runtime of RUNTIMES) {
  test(`${runtime}: an image is pulled once, told about, and found again`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const registry = await lab.registry(node);
    const { images, events, rootDirectory } = await openImages(t, cri);
    const name = await registry.push(imageOf('first'), 'app/first:1');
    const ensure = (policy: 'Always' | 'IfNotPresent' | 'Never', image = name) =>
      images.ensure({ ...requestFor(image, { imagePullPolicy: policy }), signal: never });

    const absent = await ensure('Never');
    assert.ok(absent.kind === 'waiting');
    assert.equal(absent.reason, 'ErrImageNeverPull');
    assert.deepEqual(events.splice(0), [
      `Warning ErrImageNeverPull Container image "${name}" is not present with pull policy of Never`,
    ]);

    const pulled = await ensure('IfNotPresent');
    assert.ok(pulled.kind === 'ready', JSON.stringify(pulled));
    assert.match(pulled.imageRef, /^sha256:[0-9a-f]{64}$/);
    assert.deepEqual(pulled.user, { uid: 1000, username: '' });
    const [begun, done] = events.splice(0);
    assert.equal(begun, `Normal Pulling Pulling image "${name}"`);
    assert.match(
      done ?? '',
      /^Normal Pulled Successfully pulled image "localhost:5000\/app\/first:1" in [\d.]+m?s \([\d.]+m?s including waiting\)\. Image size: \d+ bytes\.$/,
    );

    for (const policy of ['IfNotPresent', 'Never'] as const) assert.deepEqual(await ensure(policy), pulled);
    const present = `Normal Pulled Container image "${name}" already present on machine and can be accessed by the pod`;
    assert.deepEqual(events.splice(0), [present, present]);

    assert.deepEqual(await ensure('Always'), pulled);
    assert.equal(events.splice(0).length, 2);

    const directory = join(rootDirectory, 'image_manager');
    assert.deepEqual(await readdir(join(directory, 'pulling')), []);
    const [file = ''] = await readdir(join(directory, 'pulled'));
    const record = JSON.parse(await readFile(join(directory, 'pulled', file), 'utf8'));
    assert.equal(record.imageRef, pulled.imageRef);
    assert.deepEqual(record.credentialMapping, { 'localhost:5000/app/first': { nodePodsAccessible: true } });
  });

  test(`${runtime}: a registry that fails leads to back-off, and to the image once it works`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const registry = await lab.registry(node);
    const { images, events } = await openImages(t, cri);
    const name = await registry.push(imageOf('flaky'), 'app/flaky:1');
    await registry.setFaults([{ match: 'manifests', does: { kind: 'status', status: 500 } }]);
    const request = requestFor(name);
    const begun = Date.now();
    const failed = await images.ensure({ ...request, signal: never });
    const ended = Date.now();
    assert.ok(failed.kind === 'waiting');
    assert.equal(failed.reason, 'ErrImagePull');
    assert.match(
      failed.message,
      /failed to (?:pull and unpack|resolve).*localhost:5000\/app\/flaky:1.*500 Internal Server Error/,
    );
    assert.doesNotMatch(failed.message, /rpc error/);
    assert.deepEqual(events.splice(0), [
      `Normal Pulling Pulling image "${name}"`,
      `Warning Failed Failed to pull image "${name}": ${failed.message}`,
    ]);

    await registry.setFaults([]);
    const waiting = await images.ensure({ ...request, signal: never });
    assert.ok(waiting.kind === 'waiting');
    assert.equal(waiting.reason, 'ImagePullBackOff');
    assert.equal(waiting.message, `Back-off pulling image "${name}": ErrImagePull: ${failed.message}`);
    const wait = waiting.retryAt - 10_000;
    assert.ok(wait >= begun && wait <= ended, `${wait} is not from ${begun} to ${ended}`);
    assert.deepEqual(events.splice(0), [`Normal BackOff Back-off pulling image "${name}"`]);

    const other = await images.ensure({ ...requestFor(name), signal: never });
    assert.equal(other.kind, 'ready', 'the back-off of one pod is not that of another');
    assert.equal((await images.ensure({ ...request, signal: never })).kind, 'ready', 'it is there: no need to wait');
  });

  test(`${runtime}: a pull that is not wanted any more ends at once and gives its turn to the next`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const registry = await lab.registry(node);
    const { images, rootDirectory, events } = await openImages(t, cri);
    const stalling = await registry.push(imageOf('stalling', LAYER_BYTES), 'app/stalling:1');
    const quick = await registry.push(imageOf('quick'), 'app/quick:1');
    await registry.setFaults([{ match: blobsOf('app/stalling'), does: { kind: 'stall', afterBytes: 1000 } }]);

    const controller = new AbortController();
    const stalled = images.ensure({ ...requestFor(stalling), signal: controller.signal });
    stalled.catch(() => undefined); // looked at below
    await eventually('the pull stalls', async () => (await registry.requests()).find((seen) => seen.fault === 'stall'));
    const next = images.ensure({ ...requestFor(quick), signal: never });
    await eventually('it is reported while it waits for its turn', () =>
      events.at(-1) === `Normal Pulling Pulling image "${quick}"` ? true : undefined,
    );
    assert.equal(await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 300, 'waits'))]), 'waits');

    controller.abort(new Error('the pod was deleted'));
    await assert.rejects(stalled, /the pod was deleted/);
    assert.equal((await next).kind, 'ready');
    const [, pulled = '', waited = ''] = / in (\S+) \((\S+) including waiting\)/.exec(events.at(-1) ?? '') ?? [];
    const [pull, wait] = [pulled, waited].map(parseDuration).map((time) => (time.ok ? time.value : Number.NaN));
    // It waited for 300 ms at least.
    assert.ok((wait ?? 0) - (pull ?? 0) >= 100, `the wait for the turn counts: ${events.at(-1)}`);
    assert.equal((await cri.images.status({ image: stalling }, {}, never)).image, undefined);
    const intents = await readdir(join(rootDirectory, 'image_manager', 'pulling'));
    assert.equal(intents.length, 1, 'no one knows whether the runtime finished it');
  });

  test(`${runtime}: pods that want the same image share one pull, and leave it one by one`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const registry = await lab.registry(node);
    const { images } = await openImages(t, cri, { pulls: { ...RELAXED.pulls, atOnce: undefined } });
    const image = imageOf('shared', LAYER_BYTES);
    const layer = image.layers[0]?.digest ?? '';
    const name = await registry.push(image, 'app/shared:1');
    await registry.setFaults([{ match: blobsOf('app/shared'), does: { kind: 'slow', bytesPerSecond: LAYER_BYTES } }]);
    const leaving = new AbortController();
    const requests = [never, leaving.signal, never].map((signal) => images.ensure({ ...requestFor(name), signal }));
    leaving.abort(new Error('left'));
    const [one, gone, two] = await Promise.allSettled(requests);
    assert.equal(gone?.status, 'rejected');
    assert.ok(one?.status === 'fulfilled' && two?.status === 'fulfilled');
    assert.equal(one.value.kind, 'ready');
    assert.deepEqual(one.value, two.value);
    const asked = (await registry.requests()).filter(({ method, path }) => method === 'GET' && path.includes(layer));
    assert.equal(asked.length, 1);
  });
}

for (const runtime of RUNTIMES) {
  test(`${runtime}: how far a pull is, told apart from another one`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const registry = await lab.registry(node);
    assert.deepEqual(await cri.downloads.of('localhost:5000/app/long', never), []);
    const controller = new AbortController();
    const names: string[] = [];
    for (const letter of ['long', 'other'])
      names.push(await registry.push(imageOf(letter, LONG_LAYER_BYTES), `app/${letter}:1`));
    await registry.setFaults([{ match: 'GET .*/blobs/', does: { kind: 'stall', afterBytes: 3_000_000 } }]);
    const pulls = names.map((image) => cri.images.pull({ image: { image } }, controller.signal).catch(() => undefined));
    const downloads = await eventually('a part of the layer has come', async () => {
      const found = await cri.downloads.of('localhost:5000/app/long', never);
      return found !== undefined && (found[0]?.receivedBytes ?? 0) > 0 ? found : undefined;
    });
    assert.equal(downloads.length, 1, 'not the one of the other image');
    const [{ receivedBytes, totalBytes } = { receivedBytes: 0, totalBytes: 0 }] = downloads;
    assert.ok(receivedBytes <= 3_000_000 && totalBytes > LONG_LAYER_BYTES, `${receivedBytes} of ${totalBytes}`);
    assert.deepEqual(await cri.downloads.of('localhost:5000/app/absent', never), []);
    controller.abort(new Error('seen enough'));
    await Promise.all(pulls);
  });
}

test('as many pulls side by side as are allowed, then in order of priority', async (t) => {
  const { node, cri } = await labNode(t, 'containerd-2.4');
  const registry = await lab.registry(node);
  const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const names = new Map<string, string>();
  for (const letter of letters) names.set(letter, await registry.push(imageOf(letter, LAYER_BYTES), `app/${letter}:1`));
  const asked = async () => {
    const paths = (await registry.requests()).map(({ path }) => path);
    return letters.filter((letter) => paths.some((path) => path.startsWith(`/v2/app/${letter}/`)));
  };
  const askedFor = (count: number) =>
    eventually(`${count} pulls have begun`, async () => ((await asked()).length === count ? true : undefined));
  const { images } = await openImages(t, cri, { pulls: { ...RELAXED.pulls, atOnce: 3 } });
  const begin = (letter: string, priority = 0) => {
    const controller = new AbortController();
    const request = requestFor(names.get(letter) ?? '', {}, { priority });
    const done = images.ensure({ ...request, signal: controller.signal }).catch(() => undefined);
    return { done, leave: () => controller.abort(new Error('left')) };
  };
  await registry.setFaults([{ match: 'GET .*/blobs/', does: { kind: 'stall', afterBytes: 1000 } }]);
  const first = ['a', 'b', 'c'].map((letter) => begin(letter));
  await askedFor(3);
  const rest = [begin('d', 1), begin('e', 10), begin('f', 2_000_000_000), begin('g', -5)];
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.deepEqual(await asked(), ['a', 'b', 'c'], 'the others wait, however important they are');
  first[0]?.leave();
  await askedFor(4);
  assert.deepEqual(await asked(), ['a', 'b', 'c', 'f']);
  first[1]?.leave();
  await askedFor(5);
  assert.deepEqual(await asked(), ['a', 'b', 'c', 'e', 'f']);
  for (const pull of [...first, ...rest]) pull.leave();
  await Promise.all([...first, ...rest].map(({ done }) => done));
});

test('registryPullQPS: pulls beyond the burst wait for their turn instead of failing', async (t) => {
  const { node, cri } = await labNode(t, 'containerd-2.4');
  const registry = await lab.registry(node);
  const { images, events } = await openImages(t, cri, { pulls: { atOnce: undefined, qps: 2, burst: 1 } });
  const names = await Promise.all(['x', 'y', 'z'].map((letter) => registry.push(imageOf(letter), `app/${letter}:1`)));
  const begun = performance.now();
  const answers = await Promise.all(names.map((name) => images.ensure({ ...requestFor(name), signal: never })));
  assert.deepEqual(new Set(answers.map(({ kind }) => kind)), new Set(['ready']));
  assert.ok(performance.now() - begun >= 990, 'the third had to wait a second');
  assert.equal(events.filter((event) => event.startsWith('Warning')).length, 0);
});

test('while the runtime is away nothing is held against the pod', async (t) => {
  const { node, cri } = await labNode(t, 'containerd-2.4');
  const registry = await lab.registry(node);
  const { images, events } = await openImages(t, cri);
  const name = await registry.push(imageOf('away'), 'app/away:1');
  await registry.setFaults([{ match: blobsOf('app/away'), does: { kind: 'stall', afterBytes: 10 } }]);
  const request = requestFor(name);
  const cutOff = images.ensure({ ...request, signal: never });
  cutOff.catch(() => undefined); // looked at below
  await eventually('the pull stalls', async () => (await registry.requests()).find((seen) => seen.fault === 'stall'));
  node.containerd.kill('SIGKILL');
  await assert.rejects(cutOff, (error: Error & { code?: string }) => error.code === 'unavailable');
  await assert.rejects(
    images.ensure({ ...request, signal: never }),
    (error: Error & { code?: string }) => error.code === 'unavailable',
  );
  await node.containerd.restart();
  await registry.setFaults([]);
  assert.equal((await images.ensure({ ...request, signal: never })).kind, 'ready');
  assert.equal(events.filter((event) => event.startsWith('Warning')).length, 0);
});
