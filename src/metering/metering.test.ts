/** What goes through the counted ports is as it was, and is counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Act, ActContext } from '../act/act.ts';
import type { HooksPort, ImagesPort, RequestsPort, RuntimePort, VolumesPort } from '../act/ports.ts';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger } from '../base/logger.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Action } from '../model/plan.ts';
import { askRuntimeDriver } from '../resources/runtime-driver.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { createWorkMetrics } from '../telemetry/metrics-work.ts';
import {
  type Counting,
  countAct,
  countEvents,
  countHooks,
  countImages,
  countRuntime,
  countUserNamespaces,
  countVolumes,
} from './metering.ts';

const never = new AbortController().signal;

function count() {
  const metrics = createMetrics({ version: '1.36.4', showHiddenFor: '' });
  let now = 0;
  const spent: string[] = [];
  const counting: Counting = {
    mono: () => {
      now += 250;
      return now;
    },
    work: createWorkMetrics(metrics),
    resizes: { tried: () => undefined },
    starts: { spent: (uid, step, ms) => void spent.push(`${uid} ${step} ${ms}`) },
  };
  const shows = (...lines: readonly string[]) => {
    const shown = metrics.render().split('\n');
    for (const line of lines) assert.ok(shown.includes(line), `${line} is missing in\n${shown.join('\n')}`);
  };
  return { counting, shows, spent };
}

test('sandboxes by their handler, failures, and images among the mounts', async () => {
  const { counting, shows } = count();
  let broken = false;
  const answer = () => (broken ? Promise.reject(new Error('no')) : Promise.resolve('id'));
  const port = { sandboxes: { run: answer }, containers: { create: answer } } as unknown as RuntimePort;
  const { sandboxes, containers } = countRuntime(port, counting);
  const create = () =>
    containers.create(
      { podSandboxId: 's', sandboxConfig: {}, config: { mounts: [{ image: { image: 'a' } }, { hostPath: '/' }] } },
      never,
    );
  assert.equal(await sandboxes.run({ config: {}, runtimeHandler: '' }, never), 'id');
  assert.equal(await create(), 'id');
  broken = true;
  await assert.rejects(sandboxes.run({ config: {}, runtimeHandler: 'kata' }, never), /no/);
  await assert.rejects(create(), /no/);
  // What was aborted is no failure.
  await assert.rejects(sandboxes.run({ config: {}, runtimeHandler: 'kata' }, AbortSignal.abort()), /no/);
  shows(
    'kubelet_run_podsandbox_duration_seconds_sum{runtime_handler=""} 0.25',
    'kubelet_run_podsandbox_duration_seconds_count{runtime_handler="kata"} 1',
    'kubelet_run_podsandbox_errors_total{runtime_handler="kata"} 1',
    'kubelet_started_pods_errors_total 1',
    'kubelet_image_volume_mounted_succeed_total 1',
    'kubelet_image_volume_mounted_errors_total 1',
  );
});

test('the steps of a start, by the pod that they are for', async () => {
  const { counting, spent } = count();
  const port = {
    sandboxes: { run: () => Promise.resolve('s') },
    containers: { create: () => Promise.resolve('c'), start: () => Promise.resolve() },
  } as unknown as RuntimePort;
  const { sandboxes, containers } = countRuntime(port, counting);
  const metadata = { uid: 'u' };
  await sandboxes.run({ config: { metadata }, runtimeHandler: '' }, never);
  const id = await containers.create({ podSandboxId: 's', sandboxConfig: { metadata }, config: {} }, never);
  await containers.start(id, never);
  const volumes = countVolumes(
    { ensure: () => Promise.resolve({ kind: 'ready' }) } as unknown as VolumesPort,
    counting,
  );
  await volumes.ensure({ metadata } as unknown as Pod, never);
  assert.deepEqual(spent, ['u sandbox 250', 'u create 250', 'u start 250', 'u volumes 250']);
});

test('starts of pods with user namespaces, failed where anything in the pass of the sandbox did', async () => {
  const { counting, shows } = count();
  const counted = countUserNamespaces(counting);
  const requests = counted.requests({ sandbox: async () => ({ kind: 'problem', message: '' }) } as Pick<
    RequestsPort,
    'sandbox'
  >);
  const stopping = new AbortController();
  /** One pass over a pod: whether it makes a sandbox, how often the request for it is built, and what comes of it. */
  const pass = async (hostUsers: boolean | undefined, sandbox: boolean, end: () => readonly Outcome[], built = 2) => {
    const pod = { metadata: { uid: 'u' }, spec: { hostUsers, containers: [] } } as unknown as Pod;
    const act = counted.act({
      carryOut: async (_, context) => {
        for (let n = 0; n < built; n++) await requests.sandbox(context.pod, 0, never);
        return end();
      },
    } as Act);
    const context = { pod, wanted: stopping.signal, signal: never } as unknown as ActContext;
    const actions: readonly Action[] = sandbox ? [{ kind: 'sandbox-create', attempt: 0, reason: '' }] : [];
    await act.carryOut(actions, context).catch(() => undefined);
  };
  const well = (): readonly Outcome[] => [];
  const blocked = (): readonly Outcome[] => [
    { kind: 'blocked', subject: { kind: 'sandbox-create', attempt: 0 }, message: 'no sandbox' },
  ];
  const notMade = { kind: 'waiting', reason: 'CreateContainerError', message: '', retryAt: undefined } as const;
  const noContainer = (): readonly Outcome[] => [{ kind: 'start', name: 'c', outcome: notMade }];
  const interrupted = (): readonly Outcome[] => {
    throw new Error('runtime away');
  };
  const shown = (started: number, failed: number) =>
    shows(
      `kubelet_started_user_namespaced_pods_total ${started}`,
      `kubelet_started_user_namespaced_pods_errors_total ${failed}`,
    );
  shown(0, 0);
  await pass(undefined, true, blocked);
  await pass(true, true, blocked);
  shown(0, 0);
  await pass(false, true, well);
  shown(1, 0);
  await pass(false, true, blocked);
  await pass(false, true, noContainer);
  await pass(false, true, interrupted);
  shown(4, 3);
  await pass(false, false, noContainer);
  // Volumes that are not there: the sandbox was never begun.
  await pass(false, true, blocked, 0);
  shown(4, 3);
  stopping.abort();
  await pass(false, true, interrupted);
  shown(5, 3);
});

test('a runtime that cannot say its cgroup driver is on its way out', async () => {
  const { counting, shows } = count();
  const answers = ['cgroupfs', 'unsupported', undefined] as const;
  const driver = (answer: (typeof answers)[number]) => {
    const ask = () => Promise.resolve(answer);
    return askRuntimeDriver(
      { log: createSilentLogger(), ask, onLosesSupport: counting.work.runtimeLosesSupport },
      never,
    );
  };
  assert.equal(await driver('cgroupfs'), 'cgroupfs');
  assert.throws(() => shows('kubelet_cri_losing_support{version="1.37.0"} 1'));
  assert.equal(await driver('unsupported'), undefined);
  shows('kubelet_cri_losing_support{version="1.37.0"} 1');
});

test('containers that do not start, by type and reason', async () => {
  const { counting, shows } = count();
  const waiting = { kind: 'waiting', reason: 'ErrImagePull', message: '', retryAt: undefined } as const;
  const outcomes = [
    { kind: 'start', name: 'main', outcome: { kind: 'started', id: 'c' } },
    { kind: 'start', name: 'first', outcome: waiting },
    { kind: 'start', name: 'main', outcome: { kind: 'hook-failed', id: 'c', message: '' } },
    { kind: 'blocked', message: 'no volumes' },
  ];
  const act = countAct({ carryOut: () => Promise.resolve(outcomes) } as unknown as Act, counting);
  const pod = { spec: { containers: [{ name: 'main' }], initContainers: [{ name: 'first' }] } } as unknown as Pod;
  assert.equal(await act.carryOut([], { pod } as Parameters<Act['carryOut']>[1]), outcomes);
  shows(
    'kubelet_started_containers_errors_total{code="ErrImagePull",container_type="init_container"} 1',
    'kubelet_started_containers_errors_total{code="PostStartHookError",container_type="container"} 1',
  );
});

test('images as volumes, sleeps that are cut short, events', async () => {
  const { counting, shows } = count();
  const images = countImages({ ensureVolume: () => Promise.resolve({}) } as unknown as ImagesPort, counting);
  await images.ensureVolume({} as Parameters<ImagesPort['ensureVolume']>[0]);
  const stop = AbortSignal.abort(new Error('gone'));
  const hooks = countHooks({ run: () => Promise.reject(new Error('gone')) }, counting);
  const hook = (handler: object) => ({ handler }) as Parameters<HooksPort['run']>[0];
  await assert.rejects(hooks.run(hook({ sleep: { seconds: 5 } }), stop));
  await assert.rejects(hooks.run(hook({ exec: {} }), stop));
  const watchEvents = (onEvent: (event: never) => void) => {
    onEvent({ createdAt: 1_000_000_000n } as never);
    return Promise.reject(new Error('closed'));
  };
  const seen: unknown[] = [];
  const cri = countEvents({ watchEvents } as never as Parameters<typeof countEvents>[0], counting, () => 1500);
  await assert.rejects(
    cri.watchEvents((event) => void seen.push(event), never),
    /closed/,
  );
  assert.equal(seen.length, 1);
  shows(
    'kubelet_image_volume_requested_total 1',
    'kubelet_sleep_action_terminated_early_total 1',
    'kubelet_evented_pleg_connection_success_count 1',
    'kubelet_evented_pleg_connection_error_count 1',
    'kubelet_evented_pleg_connection_latency_seconds_sum 0.5',
  );
});
