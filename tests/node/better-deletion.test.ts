/** A pod that is taken away is gone soon, whatever it was in the middle of. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ContainerState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { busyboxImage } from '../../tools/machine/images.ts';
import { type Image, makeImage } from '../../tools/machine/oci/image.ts';
import { lab } from '../lab/lab.ts';
import { type PodNode, podNode, runs, stays, until } from './pod-support.ts';
import { RUNTIMES } from './runtimes.ts';

/** Mostly half a second. Generous, since others use the machine too: what is not cut off takes longer than that, or for ever. */
const GONE_WITHIN_MS = 60_000;
const RUNNING = ContainerState.CONTAINER_RUNNING;

/** Busybox with a layer that no one has yet. */
async function freshImage(): Promise<Image> {
  const { layers, config } = await busyboxImage();
  const own = [{ kind: 'file', path: 'own', content: randomBytes(300_000) } as const];
  return makeImage({ names: [], layers: [...layers, own], config });
}

async function takeAway(place: PodNode, pod: string, path: string): Promise<number> {
  const began = performance.now();
  await rm(path);
  await place.gone(pod);
  return performance.now() - began;
}

for (const runtime of RUNTIMES) {
  test(`${runtime}: a pod whose image stalls in the middle of a layer goes at once, and the next one pulls`, async (t) => {
    const place = await podNode(t, { runtime, config: { serializeImagePulls: true } });
    const { node, write, containers, sandboxes, running } = place;
    const registry = await lab.registry(node);
    const stalling = await registry.push(await freshImage(), 'app/stalling:1');
    const quick = await registry.push(await freshImage(), 'app/quick:1');
    await registry.setFaults([{ match: 'GET /v2/app/stalling/blobs/', does: { kind: 'stall', afterBytes: 5000 } }]);

    const path = await write('stalled', { containers: [{ ...stays('c'), image: stalling }] });
    await until('the layer stalls', async () => (await registry.requests()).find(({ fault }) => fault === 'stall'));
    const [sandbox] = await sandboxes('stalled');
    const uid = sandbox?.metadata?.uid ?? '';
    await write('next', { containers: [{ ...stays('c'), image: quick }] });
    await place.untilEvent('next', /^Pulling: /);
    const asked = async () =>
      (await registry.requests()).some(({ path: wanted }) => wanted.includes('/app/quick/blobs/'));
    assert.equal(await asked(), false, 'one pull at a time');

    const began = performance.now();
    const took = await takeAway(place, 'stalled', path);
    await running('next', 'c');
    const next = performance.now() - began;
    t.diagnostic(`gone after ${took.toFixed(0)} ms; the next one ran after ${next.toFixed(0)} ms`);
    assert.ok(took < GONE_WITHIN_MS, `gone after ${took} ms`);
    await until('its directory is gone', () =>
      existsSync(join(node.kubeletDirectory, 'pods', uid)) ? undefined : true,
    );

    // Whatever was left to come of it had time while yet another pod came up with the registry well again.
    await registry.setFaults([]);
    await write('later', { containers: [stays('c')] });
    await running('later', 'c');
    assert.deepEqual([...(await containers('stalled')), ...(await sandboxes('stalled'))], []);
    const events = await place.events('stalled');
    assert.ok(!events.some((event) => /^(Created|Started|Failed|BackOff)/.test(event)), events.join('\n'));
  });
}

test('a postStart hook that hangs does not hold up the end of its pod', async (t) => {
  const place = await podNode(t);
  const hooks = [
    { exec: { command: ['sleep', '300'] } },
    { sleep: { seconds: 300 } },
    { httpGet: { port: 81, host: '192.0.2.99' } },
  ];
  for (const [index, hook] of hooks.entries()) {
    const name = `hook${index}`;
    const path = await place.write(name, {
      terminationGracePeriodSeconds: 300,
      containers: [stays('c', { lifecycle: { postStart: hook } })],
    });
    await until('the container is there', async () =>
      (await place.containers(name, 'c')).find(({ state }) => state === RUNNING),
    );
    const took = await takeAway(place, name, path);
    t.diagnostic(`${Object.keys(hook)[0]}: gone after ${took.toFixed(0)} ms`);
    assert.ok(took < GONE_WITHIN_MS, `${Object.keys(hook)[0]}: gone after ${took} ms`);
  }
});

test('a pod with a preStop hook that hangs has its grace and no more', async (t) => {
  const place = await podNode(t);
  const path = await place.write('slow', {
    terminationGracePeriodSeconds: 2,
    containers: [stays('c', { lifecycle: { preStop: { exec: { command: ['sleep', '300'] } } } })],
  });
  await place.running('slow', 'c');
  const took = await takeAway(place, 'slow', path);
  assert.ok(took > 1900 && took < GONE_WITHIN_MS, `gone after ${took} ms`);
});

/** A failed liveness probe gives a container its own, long time to end; the pod that goes meanwhile has a short one. */
const FAILS_SOON = {
  exec: { command: ['false'] },
  periodSeconds: 1,
  failureThreshold: 1,
  terminationGracePeriodSeconds: 120,
};

for (const [what, container] of [
  ['during preStop', stays('c', { lifecycle: { preStop: { exec: { command: ['sleep', '300'] } } } })],
  ['after SIGTERM', runs('c', `trap '' TERM; while true; do sleep 0.05; done`)],
] as const) {
  test(`a shortened grace period counts at once, ${what}`, async (t) => {
    const place = await podNode(t);
    const path = await place.write('short', {
      terminationGracePeriodSeconds: 1,
      containers: [{ ...container, livenessProbe: FAILS_SOON }],
    });
    await place.running('short', 'c');
    await place.untilEvent('short', /^Killing: .*failed liveness probe/);
    const took = await takeAway(place, 'short', path);
    t.diagnostic(`gone after ${took.toFixed(0)} ms`);
    assert.ok(took > 800 && took < GONE_WITHIN_MS, `gone after ${took} ms`);
  });
}
