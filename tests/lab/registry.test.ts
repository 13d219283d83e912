/** The lab's registry: pulls through CRI as a kubelet does them, with passwords and with faults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSystemClock } from '../../src/base/clock.ts';
import { type CriClient, createCriClient } from '../../src/runtime/cri/client.ts';
import { makeImage } from '../../tools/machine/oci/image.ts';
import { RUNTIMES } from '../node/runtimes.ts';
import { type LabNode, lab } from './lab.ts';
import { ACCOUNTS } from './registry.ts';

const LAYER_BYTES = 400_000;

/** Content that no other image here has, so that nothing is there already when it is pulled. */
const imageOf = (letter: string) =>
  makeImage({
    names: [],
    layers: [[{ kind: 'file', path: 'data', content: Buffer.alloc(LAYER_BYTES, letter) }]],
    config: { Cmd: ['/data'] },
  });

const criOf = (node: LabNode): CriClient =>
  createCriClient({ endpoint: node.containerd.endpoint, clock: createSystemClock() });

const never = new AbortController().signal;

for (const runtime of RUNTIMES) {
  test(`${runtime} pulls what was pushed, with the right password only`, async (t) => {
    await using node = await lab.node({ test: t, runtime, kubelet: 'none' });
    const cri = criOf(node);
    const registry = await lab.registry(node, { auth: true });
    const name = await registry.push(imageOf('a'), 'team/app:1');
    assert.equal(name, 'localhost:5000/team/app:1');

    await assert.rejects(cri.images.pull({ image: { image: name } }, never), /authoriz|401/i);
    const [{ user: username, password }] = ACCOUNTS;
    await assert.rejects(cri.images.pull({ image: { image: name }, auth: { username, password: 'wrong' } }, never));
    await cri.images.pull({ image: { image: name }, auth: { username, password } }, never);
    assert.ok((await cri.images.status({ image: name }, {}, never))?.image !== undefined);
    await registry.serveAs('images.example.com');
    const alias = 'images.example.com/team/app:1';
    await cri.images.pull({ image: { image: alias }, auth: { username, password } }, never);
    assert.ok((await cri.images.status({ image: alias }, {}, never))?.image?.repoTags.includes(alias));
    assert.ok((await registry.requests()).some((seen) => seen.user === username && seen.status === 200));
    await cri.close();
  });

  test(`${runtime} meets the faults that a test asks for`, async (t) => {
    await using node = await lab.node({ test: t, runtime, kubelet: 'none' });
    const cri = criOf(node);
    const registry = await lab.registry(node);
    const blobs = 'GET /v2/app/blobs/';
    const pull = async (letter: string, signal = never) => {
      const image = await registry.push(imageOf(letter), `app:${letter}`);
      return await cri.images.pull({ image: { image } }, signal);
    };

    await registry.setFaults([{ match: 'manifests', does: { kind: 'status', status: 500 } }]);
    await assert.rejects(pull('b'), /500/);

    await registry.setFaults([{ match: blobs, does: { kind: 'cut', afterBytes: 1000 } }]);
    await assert.rejects(pull('c'));
    assert.ok((await registry.requests()).some((seen) => seen.fault === 'cut'));

    await registry.setFaults([{ match: blobs, does: { kind: 'slow', bytesPerSecond: LAYER_BYTES } }]);
    const begun = performance.now();
    await pull('d');
    assert.ok(performance.now() - begun > 900, 'a layer at this speed takes a second');

    await registry.setFaults([{ match: blobs, does: { kind: 'stall', afterBytes: 1000 } }]);
    const patience = new AbortController();
    const stalled = pull('e', patience.signal);
    const outcome = Promise.race([stalled, new Promise((resolve) => setTimeout(resolve, 1500, 'still waiting'))]);
    assert.equal(await outcome, 'still waiting');
    patience.abort(new Error('gave up'));
    await assert.rejects(stalled, /gave up/);

    await registry.setFaults([]);
    await pull('f');
    await cri.close();
  });
}
