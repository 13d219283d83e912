import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../api/ids.ts';
import { CodedError } from '../../base/errors.ts';
import { createSilentLogger } from '../../base/logger.ts';
import { createManualClock } from '../../base/manual-clock.ts';
import { type ContainerEventResponse, ContainerEventType, PodSandboxStatus } from '../../wire/gen/cri-runtime-v1.ts';
import type { ContainerdEvent } from '../containerd-events.ts';
import { createEventFollower, type EventStreams } from './events.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function setUp(streams: Partial<EventStreams> = {}) {
  const clock = createManualClock();
  const woken: string[] = [];
  let relists = 0;
  let tellCri: ((event: ContainerEventResponse) => void) | undefined;
  let tellContainerd: ((event: ContainerdEvent) => void) | undefined;
  const forever = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const living = new AbortController();
  const follower = createEventFollower({
    clock,
    log: createSilentLogger(),
    runtime: {
      watchEvents: (onEvent, signal) => {
        tellCri = onEvent;
        return forever(signal);
      },
      watchContainerdEvents: (onEvent, signal) => {
        tellContainerd = onEvent;
        return forever(signal);
      },
      ...streams,
    },
    relist: () => {
      relists += 1;
      return Promise.resolve();
    },
    owner: (id) => (id === 'known' ? podUid('owner') : undefined),
    wake: (uid) => woken.push(uid),
  });
  return {
    clock,
    woken,
    living,
    follower,
    relists: () => relists,
    cri: (event: ContainerEventResponse) => tellCri?.(event),
    containerd: (event: ContainerdEvent) => tellContainerd?.(event),
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

test("CRI's events of an end wake the pod they name, or the owner; those of a beginning wake nobody", async () => {
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

test("a runtime without CRI events: containerd's own are followed, and an end is announced before it shows", async () => {
  const unsupported = () => Promise.reject(new CodedError('unsupported', 'unknown method'));
  const { living, follower, containerd, woken, clock } = setUp({ watchEvents: unsupported });
  const following = follower.follow(living.signal);
  await settle();
  await clock.advance(100);
  const event = { at: 0n, exitStatus: 0, execId: undefined };
  containerd({ ...event, kind: 'started', containerId: 'known' });
  containerd({ ...event, kind: 'exited', containerId: 'known', execId: 'a probe' });
  assert.deepEqual(woken, []);
  containerd({ ...event, kind: 'exited', containerId: 'known' });
  containerd({ ...event, kind: 'exited', containerId: 'not seen yet' });
  assert.deepEqual(woken, ['owner']);
  assert.ok(follower.announced('known') && follower.announced('not seen yet') && !follower.announced('other'));
  follower.forget(['known']);
  assert.ok(!follower.announced('known'));
  await clock.advance(6000);
  containerd({ ...event, kind: 'exited', containerId: 'later' });
  assert.ok(!follower.announced('not seen yet'), 'nobody owns it');
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
