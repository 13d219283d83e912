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
import type { VolumeKind, VolumeReady } from './kind.ts';
import { createVolumes } from './volumes.ts';

const never = new AbortController().signal;
const soon = () => new Promise((resolve) => setImmediate(resolve));

function makePod(name: string, volumes: readonly string[], labels: Record<string, string> = {}): Pod {
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, labels },
    spec: { containers: [], volumes: volumes.map((volume) => ({ name: volume, fake: {} })) },
  } as unknown as Pod;
}

/** A kind that does what the test says, and notes what it was asked. */
function scene(
  t: TestContext,
  more: { kind?: Partial<VolumeKind>; attachments?: NodeAttachments; byController?: boolean } = {},
) {
  const root = mkdtempSync(join(tmpdir(), 'volumes-'));
  const clock = createManualClock(1_000_000);
  const jobs = createFileJobs({ clock, calls: createFileCalls(), program: undefined });
  t.after(() => {
    jobs.close();
    rmSync(root, { recursive: true, force: true });
  });
  const asked: string[] = [];
  const events: string[] = [];
  let answer: (name: string) => Promise<VolumeReady> = (name) => Promise.resolve({ path: `/made/${name}` });
  const kind: VolumeKind = {
    plugin: 'test/fake',
    handles: (volume) => volume['fake'] !== undefined,
    setUp: ({ volume }) => {
      asked.push(`up ${volume.name}`);
      return answer(volume.name);
    },
    tearDown: ({ name, directory }) => {
      asked.push(`down ${name}`);
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
      ...(more.attachments === undefined ? {} : { attachments: more.attachments }),
    },
    { attachedByController: more.byController ?? true, syncMs: 60_000, usagePeriodMs: 0 },
  );
  return {
    root,
    clock,
    volumes,
    asked,
    events,
    answers: (next: typeof answer) => {
      answer = next;
    },
  };
}

test('all volumes of a pod are made at the same time, once, and stay', async (t) => {
  const { volumes, asked, answers } = scene(t);
  const waiting: (() => void)[] = [];
  answers((name) => new Promise((resolve) => waiting.push(() => resolve({ path: `/made/${name}`, readOnly: true }))));
  const pod = makePod('p', ['a', 'b']);
  const first = volumes.ensure(pod, never);
  const second = volumes.ensure(pod, never);
  await soon();
  assert.deepEqual(asked, ['up a', 'up b']);
  for (const done of waiting) done();
  const mounts = new Map([
    ['a', { hostPath: '/made/a', readOnly: true }],
    ['b', { hostPath: '/made/b', readOnly: true }],
  ]);
  assert.deepEqual(await first, { kind: 'ready', mounts });
  assert.deepEqual(await second, { kind: 'ready', mounts });
  await volumes.ensure(pod, never);
  assert.equal(asked.length, 2);
  assert.deepEqual(volumes.counts(), [
    { plugin: 'test/fake', state: 'desired', count: 2 },
    { plugin: 'test/fake', state: 'actual', count: 2 },
  ]);
});

test('what a new pod needs from elsewhere is fetched ahead, once', async (t) => {
  const foreseen: string[] = [];
  const { volumes, asked } = scene(t, { kind: { foresee: (_, { name }) => void foreseen.push(name) } });
  const pod = makePod('p', ['a', 'b']);
  volumes.foresee(pod, never);
  assert.deepEqual([foreseen, asked], [['a', 'b'], []]);
  await volumes.ensure(pod, never);
  volumes.foresee(pod, never);
  assert.deepEqual(
    [foreseen, asked],
    [
      ['a', 'b'],
      ['up a', 'up b'],
    ],
  );
});

test('a volume that fails is told of each time, with growing pauses, and the pod hears of it after two minutes', async (t) => {
  const { volumes, asked, events, answers, clock } = scene(t);
  answers((name) =>
    name === 'a' ? Promise.resolve({ path: '/a' }) : Promise.reject(new CodedError('notFound', 'secret "x" not found')),
  );
  const outcome = volumes.ensure(makePod('p', ['a', 'b']), never);
  await soon();
  for (const pause of [500, 1000, 2000, 4000]) {
    const before = asked.length;
    await clock.advance(pause - 1);
    assert.equal(asked.length, before, `not before ${pause} ms`);
    await clock.advance(1);
    await soon();
    assert.equal(asked.length, before + 1);
  }
  assert.equal(asked.filter((one) => one === 'up a').length, 1);
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

test('who does not want to wait any more need not, and the kubelet can stop meanwhile', async (t) => {
  const { volumes, answers } = scene(t);
  answers(() => new Promise(() => undefined));
  const wanted = new AbortController();
  const outcome = volumes.ensure(makePod('p', ['a']), wanted.signal);
  wanted.abort(new CodedError('gone', 'the pod must end'));
  await assert.rejects(outcome, /the pod must end/);
});

test('a change of an object that a volume shows makes it again at once, also one that failed', async (t) => {
  const reference = { kind: 'configMap', namespace: 'default', name: 'settings' } as const;
  const { volumes, asked, answers, clock, events } = scene(t, { kind: { dependsOn: () => [reference] } });
  answers(() => Promise.reject(new CodedError('notFound', 'configmap "settings" not found')));
  const outcome = volumes.ensure(makePod('p', ['a']), never);
  await soon();
  answers(() => Promise.resolve({ path: '/a' }));
  volumes.changed({ ...reference, name: 'other' });
  volumes.changed({ ...reference, namespace: 'elsewhere' });
  assert.equal(asked.length, 1);
  volumes.changed(reference);
  assert.equal((await outcome).kind, 'ready');
  assert.equal(asked.length, 2);
  // Without any news it is compared again after the sync period: that is the safety net.
  await clock.advance(59_999);
  assert.equal(asked.length, 2);
  await clock.advance(1);
  await soon();
  assert.equal(asked.length, 3);
  answers(() => Promise.reject(new Error('the disk is full')));
  volumes.changed(reference);
  await soon();
  assert.equal((await volumes.ensure(makePod('p', ['a']), never)).kind, 'ready', 'what was there is still good');
  assert.match(events.at(-1) ?? '', /the disk is full/);
});

const observationOf = (state: ContainerRunState): Observation => ({
  ...emptyObservation(podUid('uid-p'), 'p', 'n', 0),
  containers: [{ state } as ObservedContainer],
});

test('a time to refresh is kept; pods that run are looked after without being asked for, and their changes are heard', async (t) => {
  const { volumes, asked, answers, clock } = scene(t, { kind: { dependsOnPod: true } });
  answers(() => Promise.resolve({ path: '/a', refreshAt: clock.now() + 5000 }));
  const pod = makePod('p', ['a']);
  const view = (step: PodStep, state: ContainerRunState, of = pod) => ({
    kind: 'view' as const,
    view: { uid: podUid('uid-p'), pod: of, step, observation: observationOf(state) },
  });
  volumes.follow(view('syncing', 'exited'));
  volumes.follow(view('terminating', 'running'));
  assert.equal(asked.length, 0);
  volumes.follow(view('syncing', 'running'));
  volumes.follow(view('syncing', 'running'));
  await soon();
  assert.equal(asked.length, 1);
  await clock.advance(5000);
  await soon();
  assert.equal(asked.length, 2);
  volumes.follow(view('syncing', 'running', { ...makePod('p', ['a']), status: { phase: 'Running' } }));
  await soon();
  assert.equal(asked.length, 2, 'a status shows in no file');
  volumes.follow(view('syncing', 'running', makePod('p', ['a'], { color: 'green' })));
  await soon();
  assert.equal(asked.length, 3);
  await volumes.stop?.();
  await clock.advance(100_000);
  assert.equal(asked.length, 3, 'a kubelet that stops begins nothing');
});

test('clean-up takes away what is on disk, whoever made it, and can be tried again', async (t) => {
  const { root, volumes, asked } = scene(t);
  const uid: PodUid = podUid('left');
  const dir = join(root, uid, 'volumes');
  for (const name of ['test~fake/a', 'test~fake/b', 'other~kind/c']) mkdirSync(join(dir, name), { recursive: true });
  writeFileSync(join(dir, 'other~kind/c/f'), '');
  await volumes.cleanUp(uid, never);
  assert.deepEqual(asked.toSorted(), ['down a', 'down b']);
  assert.ok(!existsSync(join(dir, 'other~kind/c')));
  await volumes.cleanUp(uid, never);
  await volumes.cleanUp(podUid('never-seen'), never);
});

test('a mounted volume of a kind that no one knows is left as it is, with all that lies beside its mount', async (t) => {
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
  await assert.rejects(volumes.cleanUp(podUid('p'), never), /no one here knows volumes of kubernetes.io\/csi/);
  assert.ok(existsSync(join(dir, 'vol_data.json')) && existsSync(join(root, 'device/data')));
  calls.unmount(join(dir, 'mount'), false);
  await volumes.cleanUp(podUid('p'), never);
  assert.ok(!existsSync(dir) && existsSync(join(root, 'device/data')));
});

test('a volume in the way is named, the others are taken away all the same', async (t) => {
  const { root, volumes, asked } = scene(t, {
    kind: {
      tearDown: ({ name }) => {
        if (name === 'busy') return Promise.reject(new CodedError('conflict', 'busy: device or resource busy'));
        asked.push(`down ${name}`);
        return Promise.resolve();
      },
    },
  });
  for (const name of ['busy', 'fine']) mkdirSync(join(root, 'p/volumes/test~fake', name), { recursive: true });
  await assert.rejects(volumes.cleanUp(podUid('p'), never), /busy: device or resource busy/);
  assert.deepEqual(asked, ['down fine']);
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
  attached.set('test/a', '/dev/x');
  remote.volumes.attachmentsChanged();
  assert.equal((await outcome).kind, 'ready');
  await remote.volumes.ensure(makePod('q', ['a']), never);
  await remote.volumes.cleanUp(podUid('uid-p'), never);
  assert.deepEqual(remote.volumes.volumesInUse(), ['test/a'], 'the other pod has it still');
  await remote.volumes.cleanUp(podUid('uid-q'), never);
  assert.equal(remote.volumes.volumesInUse(), undefined);
  assert.deepEqual(calls, ['stage test/a /dev/x', 'stage test/a /dev/x', 'unstage test/a']);
  calls.length = 0;
  const local = scene(t, { kind, byController: false });
  await local.volumes.ensure(makePod('p', ['a']), never);
  await local.volumes.cleanUp(podUid('uid-p'), never);
  assert.deepEqual(calls, ['attach test/a', 'stage test/a /dev/here', 'unstage test/a', 'detach test/a']);
});

test('an event says at which stage a volume failed', async (t) => {
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
    setUp: () => orFault('up', { path: '/a' }),
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

test('a volume that may hang is looked at again before each start, and only then', async (t) => {
  const { volumes, asked, answers, events } = scene(t);
  answers(() => Promise.resolve({ path: '/far', foreign: true }));
  const pod = makePod('p', ['a']);
  await volumes.ensure(pod, never);
  await volumes.ensure(pod, never);
  assert.equal(asked.length, 2);
  answers(() => Promise.reject(new CodedError('deadline', 'its file system does not answer')));
  const wanted = new AbortController();
  const outcome = volumes.ensure(pod, wanted.signal);
  await soon();
  assert.match(events[0] ?? '', /does not answer/);
  wanted.abort(new CodedError('gone', 'the pod must end'));
  await assert.rejects(outcome, /the pod must end/);
});

test('a volume of a kind that no one knows is told of by its name', async (t) => {
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
