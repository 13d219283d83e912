import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { CodedError } from '../base/errors.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { Image } from '../wire/gen/cri-runtime-v1.ts';
import { createEnsure, type EnsureDeps, type Request } from './ensure.ts';
import { createPullProgress } from './progress.ts';
import type { PullRecords } from './pull-records.ts';
import type { PullJob, PullOutcome } from './pulls.ts';

const never = new AbortController().signal;
const pod: Pod = {
  metadata: { name: 'p', namespace: 'n', uid: 'u', annotations: { a: 'b' } },
  spec: { containers: [], priority: 7, runtimeClassName: 'r' },
};
const request: Request = { pod, image: 'a.io/app', policy: 'IfNotPresent', fieldPath: 'spec.containers{c}' };
const image: Image = { ...Image.zero(), id: 'sha256:1', size: 9, username: 'web' };
const PULLED: PullOutcome = { kind: 'pulled', image, pullMs: 1500, login: undefined };
const FAILED = { kind: 'failed', message: 'no', diskFull: false } as const;

function createBench(more: Partial<EnsureDeps> = {}, outcome: () => PullOutcome | Promise<PullOutcome> = () => PULLED) {
  const clock = createManualClock(1000);
  const events: string[] = [];
  const jobs: PullJob[] = [];
  const used: string[] = [];
  const deps: EnsureDeps = {
    clock,
    runtime: { status: () => Promise.resolve({ image: undefined }) },
    pulls: {
      pull: async (job) => {
        jobs.push(job);
        return await outcome();
      },
      underWay: () => 0,
    },
    credentials: { find: () => Promise.resolve({ credentials: [], missing: [] }), missing: () => Promise.resolve([]) },
    record: (event) => events.push(`${event.reason}: ${event.message}`),
    progress: createPullProgress({
      clock,
      supervisor: createTestSupervisor(clock),
      downloadsOf: () => Promise.resolve(undefined),
    }),
    onUse: (id) => used.push(id),
    onDiskFull: () => used.push('disk full'),
    sandboxConfigOf: () => Promise.resolve({ hostname: 'h' }),
    access: undefined,
    ...more,
  };
  return { clock, events, jobs, used, ensure: createEnsure(deps) };
}

test('the runtime gets the tag, the annotations and the sandbox of the pod', async () => {
  const { ensure, jobs, used } = createBench();
  assert.deepEqual(await ensure(request, never), {
    kind: 'ready',
    imageRef: 'sha256:1',
    user: { uid: undefined, username: 'web' },
  });
  assert.deepEqual(jobs, [
    {
      key: '["a.io/app:latest","r",[]]',
      image: { image: 'a.io/app:latest', annotations: { a: 'b' } },
      sandboxConfig: { hostname: 'h' },
      logins: [],
      rank: -7,
    },
  ]);
  assert.deepEqual(used, ['sha256:1']);
});

test('without verification the text about access is left out', async () => {
  const { ensure, events } = createBench({ runtime: { status: () => Promise.resolve({ image }) } });
  await ensure(request, never);
  assert.deepEqual(events, ['Pulled: Container image "a.io/app" already present on machine']);
});

test('failures are shown for a second, then the back-off, which doubles', async () => {
  const { ensure, clock } = createBench({}, () => FAILED);
  const seen: string[] = [];
  for (let step = 0; step < 6; step += 1) {
    const answer = await ensure(request, never);
    assert.ok(answer.kind === 'waiting');
    seen.push(`${answer.reason} ${(answer.retryAt - clock.now()) / 1000}`);
    await clock.advance(answer.retryAt - clock.now());
  }
  assert.deepEqual(seen, [
    'ErrImagePull 1',
    'ImagePullBackOff 9',
    'ErrImagePull 1',
    'ImagePullBackOff 19',
    'ErrImagePull 1',
    'ImagePullBackOff 39',
  ]);
  const other = await ensure({ ...request, image: 'a.io/other' }, never);
  assert.ok(other.kind === 'waiting' && other.reason === 'ErrImagePull', 'another image has nothing to wait for');
});

test('a success forgets the failures before it', async () => {
  let outcome: PullOutcome = FAILED;
  const { ensure, clock } = createBench({}, () => outcome);
  await ensure(request, never);
  await clock.advance(10_000);
  outcome = PULLED;
  assert.equal((await ensure(request, never)).kind, 'ready');
  outcome = FAILED;
  await ensure(request, never);
  const waiting = await ensure(request, never);
  assert.ok(waiting.kind === 'waiting' && waiting.retryAt - clock.now() === 10_000);
});

test('no space: the image garbage collection is notified', async () => {
  const { ensure, used } = createBench({}, () => ({ ...FAILED, diskFull: true }));
  await ensure(request, never);
  assert.deepEqual(used, ['disk full']);
});

test('an image that can not be looked at', async () => {
  const broken = new CodedError('internal', 'rpc error: code = Unknown desc = broken', {
    data: { grpcStatus: 2, grpcMessage: 'broken' },
  });
  const { ensure, events, clock } = createBench({ runtime: { status: () => Promise.reject(broken) } });
  const answer = await ensure(request, never);
  assert.deepEqual(answer, {
    kind: 'waiting',
    reason: 'ImageInspectError',
    message: 'Failed to inspect image "a.io/app": broken',
    retryAt: clock.now() + 10_000,
  });
  assert.deepEqual(events, ['InspectFailed: Failed to inspect image "a.io/app": broken']);
  const away = createBench({ runtime: { status: () => Promise.reject(new CodedError('unavailable', 'away')) } });
  await assert.rejects(away.ensure(request, never), /away/);
  assert.deepEqual(away.events, []);
});

test('a pull that takes long is reported, and not after it has ended', async () => {
  const slow = Promise.withResolvers<PullOutcome>();
  const { ensure, events, clock } = createBench({}, () => slow.promise);
  const answer = ensure(request, never);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  await turn();
  await clock.advance(31_000);
  await turn();
  slow.resolve(PULLED);
  await answer;
  await clock.advance(600_000);
  assert.deepEqual(events, [
    'Pulling: Pulling image "a.io/app"',
    'PullProgress: Still pulling image "a.io/app" after 15s',
    'PullProgress: Still pulling image "a.io/app" after 30s',
    'Pulled: Successfully pulled image "a.io/app" in 1.5s (31s including waiting). Image size: 9 bytes.',
  ]);
  assert.equal(clock.sleepers(), 0);
});

test('a pod that joins a pull under way gets its own waiting time', async () => {
  const { ensure, events, clock } = createBench({}, async () => {
    await clock.advance(400);
    return PULLED;
  });
  await ensure(request, never);
  assert.match(events.at(-1) ?? '', / in 400ms \(400ms including waiting\)/);
});

/** Records that note each call. */
function createRecords(more: Partial<PullRecords> = {}) {
  const calls: string[] = [];
  const note = (what: string) => () => {
    calls.push(what);
    return Promise.resolve();
  };
  const records: PullRecords = {
    open: note('open'),
    begin: note('begin'),
    pulled: note('pulled'),
    failed: note('failed'),
    abandon: () => calls.push('abandon'),
    learn: note('learn'),
    recordOf: () => undefined,
    isIntended: () => false,
    settle: note('settle'),
    prune: note('prune'),
    ...more,
  };
  return { calls, access: { records, verification: { policy: 'AlwaysVerify', allowlist: [] } as const } };
}

test('each pull is noted before it begins and when it ends, whatever its end', async () => {
  const cases: readonly (readonly [() => PullOutcome | Promise<PullOutcome>, string])[] = [
    [() => PULLED, 'pulled'],
    [() => FAILED, 'failed'],
    [() => Promise.reject(new CodedError('unavailable', 'away')), 'abandon'],
  ];
  for (const [outcome, end] of cases) {
    const { calls, access } = createRecords();
    const { ensure } = createBench({ access }, outcome);
    await ensure(request, never).catch(() => undefined);
    assert.deepEqual(calls, ['begin', end]);
  }
});

test('what can not be noted is not pulled', async () => {
  const { access } = createRecords({ begin: () => Promise.reject(new Error('disk full')) });
  const { ensure, jobs } = createBench({ access });
  const answer = await ensure(request, never);
  assert.ok(answer.kind === 'waiting');
  assert.equal(answer.reason, 'ErrImagePull');
  assert.match(answer.message, /^Failed to record image pull intent for container image "a.io\/app": .*disk full$/);
  assert.deepEqual(jobs, []);
});

test('credentials are looked up once, and not at all where no one needs them', async () => {
  let lookups = 0;
  const credentials: EnsureDeps['credentials'] = {
    find: () => {
      lookups += 1;
      return Promise.reject(new CodedError('invalid', 'bad secret'));
    },
    missing: () => Promise.resolve([]),
  };
  const known = {
    secrets: [{ uid: '', namespace: '', name: '', credentialHash: 'h' }],
    serviceAccounts: [],
    everyPod: false,
  };
  const record = { imageRef: 'sha256:1', updatedAt: '', credentials: new Map([['a.io/app', known]]) };
  const { access } = createRecords({ recordOf: () => record });
  const runtime = { status: () => Promise.resolve({ image }) };
  const asking = createBench({ access, credentials, runtime });
  const answer = await asking.ensure(request, never);
  assert.ok(answer.kind === 'waiting' && answer.message === 'bad secret');
  assert.equal(lookups, 1);
  await createBench({ credentials, runtime }).ensure(request, never);
  assert.equal(lookups, 1);
});

test('a missing pull secret is reported, also where the image is present', async () => {
  const reported = (image: Image | undefined, missing: readonly string[]) => {
    const find = () => Promise.resolve({ credentials: [], missing });
    const credentials = { find, missing: () => Promise.resolve(missing) };
    const { ensure, events } = createBench({ credentials, runtime: { status: () => Promise.resolve({ image }) } });
    return ensure(request, never).then(() => events.filter((event) => event.startsWith('FailedToRetrieve')));
  };
  const expected = [
    'FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (a, b); attempting to pull the image may not succeed.',
  ];
  assert.deepEqual(await reported(image, ['a', 'b']), expected);
  assert.deepEqual(await reported(undefined, ['a', 'b']), expected);
  assert.deepEqual(await reported(image, []), []);
});
