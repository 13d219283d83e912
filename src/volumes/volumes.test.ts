import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { CodedError } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createFileCalls } from '../host/file-calls.ts';
import { createFileJobs } from '../host/file-jobs.ts';
import { readMountTable } from '../host/mount-table.ts';
import {
  type ContainerRunState,
  emptyObservation,
  type Observation,
  type ObservedContainer,
} from '../model/observation.ts';
import type { PodStep } from '../model/pod-view.ts';
import type { NodeAttachments } from './devices.ts';
import { ready, type SetUpAnswer, type VolumeKind, type VolumeReady } from './kind.ts';
import type { VolumeOperation } from './operations.ts';
import type { VolumeResolver } from './resolve.ts';
import { createVolumes } from './volumes.ts';

const never = new AbortController().signal;
const soon = () => new Promise((resolve) => setImmediate(resolve));

function makePod(name: string, volumes: readonly string[], labels: Record<string, string> = {}): Pod {
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, labels },
    spec: { containers: [], volumes: volumes.map((volume) => ({ name: volume, fake: {} })) },
  } as unknown as Pod;
}

interface SceneOptions {
  readonly kind?: Partial<VolumeKind>;
  readonly attachments?: NodeAttachments;
  readonly byController?: boolean;
  readonly resolvers?: readonly VolumeResolver[];
}

/** A kind that does what the test says, and records the calls. */
function scene(t: TestContext, more: SceneOptions = {}) {
  const root = mkdtempSync(join(tmpdir(), 'volumes-'));
  const clock = createManualClock(1_000_000);
  const jobs = createFileJobs({ clock, calls: createFileCalls(), program: undefined });
  t.after(() => {
    jobs.close();
    rmSync(root, { recursive: true, force: true });
  });
  const calls: string[] = [];
  const events: string[] = [];
  const operations: VolumeOperation[] = [];
  let answer: (name: string) => Promise<VolumeReady | Exclude<SetUpAnswer, { kind: 'ready' }>> = (name) =>
    Promise.resolve({ path: `/made/${name}` });
  const kind: VolumeKind = {
    plugin: 'test/fake',
    handles: (volume) => volume['fake'] !== undefined,
    setUp: async ({ volume }) => {
      calls.push(`up ${volume.name}`);
      const given = await answer(volume.name);
      return 'kind' in given ? given : ready(given);
    },
    tearDown: ({ name, directory }) => {
      calls.push(`down ${name}`);
      rmSync(directory, { recursive: true });
      return Promise.resolve();
    },
    ...more.kind,
  };
  const volumes = createVolumes(
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log: createSilentLogger(),
      kinds: [kind],
      jobs,
      mountTable: readMountTable,
      leadsToForeign: () => false,
      podDirectory: (uid) => join(root, uid),
      record: ({ reason, message }) => events.push(`${reason}: ${message}`),
      random: () => 0,
      podDirectories: { list: () => Promise.resolve([]), known: () => new Set(), onOrphans: () => undefined },
      onOperation: (operation) => operations.push(operation),
      ...(more.resolvers === undefined ? {} : { resolvers: more.resolvers }),
      ...(more.attachments === undefined ? {} : { attachments: more.attachments }),
    },
    { attachedByController: more.byController ?? true, syncMs: 60_000, usagePeriodMs: 0 },
  );
  return {
    root,
    clock,
    volumes,
    calls,
    events,
    operations,
    answers: (next: typeof answer) => {
      answer = next;
    },
  };
}

test('all volumes of a pod are made at the same time, once, and stay', async (t) => {
  const { volumes, calls, answers } = scene(t);
  const waiting: (() => void)[] = [];
  answers((name) => new Promise((resolve) => waiting.push(() => resolve({ path: `/made/${name}`, readOnly: true }))));
  const pod = makePod('p', ['a', 'b']);
  const first = volumes.ensure(pod, never);
  const second = volumes.ensure(pod, never);
  await soon();
  assert.deepEqual(calls, ['up a', 'up b']);
  for (const done of waiting) done();
  const mounts = new Map([
    ['a', { hostPath: '/made/a', readOnly: true }],
    ['b', { hostPath: '/made/b', readOnly: true }],
  ]);
  assert.deepEqual(await first, { kind: 'ready', mounts });
  assert.deepEqual(await second, { kind: 'ready', mounts });
  await volumes.ensure(pod, never);
  assert.equal(calls.length, 2);
  assert.deepEqual(volumes.counts(), [
    { plugin: 'test/fake', state: 'desired', count: 2 },
    { plugin: 'test/fake', state: 'actual', count: 2 },
  ]);
});

test('what a new pod needs from elsewhere is fetched ahead, once', async (t) => {
  const prefetched: string[] = [];
  const { volumes, calls } = scene(t, { kind: { prefetch: (_, { name }) => void prefetched.push(name) } });
  const pod = makePod('p', ['a', 'b']);
  volumes.prefetch(pod, never);
  assert.deepEqual([prefetched, calls], [['a', 'b'], []]);
  await volumes.ensure(pod, never);
  volumes.prefetch(pod, never);
  assert.deepEqual(
    [prefetched, calls],
    [
      ['a', 'b'],
      ['up a', 'up b'],
    ],
  );
});

test('each failure of a volume is an event, retries back off, and after two minutes the pod gets the reason', async (t) => {
  const { volumes, calls, events, answers, clock } = scene(t);
  answers((name) =>
    name === 'a' ? Promise.resolve({ path: '/a' }) : Promise.reject(new CodedError('notFound', 'secret "x" not found')),
  );
  const outcome = volumes.ensure(makePod('p', ['a', 'b']), never);
  await soon();
  for (const pause of [500, 1000, 2000, 4000]) {
    const before = calls.length;
    await clock.advance(pause - 1);
    assert.equal(calls.length, before, `not before ${pause} ms`);
    await clock.advance(1);
    await soon();
    assert.equal(calls.length, before + 1);
  }
  assert.equal(calls.filter((one) => one === 'up a').length, 1);
  assert.equal(events[0], 'FailedMount: MountVolume.SetUp failed for volume "b" : secret "x" not found');
  assert.equal(events.length, 5);
  await clock.advance(123_000);
  const late = await outcome;
  assert.equal(late.kind, 'waiting');
  assert.equal(
    late.kind === 'waiting' && late.message,
    'Unable to attach or mount volumes: unmounted volumes=[b], unattached volumes=[], failed to process volumes=[]: context deadline exceeded',
  );
});

test('a pod that must end stops waiting for its volumes', async (t) => {
  const { volumes, answers } = scene(t);
  answers(() => new Promise(() => undefined));
  const starting = new AbortController();
  const outcome = volumes.ensure(makePod('p', ['a']), starting.signal);
  starting.abort(new CodedError('gone', 'the pod must end'));
  await assert.rejects(outcome, /the pod must end/);
});

test('a change of an object that a volume shows makes it again at once, also one that failed', async (t) => {
  const reference = { kind: 'configMap', namespace: 'default', name: 'settings' } as const;
  const { volumes, calls, answers, clock, events } = scene(t, { kind: { dependsOn: () => [reference] } });
  answers(() => Promise.reject(new CodedError('notFound', 'configmap "settings" not found')));
  const outcome = volumes.ensure(makePod('p', ['a']), never);
  await soon();
  answers(() => Promise.resolve({ path: '/a' }));
  volumes.changed({ ...reference, name: 'other' });
  volumes.changed({ ...reference, namespace: 'elsewhere' });
  assert.equal(calls.length, 1);
  volumes.changed(reference);
  assert.equal((await outcome).kind, 'ready');
  assert.equal(calls.length, 2);
  // Without any event it is compared again after the sync period: that is the safety net.
  await clock.advance(59_999);
  assert.equal(calls.length, 2);
  await clock.advance(1);
  await soon();
  assert.equal(calls.length, 3);
  answers(() => Promise.reject(new Error('the disk is full')));
  volumes.changed(reference);
  await soon();
  assert.equal((await volumes.ensure(makePod('p', ['a']), never)).kind, 'ready', 'the earlier content is still usable');
  assert.match(events.at(-1) ?? '', /the disk is full/);
});

const observationOf = (state: ContainerRunState): Observation => ({
  ...emptyObservation(podUid('uid-p'), 'p', 'n', 0),
  containers: [{ state } as ObservedContainer],
});

test('volumes are refreshed in time; those of running pods are managed without a request, and follow changes of the pod', async (t) => {
  const { volumes, calls, answers, clock } = scene(t, { kind: { dependsOnPod: true } });
  answers(() => Promise.resolve({ path: '/a', refreshAt: clock.now() + 5000 }));
  const pod = makePod('p', ['a']);
  const view = (step: PodStep, state: ContainerRunState, of = pod) => ({
    kind: 'view' as const,
    view: { uid: podUid('uid-p'), pod: of, step, observation: observationOf(state) },
  });
  volumes.follow(view('syncing', 'exited'));
  volumes.follow(view('terminating', 'running'));
  assert.equal(calls.length, 0);
  volumes.follow(view('syncing', 'running'));
  volumes.follow(view('syncing', 'running'));
  await soon();
  assert.equal(calls.length, 1);
  await clock.advance(5000);
  await soon();
  assert.equal(calls.length, 2);
  volumes.follow(view('syncing', 'running', { ...makePod('p', ['a']), status: { phase: 'Running' } }));
  await soon();
  assert.equal(calls.length, 2, 'no file shows the status');
  volumes.follow(view('syncing', 'running', makePod('p', ['a'], { color: 'green' })));
  await soon();
  assert.equal(calls.length, 3);
  await volumes.stop?.();
  await clock.advance(100_000);
  assert.equal(calls.length, 3, 'a kubelet that stops begins nothing');
});

test('clean-up removes what is on disk, also what an earlier kubelet made, and can be called again', async (t) => {
  const { root, volumes, calls } = scene(t);
  const uid: PodUid = podUid('left');
  const dir = join(root, uid, 'volumes');
  for (const name of ['test~fake/a', 'test~fake/b', 'other~kind/c']) mkdirSync(join(dir, name), { recursive: true });
  writeFileSync(join(dir, 'other~kind/c/f'), '');
  await volumes.cleanUp(uid, never);
  assert.deepEqual(calls.toSorted(), ['down a', 'down b']);
  assert.ok(!existsSync(join(dir, 'other~kind/c')));
  await volumes.cleanUp(uid, never);
  await volumes.cleanUp(podUid('never-seen'), never);
});

test('a mounted volume of an unknown kind is left as it is, with the files beside its mount', async (t) => {
  const { root, volumes } = scene(t);
  const calls = createFileCalls();
  const dir = join(root, 'p/volumes/kubernetes.io~csi/pv');
  mkdirSync(join(dir, 'mount'), { recursive: true });
  mkdirSync(join(root, 'device'));
  for (const path of [join(dir, 'vol_data.json'), join(root, 'device/data')]) writeFileSync(path, '{}');
  calls.bind(join(root, 'device'), join(dir, 'mount'));
  t.after(() => {
    if (readMountTable(dir).length > 0) calls.unmount(join(dir, 'mount'), true);
  });
  await assert.rejects(volumes.cleanUp(podUid('p'), never), /does not know volumes of kubernetes.io\/csi/);
  assert.ok(existsSync(join(dir, 'vol_data.json')) && existsSync(join(root, 'device/data')));
  calls.unmount(join(dir, 'mount'), false);
  await volumes.cleanUp(podUid('p'), never);
  assert.ok(!existsSync(dir) && existsSync(join(root, 'device/data')));
});

test('a volume that can not be removed is named, the others are removed all the same', async (t) => {
  const { root, volumes, calls } = scene(t, {
    kind: {
      tearDown: ({ name }) => {
        if (name === 'busy') return Promise.reject(new CodedError('conflict', 'busy: device or resource busy'));
        calls.push(`down ${name}`);
        return Promise.resolve();
      },
    },
  });
  for (const name of ['busy', 'fine']) mkdirSync(join(root, 'p/volumes/test~fake', name), { recursive: true });
  await assert.rejects(volumes.cleanUp(podUid('p'), never), /busy: device or resource busy/);
  assert.deepEqual(calls, ['down fine']);
});

test('a device is waited for without events when the control plane attaches it, and attached here when not', async (t) => {
  const attached = new Map<string, string>();
  const calls: string[] = [];
  const kind: Partial<VolumeKind> = {
    attachment: {
      uniqueName: ({ volume }) => Promise.resolve(`test/${volume.name}`),
      attach: (name) => {
        calls.push(`attach ${name}`);
        return Promise.resolve('/dev/here');
      },
      detach: (name) => {
        calls.push(`detach ${name}`);
        return Promise.resolve();
      },
    },
    staging: {
      stage: (name, device) => {
        calls.push(`stage ${name} ${device}`);
        return Promise.resolve();
      },
      unstage: (name) => {
        calls.push(`unstage ${name}`);
        return Promise.resolve();
      },
    },
  };
  const attachments = { attached: () => attached, reportedInUse: () => new Set(['test/a']) };
  const remote = scene(t, { kind, attachments });
  const outcome = remote.volumes.ensure(makePod('p', ['a']), never);
  await soon();
  assert.deepEqual(
    remote.volumes.volumesInUse(),
    ['test/a'],
    'in use before it is attached: that is what the control plane waits for',
  );
  assert.deepEqual(remote.events, []);
  const [progress] = remote.volumes.progress(podUid('uid-p'));
  assert.deepEqual([progress?.stage, progress?.lastTry?.outcome, progress?.usable], ['attach', 'waiting', false]);
  assert.equal(progress?.lastTry?.message, 'Volume test/a is not attached according to node status');
  attached.set('test/a', '/dev/x');
  remote.volumes.attachmentsChanged();
  assert.equal((await outcome).kind, 'ready');
  await remote.volumes.ensure(makePod('q', ['a']), never);
  await remote.volumes.cleanUp(podUid('uid-p'), never);
  assert.deepEqual(remote.volumes.volumesInUse(), ['test/a'], 'the other pod still uses it');
  await remote.volumes.cleanUp(podUid('uid-q'), never);
  assert.equal(remote.volumes.volumesInUse(), undefined);
  assert.deepEqual(calls, ['stage test/a /dev/x', 'stage test/a /dev/x', 'unstage test/a']);
  calls.length = 0;
  const local = scene(t, { kind, byController: false });
  await local.volumes.ensure(makePod('p', ['a']), never);
  await local.volumes.cleanUp(podUid('uid-p'), never);
  assert.deepEqual(calls, ['attach test/a', 'stage test/a /dev/here', 'unstage test/a', 'detach test/a']);
});

test('an event names the stage at which a volume failed', async (t) => {
  const faults = new Map([
    ['attach', 'no such device'],
    ['stage', 'wrong fs type'],
    ['up', 'no room'],
  ]);
  const orFault = <T>(stage: string, answer: T): Promise<T> => {
    const fault = faults.get(stage);
    return fault === undefined ? Promise.resolve(answer) : Promise.reject(new CodedError('unavailable', fault));
  };
  const kind: Partial<VolumeKind> = {
    attachment: {
      uniqueName: () => Promise.resolve('test/a'),
      attach: () => orFault('attach', '/dev/here'),
      detach: () => Promise.resolve(),
    },
    staging: { stage: () => orFault('stage', undefined), unstage: () => Promise.resolve() },
    setUp: () => orFault('up', ready({ path: '/a' })),
  };
  const { volumes, events, clock } = scene(t, { kind, byController: false });
  const outcome = volumes.ensure(makePod('p', ['a']), never);
  for (const [stage, pause] of [
    ['attach', 500],
    ['stage', 1000],
    ['up', 2000],
  ] as const) {
    await soon();
    faults.delete(stage);
    await clock.advance(pause);
  }
  assert.equal((await outcome).kind, 'ready');
  assert.deepEqual(events, [
    'FailedAttachVolume: AttachVolume.Attach failed for volume "a" : no such device',
    'FailedMount: MountVolume.MountDevice failed for volume "a" : wrong fs type',
    'FailedMount: MountVolume.SetUp failed for volume "a" : no room',
  ]);
});

test('a volume that may hang is made again before each start, and only then', async (t) => {
  const { volumes, calls, answers, events } = scene(t);
  answers(() => Promise.resolve({ path: '/far', foreign: true }));
  const pod = makePod('p', ['a']);
  await volumes.ensure(pod, never);
  await volumes.ensure(pod, never);
  assert.equal(calls.length, 2);
  answers(() => Promise.reject(new CodedError('deadline', 'its file system does not answer')));
  const starting = new AbortController();
  const outcome = volumes.ensure(pod, starting.signal);
  await soon();
  assert.match(events[0] ?? '', /does not answer/);
  starting.abort(new CodedError('gone', 'the pod must end'));
  await assert.rejects(outcome, /the pod must end/);
});

test('a volume of an unknown kind is reported by its name', async (t) => {
  const { volumes, events, clock } = scene(t);
  const pod = {
    ...makePod('p', []),
    spec: { containers: [], volumes: [{ name: 'v', csi: { driver: 'd' } }] },
  } as unknown as Pod;
  const outcome = volumes.ensure(pod, never);
  await soon();
  assert.equal(
    events[0],
    'FailedMount: MountVolume.SetUp failed for volume "v" : volumes of kind csi are not supported yet',
  );
  await clock.advance(123_000);
  assert.match(JSON.stringify(await outcome), /failed to process volumes=\[v\]/);
});

const CLAIM = { name: 'v', persistentVolumeClaim: { claimName: 'c' } };
const claiming = { ...makePod('p', []), spec: { containers: [], volumes: [CLAIM] } } as unknown as Pod;

test('a volume behind a claim is resolved first: it waits with a reason, and its directory is that of the persistent volume', async (t) => {
  let bound = false;
  const resolved: string[] = [];
  const directories: string[] = [];
  const by: VolumeKind = {
    plugin: 'test/claimed',
    handles: () => false,
    setUp: ({ directory }) => {
      directories.push(directory);
      return Promise.resolve(ready({ path: directory }));
    },
    tearDown: () => Promise.resolve(),
  };
  const resolver: VolumeResolver = {
    handles: (volume) => volume['persistentVolumeClaim'] !== undefined,
    resolve: (_, { name }) => {
      resolved.push(name);
      return Promise.resolve(
        bound
          ? { kind: 'resolved', by, directoryName: 'pv-1', uniqueName: undefined }
          : { kind: 'waiting', message: 'claim "c" is not bound' },
      );
    },
  };
  const { root, volumes, clock, events, operations } = scene(t, { resolvers: [resolver] });
  const uid = podUid('uid-p');
  const outcome = volumes.ensure(claiming, never);
  await soon();
  assert.deepEqual(volumes.progress(uid), [
    {
      name: 'v',
      plugin: undefined,
      stage: 'resolve',
      since: 1_000_000,
      usable: false,
      lastTry: { outcome: 'waiting', message: 'claim "c" is not bound', code: undefined, count: 1, at: 1_000_000 },
      nextTryAt: 1_000_500,
    },
  ]);
  assert.deepEqual([events, volumes.counts()], [[], []]);
  bound = true;
  await clock.advance(500);
  assert.equal((await outcome).kind, 'ready');
  assert.equal(resolved.length, 2, 'once it is resolved it stays so');
  assert.deepEqual(directories, [join(root, 'uid-p/volumes/test~claimed/pv-1')]);
  assert.deepEqual(
    operations.map(({ plugin, operation, failed }) => [plugin, operation, failed]),
    [
      ['test/claimed', 'verify_controller_attached_volume', false],
      ['test/claimed', 'volume_mount', false],
    ],
  );
  const [progress] = volumes.progress(uid);
  assert.deepEqual([progress?.stage, progress?.plugin, progress?.usable], ['ready', 'test/claimed', true]);
  await volumes.cleanUp(uid, never);
  assert.deepEqual(volumes.progress(uid), []);
});

test('a claim that is never resolved is named in the reason, and a resolver that fails is retried like any other stage', async (t) => {
  const resolver: VolumeResolver = {
    handles: (volume) => volume['persistentVolumeClaim'] !== undefined,
    resolve: () => Promise.reject(new CodedError('unavailable', 'no answer from the API server')),
  };
  const { volumes, clock, events } = scene(t, { resolvers: [resolver] });
  const outcome = volumes.ensure(claiming, never);
  await soon();
  assert.deepEqual(events, ['FailedMount: MountVolume.SetUp failed for volume "v" : no answer from the API server']);
  await clock.advance(123_000);
  assert.match(JSON.stringify(await outcome), /unmounted volumes=\[v\].*failed to process volumes=\[v\]/);
});

test('what a volume waits for is shown by stage, with the error and the time of the next try', async (t) => {
  const { volumes, clock, events } = scene(t, {
    kind: {
      setUp: ({ enter }) => {
        enter('fetch-object');
        return Promise.resolve({ kind: 'waiting', message: 'secret "x" not found' });
      },
    },
  });
  void volumes.ensure(makePod('p', ['a']), never);
  await soon();
  await clock.advance(500);
  await soon();
  assert.deepEqual(volumes.progress(podUid('uid-p')), [
    {
      name: 'a',
      plugin: 'test/fake',
      stage: 'fetch-object',
      since: 1_000_000,
      usable: false,
      lastTry: { outcome: 'waiting', message: 'secret "x" not found', code: undefined, count: 2, at: 1_000_500 },
      nextTryAt: 1_001_500,
    },
  ]);
  assert.equal(events.length, 2, 'a missing object is an event each time');
});
