import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { PodPhase, PodStatus } from '../api/pod-status.ts';
import { CodedError } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { KubeClient, KubeRequest } from '../kube/kube.ts';
import { createPublisher, type Publisher } from './publisher.ts';

type Fault = CodedError | 'hold';

/** An API server with a few pods: it merges as far as these tests need it, counts versions, and fails where a test says so. */
function createServer() {
  const pods = new Map<string, Pod>();
  const requests: KubeRequest[] = [];
  const held: (() => void)[] = [];
  const faults: Fault[] = [];
  let version = 100;
  let down = false;

  const answer = (request: KubeRequest): Pod => {
    const name = request.path.split('/')[6] ?? '';
    const pod = pods.get(name);
    if (pod === undefined) throw new CodedError('notFound', `pods "${name}" not found`, { data: { httpStatus: 404 } });
    version += 1;
    const { metadata: given, status } = (request.body ?? {}) as { metadata?: { uid: string }; status?: PodStatus };
    if (request.method === 'DELETE') {
      pods.delete(name);
      return pod;
    }
    if (given?.uid !== pod.metadata.uid) {
      throw new CodedError('conflict', 'Precondition failed: UID', { data: { httpStatus: 409 } });
    }
    const next = {
      ...pod,
      metadata: { ...pod.metadata, resourceVersion: String(version) },
      status: { ...pod.status, ...status },
    };
    pods.set(name, next);
    return next;
  };

  const client: KubeClient = {
    request: async <Answer>(request: KubeRequest): Promise<Answer> => {
      requests.push(request);
      if (down) throw new CodedError('unavailable', 'connection refused');
      const fault = faults.shift();
      if (fault === 'hold') await new Promise<void>((resolve) => held.push(resolve));
      else if (fault !== undefined) throw fault;
      return answer(request) as Answer;
    },
  };
  return {
    client,
    requests,
    faults,
    pods,
    add: (pod: Pod) => pods.set(pod.metadata.name, pod),
    release: () => held.splice(0).forEach((resolve) => void resolve()),
    setDown: (value: boolean) => {
      down = value;
    },
    phasesSent: () => requests.map(({ body }) => (body as { status?: PodStatus }).status?.phase).filter(Boolean),
  };
}

const podOf = (name: string, more: Partial<Pod['metadata']> = {}, status: PodStatus = {}): Pod => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '50', ...more },
  spec: { containers: [] },
  status,
});

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function world(...pods: readonly Pod[]) {
  const server = createServer();
  const clock = createManualClock(1_000_000);
  const publisher: Publisher = createPublisher({
    clock,
    supervisor: createTestSupervisor(clock),
    log: createSilentLogger(),
    client: server.client,
    random: () => 0.5,
  });
  const living = new AbortController();
  void publisher.start(living.signal);
  for (const pod of pods) server.add(pod);
  publisher.listener.replaced(pods);
  const publish = (name: string, phase: PodPhase) =>
    publisher.publish({ uid: podUid(`uid-${name}`), status: { phase } });
  const stop = () => {
    living.abort(new Error('stopped'));
    return publisher.stop?.();
  };
  return { server, clock, publisher, publish, stop };
}

describe('the status publisher', () => {
  test('writes a change at once, as a patch that names the pod it is meant for', async () => {
    const { server, publish } = world(podOf('a'));
    publish('a', 'Running');
    await settled();
    assert.deepEqual(server.requests, [
      {
        method: 'PATCH',
        path: '/api/v1/namespaces/default/pods/a/status',
        patch: 'strategic',
        body: { metadata: { uid: 'uid-a' }, status: { phase: 'Running' } },
        timeoutMs: 15_000,
        urgent: true,
      },
    ]);
  });

  test('says when the API server has the newest status of pods, and does not wait for what it does not know', async () => {
    const { server, publish, publisher } = world(podOf('a'), podOf('b'));
    const log: string[] = [];
    const wait = (...names: readonly string[]) =>
      publisher
        .untilSent(
          names.map((name) => podUid(`uid-${name}`)),
          new AbortController().signal,
        )
        .then(() => log.push(names.join(' ')));
    server.faults.push('hold');
    publish('a', 'Failed');
    publish('unknown', 'Failed');
    void wait('a', 'b');
    void wait('b', 'unknown');
    await settled();
    assert.deepEqual(log, ['b unknown']);
    server.release();
    for (let turn = 0; turn < 5; turn += 1) await settled();
    assert.deepEqual(log, ['b unknown', 'a b']);
  });

  test('a pod that only waits is not urgent', async () => {
    const { server, publish } = world(podOf('a'));
    publish('a', 'Pending');
    await settled();
    assert.equal(server.requests[0]?.urgent, undefined);
  });

  test('writes nothing that the API server already has, and never reads', async () => {
    const { server, publish, publisher } = world(podOf('a', {}, { phase: 'Running' }));
    publish('a', 'Running');
    await settled();
    publisher.listener.changed(podOf('a', { resourceVersion: '51', labels: { x: 'y' } }, { phase: 'Running' }));
    await settled();
    assert.deepEqual(server.requests, []);
  });

  test('has one write under way for a pod, and then only the newest', async () => {
    const { server, publish } = world(podOf('a'));
    server.faults.push('hold');
    for (const phase of ['Running', 'Pending', 'Failed', 'Succeeded'] as const) publish('a', phase);
    await settled();
    assert.deepEqual(server.phasesSent(), ['Running']);
    server.release();
    await settled();
    await settled();
    assert.deepEqual(server.phasesSent(), ['Running', 'Succeeded']);
  });

  test('writes a moment later that a new pod waits, unless its status changes before', async () => {
    const { server, clock, publish } = world(podOf('a'), podOf('b'));
    publish('a', 'Pending');
    publish('b', 'Pending');
    await settled();
    assert.deepEqual(server.phasesSent(), []);
    publish('b', 'Running');
    await settled();
    assert.deepEqual(server.phasesSent(), ['Running']);
    await clock.advance(30);
    await settled();
    assert.deepEqual(server.phasesSent(), ['Running', 'Pending']);
  });

  test('does not wait for one pod with another', async () => {
    const { server, publish } = world(podOf('a'), podOf('b'));
    server.faults.push('hold');
    publish('a', 'Running');
    publish('b', 'Running');
    await settled();
    assert.equal(server.pods.get('b')?.status?.phase, 'Running');
    assert.deepEqual(server.pods.get('a')?.status, {});
    server.release();
  });

  test('ignores versions that are older than the answer to its own write', async () => {
    const { server, publish, publisher } = world(podOf('a'));
    publish('a', 'Running');
    await settled();
    publisher.listener.changed(podOf('a', { resourceVersion: '60' }, { phase: 'Pending' }));
    await settled();
    assert.equal(server.requests.length, 1);
  });

  test('corrects what another client overwrote, once, also where versions went back', async () => {
    const { server, publish, publisher } = world(podOf('a'));
    publish('a', 'Running');
    await settled();
    server.add(podOf('a', { resourceVersion: '200' }, { phase: 'Unknown' }));
    publisher.listener.changed(podOf('a', { resourceVersion: '200' }, { phase: 'Unknown' }));
    await settled();
    assert.deepEqual(server.phasesSent(), ['Running', 'Running']);
  });

  test('writes less and less often against a client that keeps overwriting it, and a new status at once', async () => {
    const { server, publisher, publish, clock } = world(podOf('a'));
    publish('a', 'Running');
    await settled();
    let version = 1000;
    const overwrite = async () => {
      version += 1;
      publisher.listener.changed(podOf('a', { resourceVersion: String(version) }, { phase: 'Pending' }));
      await settled();
    };
    await overwrite();
    assert.equal(server.requests.length, 2, 'once at once');
    for (const wait of [1000, 2000, 4000, 8000, 10_000]) {
      const before: number = server.requests.length;
      await overwrite();
      await overwrite();
      await clock.advance(wait - 1);
      await settled();
      assert.equal(server.requests.length, before, `before ${wait} ms are over`);
      await clock.advance(1);
      await settled();
      assert.equal(server.requests.length, before + 1, `after ${wait} ms`);
    }
    await overwrite();
    publish('a', 'Succeeded');
    await settled();
    assert.equal(server.phasesSent().at(-1), 'Succeeded');
  });

  test('does not write again where the API server makes something else of it', async () => {
    const { server, publish, publisher } = world(podOf('a'));
    const stubborn: KubeClient['request'] = (request) => {
      server.requests.push(request);
      return Promise.resolve(podOf('a', { resourceVersion: '70' }, { phase: 'Unknown' }) as never);
    };
    Object.assign(server.client, { request: stubborn });
    publish('a', 'Running');
    await settled();
    publisher.listener.changed(podOf('a', { resourceVersion: '71', labels: { x: 'y' } }, { phase: 'Unknown' }));
    await settled();
    assert.equal(server.requests.length, 1);
  });

  test('writes nothing of a pod that the API server has not, and all when it has', async () => {
    const { server, publish, publisher } = world();
    publish('a', 'Running');
    await settled();
    assert.deepEqual(server.requests, []);
    server.add(podOf('a'));
    publisher.listener.changed(podOf('a'));
    await settled();
    assert.deepEqual(server.phasesSent(), ['Running']);
  });
});

describe('writes that fail', () => {
  const busy = () => new CodedError('unavailable', 'etcd is slow', { data: { httpStatus: 500 } });
  const conflict = () => new CodedError('conflict', 'modified', { data: { httpStatus: 409 } });

  for (const [name, fault] of [
    ['an answer of 500', busy],
    ['a conflict', conflict],
  ] as const) {
    test(`${name} is tried again, later each time, with the newest status`, async () => {
      const { server, clock, publish } = world(podOf('a'));
      server.faults.push(fault(), fault());
      publish('a', 'Running');
      await settled();
      publish('a', 'Failed');
      await settled();
      assert.equal(server.requests.length, 1, 'it waits before it tries again');
      await clock.advance(100);
      await settled();
      assert.equal(server.requests.length, 2);
      await clock.advance(100);
      await settled();
      assert.equal(server.requests.length, 2);
      await clock.advance(100);
      await settled();
      assert.deepEqual(server.phasesSent(), ['Running', 'Failed', 'Failed']);
      assert.equal(server.pods.get('a')?.status?.phase, 'Failed');
    });
  }

  test('a failure with one pod does not delay others', async () => {
    const { server, publish } = world(podOf('a'), podOf('b'));
    server.faults.push(busy());
    publish('a', 'Running');
    await settled();
    publish('b', 'Running');
    await settled();
    assert.equal(server.pods.get('b')?.status?.phase, 'Running');
  });

  test('an API server that is away is asked by one pod at a time; when it is back all are written', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    const { server, clock, publish } = world(...names.map((name) => podOf(name)));
    server.setDown(true);
    for (const name of names) publish(name, 'Running');
    await settled();
    const first = server.requests.length;
    for (let second = 0; second < 60; second += 1) await clock.advance(1000);
    const tries = server.requests.length - first;
    assert.ok(tries >= 55 && tries <= 80, `${tries} tries in a minute`);
    for (const name of names) publish(name, 'Running');
    for (const name of names.slice(0, 10)) publish(name, 'Succeeded');
    server.setDown(false);
    server.requests.length = 0;
    await clock.advance(1000);
    for (let turn = 0; turn < 3; turn += 1) await settled();
    const phases = names.map((name) => server.pods.get(name)?.status?.phase);
    assert.deepEqual(phases, [...Array(10).fill('Succeeded'), ...Array(10).fill('Running')]);
    assert.equal(server.requests.length, 20, 'one write for each');
  });

  test('a list from the watch shows that it is back', async () => {
    const { server, publish, publisher } = world(podOf('a'));
    server.setDown(true);
    publish('a', 'Running');
    await settled();
    server.setDown(false);
    publisher.listener.replaced([podOf('a')]);
    await settled();
    assert.equal(server.pods.get('a')?.status?.phase, 'Running');
  });

  test('what was refused is not written again soon, unless there is a newer status', async () => {
    const { server, clock, publish } = world(podOf('a'));
    for (let index = 0; index < 12; index += 1) {
      server.faults.push(new CodedError('invalid', 'no', { data: { httpStatus: 422 } }));
    }
    publish('a', 'Pending');
    for (let second = 0; second < 60; second += 1) await clock.advance(1000);
    const tries = server.requests.length;
    assert.ok(tries >= 6 && tries <= 12, `${tries} tries in a minute`);
    server.faults.length = 0;
    publish('a', 'Running');
    await settled();
    assert.equal(server.pods.get('a')?.status?.phase, 'Running');
  });

  test('a pod that is gone is not written again', async () => {
    const { server, clock, publish } = world(podOf('a'));
    server.pods.clear();
    publish('a', 'Running');
    await settled();
    publish('a', 'Succeeded');
    await clock.advance(60_000);
    assert.equal(server.requests.length, 1);
  });

  test('a namesake is never written to', async () => {
    const { server, clock, publish, publisher } = world(podOf('a'));
    server.add(podOf('a', { uid: 'uid-other' }));
    publish('a', 'Running');
    await settled();
    publisher.listener.removed(podOf('a'));
    publisher.listener.changed(podOf('a', { uid: 'uid-other' }));
    await clock.advance(60_000);
    assert.deepEqual(server.pods.get('a')?.status, {});
  });
});

describe('the end of a pod', () => {
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 2 };

  test('its object is deleted when its last status is written and nothing of it is left', async () => {
    const { server, publish, publisher } = world(podOf('a', going));
    server.faults.push('hold');
    publish('a', 'Succeeded');
    publisher.finish(podUid('uid-a'));
    await settled();
    assert.deepEqual(
      server.requests.map(({ method }) => method),
      ['PATCH'],
    );
    server.release();
    await settled();
    await settled();
    assert.deepEqual(server.requests[1], {
      method: 'DELETE',
      path: '/api/v1/namespaces/default/pods/a',
      body: { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: 'uid-a' } },
      timeoutMs: 15_000,
    });
  });

  test('only one that is being deleted', async () => {
    const { server, publisher } = world(podOf('a'));
    publisher.finish(podUid('uid-a'));
    await settled();
    assert.deepEqual(server.requests, []);
  });

  test('once, though a finalizer keeps the object', async () => {
    const { server, publisher } = world(podOf('a', going));
    publisher.finish(podUid('uid-a'));
    await settled();
    publisher.listener.changed(podOf('a', { ...going, deletionGracePeriodSeconds: 0, resourceVersion: '300' }));
    await settled();
    assert.equal(server.requests.length, 1);
  });

  test('retried until it succeeds', async () => {
    const { server, clock, publisher } = world(podOf('a', going));
    server.setDown(true);
    publisher.finish(podUid('uid-a'));
    for (let second = 0; second < 5; second += 1) await clock.advance(1000);
    server.setDown(false);
    await clock.advance(1000);
    await settled();
    assert.equal(server.pods.size, 0);
  });
});

describe('the mirror of a static pod', () => {
  const mirror = (uid: string, hash: string) =>
    podOf('s', { uid, annotations: { 'kubernetes.io/config.mirror': hash }, resourceVersion: '1' });

  test('has the status of its pod, and so has the one that takes its place', async () => {
    const { server, publisher, publish } = world();
    publish('s', 'Running');
    server.add(mirror('m1', 'uid-s'));
    publisher.learn(mirror('m1', 'uid-s'));
    await settled();
    assert.equal(server.pods.get('s')?.status?.phase, 'Running');
    publisher.listener.removed(mirror('m1', 'uid-s'));
    server.add(mirror('m2', 'uid-s'));
    publisher.listener.changed(mirror('m2', 'uid-s'));
    await settled();
    assert.equal(server.pods.get('s')?.status?.phase, 'Running');
    assert.equal(server.requests.length, 2);
  });

  test('has it also in another life of its pod, when the first one has ended', async () => {
    const { server, publisher, publish } = world();
    server.add(mirror('m1', 'uid-s'));
    publisher.learn(mirror('m1', 'uid-s'));
    publish('s', 'Running');
    publisher.finish(podUid('uid-s'));
    publish('s', 'Pending');
    await settled();
    publisher.listener.removed(mirror('m1', 'uid-s'));
    server.add(mirror('m2', 'uid-s'));
    publisher.listener.changed(mirror('m2', 'uid-s'));
    await settled();
    assert.equal(server.pods.get('s')?.status?.phase, 'Pending');
  });

  test('of another manifest has not', async () => {
    const { server, publisher, publish } = world();
    publish('s', 'Running');
    server.add(mirror('m1', 'another'));
    publisher.listener.changed(mirror('m1', 'another'));
    await settled();
    assert.deepEqual(server.requests, []);
  });

  test('is not deleted by the end of its pod', async () => {
    const { server, publisher } = world();
    const going = mirror('m1', 'uid-s');
    publisher.learn({ ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
    publisher.finish(podUid('uid-s'));
    await settled();
    assert.deepEqual(server.requests, []);
  });
});
