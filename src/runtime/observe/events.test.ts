import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../api/ids.ts';
import { CodedError } from '../../base/errors.ts';
import { createSilentLogger } from '../../base/logger.ts';
import { createManualClock } from '../../base/manual-clock.ts';
import { createTestSupervisor } from '../../base/supervise-testing.ts';
import { type ContainerEventResponse, ContainerEventType, PodSandboxStatus } from '../../wire/gen/cri-runtime-v1.ts';
import type { ContainerdEvent } from '../containerd-events.ts';
import { createAnnouncedEnds } from './announced-ends.ts';
import { createEventFollower, type EventStreams } from './events.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

const forever = (signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

function setUp(streams: Partial<EventStreams> = {}) {
  const clock = createManualClock();
  const woken: string[] = [];
  const foretold: string[] = [];
  const ends = createAnnouncedEnds(clock);
  let relists = 0;
  let publishCri: ((event: ContainerEventResponse) => void) | undefined;
  let publishContainerd: ((event: ContainerdEvent) => void) | undefined;
  const living = new AbortController();
  const follower = createEventFollower({
    clock,
    supervisor: createTestSupervisor(clock),
    log: createSilentLogger(),
    runtime: {
      watchEvents: (onEvent, signal) => {
        publishCri = onEvent;
        return forever(signal);
      },
      watchContainerdEvents: (onEvent, signal) => {
        publishContainerd = onEvent;
        return forever(signal);
      },
      ...streams,
    },
    relist: () => {
      relists += 1;
      return Promise.resolve();
    },
    owner: (id) => (id === 'known' ? podUid('owner') : undefined),
    ends,
    wake: (uid) => woken.push(uid),
    exitAnnounced: (uid) => foretold.push(uid),
  });
  return {
    clock,
    woken,
    foretold,
    ends,
    living,
    follower,
    relists: () => relists,
    cri: (event: ContainerEventResponse) => publishCri?.(event),
    containerd: (event: ContainerdEvent) => publishContainerd?.(event),
  };
}

const criEvent = (containerEventType: ContainerEventType, uid: string, containerId = 'x'): ContainerEventResponse => ({
  containerId,
  containerEventType,
  createdAt: 0n,
  podSandboxStatus:
    uid === '' ? undefined : { ...PodSandboxStatus.zero(), metadata: { name: '', uid, namespace: '', attempt: 0 } },
  containersStatuses: [],
});

test("CRI's events of an end wake the pod they name, or the owner; those of a beginning wake no one", async () => {
  const { living, follower, cri, woken, relists, clock } = setUp();
  const following = follower.follow(living.signal);
  await settle();
  cri(criEvent(ContainerEventType.CONTAINER_CREATED_EVENT, 'a'));
  cri(criEvent(ContainerEventType.CONTAINER_STARTED_EVENT, 'a'));
  assert.deepEqual(woken, []);
  cri(criEvent(ContainerEventType.CONTAINER_STOPPED_EVENT, 'a'));
  cri(criEvent(ContainerEventType.CONTAINER_DELETED_EVENT, '', 'known'));
  cri(criEvent(ContainerEventType.CONTAINER_DELETED_EVENT, '', 'unknown'));
  assert.deepEqual(woken, ['a', 'owner']);
  assert.equal(relists(), 1);
  await clock.advance(1000);
  assert.equal(relists(), 2, 'once more, in case the stream began late');
  living.abort(new Error('stopped'));
  await following;
});

const own = { at: 7_000_000n, exitStatus: 0, execId: undefined };

test("containerd's own events report an end first; CRI's event follows", async () => {
  const { living, follower, containerd, cri, woken, foretold, ends } = setUp();
  const following = follower.follow(living.signal);
  await settle();
  assert.ok(follower.criReports());
  containerd({ ...own, kind: 'exited', containerId: 'known', execId: 'a probe' });
  assert.equal(ends.get('known'), undefined);
  containerd({ ...own, kind: 'exited', containerId: 'known', exitStatus: 3 });
  containerd({ ...own, kind: 'exited', containerId: 'not seen yet' });
  containerd({ ...own, kind: 'exited', containerId: 'without a status', exitStatus: undefined });
  containerd({ ...own, kind: 'deleted', containerId: 'known' });
  assert.deepEqual([foretold, woken], [['owner'], []]);
  assert.deepEqual([ends.get('known')?.exitCode, ends.get('known')?.finishedAt], [3, 7]);
  assert.equal(ends.get('not seen yet')?.exitCode, 0);
  assert.equal(ends.get('without a status')?.exitCode, -1);
  cri(criEvent(ContainerEventType.CONTAINER_STOPPED_EVENT, '', 'known'));
  assert.deepEqual(woken, ['owner']);
  living.abort(new Error('stopped'));
  await following;
});

test('an end that no plan may go by is not announced', async () => {
  const { living, follower, containerd, woken, foretold } = setUp();
  const following = follower.follow(living.signal);
  await settle();
  for (const exitStatus of [137, 255]) containerd({ ...own, kind: 'exited', containerId: 'known', exitStatus });
  assert.deepEqual([foretold, woken], [[], []]);
  living.abort(new Error('stopped'));
  await following;
});

const unsupported = () => Promise.reject(new CodedError('unsupported', 'unknown method'));

test("a runtime without CRI events: containerd's own wake too", async () => {
  const { living, follower, containerd, woken, foretold, relists } = setUp({ watchEvents: unsupported });
  const following = follower.follow(living.signal);
  await settle();
  assert.ok(!follower.criReports());
  assert.equal(relists(), 1, 'the stream that there is goes on');
  containerd({ ...own, kind: 'exited', containerId: 'known' });
  assert.deepEqual([foretold, woken], [['owner'], []]);
  containerd({ ...own, kind: 'deleted', containerId: 'known' });
  containerd({ ...own, kind: 'exited', containerId: 'known', exitStatus: 137 });
  containerd({ ...own, kind: 'deleted', containerId: 'unknown' });
  assert.deepEqual([foretold, woken], [['owner'], ['owner', 'owner']]);
  living.abort(new Error('stopped'));
  await following;
});

test("a runtime other than containerd: CRI's events are enough", async () => {
  const { living, follower, cri, woken, relists, clock } = setUp({ watchContainerdEvents: unsupported });
  const following = follower.follow(living.signal);
  await settle();
  cri(criEvent(ContainerEventType.CONTAINER_STOPPED_EVENT, 'a'));
  assert.deepEqual(woken, ['a']);
  await clock.advance(60_000);
  assert.equal(relists(), 2, 'the stream was not opened again');
  living.abort(new Error('stopped'));
  await following;
});

test('a runtime with no events at all is listed every second', async () => {
  const { living, follower, relists, clock } = setUp({ watchEvents: unsupported, watchContainerdEvents: unsupported });
  const following = follower.follow(living.signal);
  await settle();
  await clock.advance(10_000);
  assert.ok(relists() >= 9 && relists() < 20, `${relists()} lists in 10 s`);
  living.abort(new Error('stopped'));
  await following;
});

test("the end of containerd's stream opens both again", async () => {
  const first = Promise.withResolvers<void>();
  let opened = 0;
  const watchContainerdEvents: EventStreams['watchContainerdEvents'] = (_, signal) => {
    opened += 1;
    return opened === 1 ? first.promise : forever(signal);
  };
  const { living, follower, relists, clock } = setUp({ watchContainerdEvents });
  const following = follower.follow(living.signal);
  await settle();
  await clock.advance(5000);
  assert.deepEqual([opened, relists()], [1, 2]);
  first.resolve();
  await settle();
  await clock.advance(100);
  assert.deepEqual([opened, relists()], [2, 3]);
  living.abort(new Error('stopped'));
  await following;
});

test('a stream that ends is opened again, and what was missed is listed', async () => {
  let opened = 0;
  const watchEvents = () => {
    opened += 1;
    return Promise.reject(new CodedError('unavailable', 'the runtime is away'));
  };
  const { living, follower, relists, clock } = setUp({ watchEvents });
  const following = follower.follow(living.signal);
  await settle();
  await clock.advance(5000);
  assert.ok(opened >= 5 && opened < 12, `opened ${opened} times in 5 s`);
  assert.equal(relists(), opened);
  living.abort(new Error('stopped'));
  await following;
});
