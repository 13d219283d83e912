import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { CodedError } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { KubeRequest } from '../kube/kube.ts';
import { createMirrors } from './mirrors.ts';

const POD: Pod = {
  metadata: {
    name: 'web-node',
    namespace: 'default',
    uid: 'static-uid',
    annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'static-uid' },
  },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** One static pod that runs, and an API server that may be away. */
async function world() {
  const clock = createManualClock(1_000_000);
  const requests: KubeRequest[] = [];
  const life = new AbortController();
  let away = false;
  const mirrors = createMirrors({
    clock,
    supervisor: createTestSupervisor(clock),
    log: createSilentLogger(),
    client: {
      request: <Answer>(request: KubeRequest) => {
        requests.push(request);
        if (away) return Promise.reject(new CodedError('unavailable', 'connection refused'));
        const { metadata } = request.body as Pod;
        return Promise.resolve({ ...POD, metadata: { ...metadata, uid: `made-${requests.length}` } } as Answer);
      },
    },
    pods: {
      views: () => [{ pod: POD, step: 'syncing', deleted: false }] as never,
      desired: () => ({ pods: [POD], everySourceHeard: true }) as never,
    },
    node: () => ({ name: 'node', uid: 'node-uid' }),
    onMade: () => undefined,
    random: () => 0.999,
  });
  await mirrors.start(life.signal);
  const deleted = async () => {
    mirrors.setMirrors([]);
    await settled();
  };
  const stop = async () => {
    life.abort('stopped');
    await mirrors.stop?.();
  };
  return { clock, requests, mirrors, deleted, stop, setAway: (value: boolean) => (away = value) };
}

test('a mirror pod that is deleted is created again at once twice, then with growing delays', async () => {
  const { clock, requests, deleted, stop } = await world();
  for (const made of [1, 2, 3]) {
    await deleted();
    assert.equal(requests.length, made);
  }
  await deleted();
  await clock.advance(999);
  await settled();
  assert.equal(requests.length, 3, 'another process keeps deleting it');
  await clock.advance(1);
  await settled();
  assert.equal(requests.length, 4);
  await stop();
});

test('what failed is retried after a back-off, and at once when the API server is back', async () => {
  const { clock, requests, mirrors, deleted, stop, setAway } = await world();
  setAway(true);
  await deleted();
  for (const wait of [200, 400, 800, 1600, 3200]) {
    await clock.advance(wait);
    await settled();
  }
  assert.equal(requests.length, 6);
  setAway(false);
  mirrors.retry();
  await settled();
  await settled();
  assert.equal(requests.length, 7);
  await stop();
});
