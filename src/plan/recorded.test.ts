/**
 * The recorded lives of 60 pods, lived again: with containers that meet the recorded fate the decisions must ask the
 * runtime for the same sandboxes, containers and stops as the reference did, in the same order.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fate, SimulatedRuntime } from '../../tests/plan/simulated-runtime.ts';
import { SimulatedWorker } from '../../tests/plan/simulated-worker.ts';
import { loadLives, type RecordedCall, type RecordedLife } from '../../tests/recorded/lives.ts';
import type { ContainerStateTerminated } from '../api/pod-status.ts';
import { parseTimestamp } from '../api/timestamp.ts';

interface Metadata {
  readonly name: string;
  readonly attempt?: number;
}

interface Made extends Metadata {
  readonly attempt: number;
  readonly id: string | undefined;
}

/** Which container each CreateContainer made. */
function madeBy(life: RecordedLife): readonly Made[] {
  return life.cri
    .filter(({ call }) => call === 'CreateContainer')
    .map((call) => {
      const { name, attempt = 0 } = metadataOf(call);
      const id = call.res?.['container_id'];
      return { name, attempt, id: id === undefined ? undefined : String(id) };
    });
}

function metadataOf({ req }: RecordedCall): Metadata {
  return (req['config'] as { readonly metadata: Metadata }).metadata;
}

function terminations(life: RecordedLife): ReadonlyMap<string, ContainerStateTerminated> {
  const all = life.statuses.flatMap(({ status }) =>
    [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].flatMap(({ state, lastState }) =>
      [state.terminated, lastState.terminated].filter((end) => end !== undefined),
    ),
  );
  return new Map(all.map((end) => [(end.containerID ?? '').replace('containerd://', ''), end]));
}

/** What became of the container of that name and number, as far as it was not the kubelet's doing. */
function fateOf(life: RecordedLife, name: string, attempt: number): Fate {
  const made = madeBy(life).find((one) => one.name === name && one.attempt === attempt);
  if (made?.id === undefined) return { fails: 'make', exitCode: 0 };
  const calls = life.cri.filter(({ req }) => req['container_id'] === made.id);
  const start = calls.find(({ call }) => call === 'StartContainer');
  if (start?.error !== undefined) return { fails: 'start', exitCode: 128 };
  const began = (start?.ms ?? 0) + (start?.took ?? 0);
  const stop = calls.find(({ call }) => call === 'StopContainer');
  const end = terminations(life).get(made.id);
  const probes = calls.filter(({ call }) => call === 'ExecSync');
  const well = probes.find(({ res }) => res?.['exit_code'] === undefined);
  return {
    exitCode: end?.exitCode ?? 0,
    stopCode: end?.exitCode ?? 0,
    ...(well === undefined ? {} : { upAfterMs: well.ms - began }),
    ...(stop === undefined && end !== undefined ? { endsAfterMs: ranMs(end) } : {}),
    ...(stop !== undefined && isKill(life) ? { unwellAfterMs: stop.ms - began } : {}),
    hookFails: life.events.some(({ reason }) => reason === 'FailedPostStartHook'),
  };
}

function ranMs({ startedAt, finishedAt }: ContainerStateTerminated): number {
  return Math.max(200, (parseTimestamp(finishedAt ?? '') ?? 0) - (parseTimestamp(startedAt ?? '') ?? 0));
}

const isKill = (life: RecordedLife): boolean =>
  life.events.some(({ message }) => message.includes('failed liveness probe, will be restarted'));

/** The calls that follow from decisions, in the words of the simulation. */
function recordedCalls(life: RecordedLife): readonly string[] {
  const names = new Map(madeBy(life).map(({ id, name }) => [id, name]));
  const lines = life.cri.flatMap((call) => {
    switch (call.call) {
      case 'RunPodSandbox':
        return [`sandbox ${metadataOf(call).attempt ?? 0}`];
      case 'CreateContainer':
        return call.error === undefined ? [`start ${metadataOf(call).name}#${metadataOf(call).attempt ?? 0}`] : [];
      case 'StopContainer':
        return [`stop ${names.get(String(call.req['container_id']))}`];
      case 'StopPodSandbox':
        return ['stop sandbox 0'];
      default:
        return [];
    }
  });
  // The reference stops a sandbox twice at times; once is enough.
  const firstStop = lines.indexOf('stop sandbox 0');
  return lines.filter((line, index) => line !== 'stop sandbox 0' || index === firstStop);
}

/** Stops that run side by side have no order. */
function sortStops(lines: readonly string[]): readonly string[] {
  const isStop = (line: string | undefined): boolean => line?.startsWith('stop ') === true && !line.includes('sandbox');
  return lines.reduce<string[]>((sorted, line) => {
    const before = sorted.at(-1);
    if (before !== undefined && isStop(before) && isStop(line) && line < before) {
      sorted.splice(-1, 1, line, before);
      return sorted;
    }
    sorted.push(line);
    return sorted;
  }, []);
}

function deletedAt(life: RecordedLife): number {
  return life.statuses.find(({ deleting }) => deleting)?.ms ?? 0;
}

for (const life of loadLives()) {
  // The reference makes no call for these: they are refused before anything is decided here, or wait for a volume.
  if (life.cri.length === 0) continue;
  test(life.name, () => {
    const runtime = new SimulatedRuntime(life.pod, (name, attempt) => fateOf(life, name, attempt));
    const worker = new SimulatedWorker(life.pod, runtime);
    const outcome = worker.runUntil(runtime.now + deletedAt(life));
    worker.terminate(life.pod.spec.terminationGracePeriodSeconds ?? 30);
    assert.deepEqual(sortStops(runtime.log), sortStops(recordedCalls(life)));
    const over = life.statuses.some(
      ({ deleting, status }) => !deleting && ['Succeeded', 'Failed'].includes(status.phase ?? ''),
    );
    assert.equal(outcome === 'finished' || outcome === 'deadline', over, `it ended by itself: ${outcome}`);
  });
}
