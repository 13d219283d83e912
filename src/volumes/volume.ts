/** One volume of one pod: carries out what rules/volume-state.ts decides, one operation at a time. */
import type { Pod } from '../api/pod.ts';
import type { Volume } from '../api/volume.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { codeOf, describeError } from '../base/errors.ts';
import type { VolumeProgress } from '../model/volume-progress.ts';
import type { Devices } from './devices.ts';
import type { NotReady, SetUpAnswer, VolumeReady } from './kind.ts';
import type { Operations } from './operations.ts';
import type { Resolution, Resolve } from './resolve.ts';
import { showsTheSame } from './rules/shown-pod.ts';
import { volumeProgress } from './rules/volume-progress.ts';
import {
  initialState,
  isUnattached,
  nextStep,
  type Obstacle,
  type ResolvedVolume,
  readyOf,
  reduceVolume,
  resolvedOf,
  type VolumeEvent,
  type VolumeState,
  type WorkStage,
} from './rules/volume-state.ts';

export interface VolumeTask {
  readonly volume: Volume;
  /** Undefined until it is known which kind makes it. */
  resolved(): ResolvedVolume | undefined;
  ready(): VolumeReady | undefined;
  /** Wall clock; undefined before it was ready for the first time. */
  readySince(): number | undefined;
  /** It waits for the attachment of its device. */
  unattached(): boolean;
  /** Undefined once it is stopped. */
  progress(): VolumeProgress | undefined;
  /** Does what is due now. */
  look(): void;
  /** The pod has changed. */
  update(pod: Pod): void;
  /** Something that it shows or waits for may have changed. */
  changed(): void;
  /** A volume that may hang by now counts as missing until it was made again. */
  recheck(): void;
  /** Begins nothing more; aborts the operation under way and waits for its end. */
  stop(reason: unknown): Promise<void>;
}

export interface VolumeTaskDeps {
  readonly clock: Clock;
  /** Calls something, and reports what it throws. */
  readonly guard: (call: () => void) => void;
  readonly resolve: Resolve;
  /** Where the volume's directory is, given the plugin and the last part of the path. */
  readonly directory: (plugin: string, name: string) => string;
  readonly devices: Pick<Devices, 'attach' | 'stage'>;
  readonly operations: Operations;
  /** An operation has ended, in whatever way. */
  readonly onSettled: () => void;
  readonly onResolved: (volume: ResolvedVolume) => void;
  readonly onObstacle: (pod: Pod, volume: Volume, obstacle: Obstacle) => void;
  /** A volume that shows objects is compared again after this time, also without any event; ms. */
  readonly resyncMs: () => number;
}

export function createVolumeTask(
  deps: VolumeTaskDeps,
  start: { readonly pod: Pod; readonly volume: Volume },
): VolumeTask {
  const { clock } = deps;
  const { volume } = start;
  const stopping = new AbortController();
  let pod = start.pod;
  let state: VolumeState = initialState(clock.now());
  let running: Promise<void> = Promise.resolve();

  const change = (event: VolumeEvent): void => {
    state = reduceVolume(state, event, clock.now());
  };

  const look = (): void => {
    const step = nextStep(state, clock.now());
    if (step.kind === 'resolve') {
      change({ kind: 'begun', stage: 'resolve' });
      running = operate(() => resolveVolume(deps, { pod, volume }, stopping.signal));
    } else if (step.kind === 'make') {
      change({ kind: 'begun', stage: 'make' });
      const enter = (stage: WorkStage) => change({ kind: 'entered', stage });
      running = operate(() => makeVolume(deps, { pod, volume, resolved: step.volume, enter }, stopping.signal));
    } else if (step.until !== undefined) alarm.ringAt(step.until);
  };
  const alarm = createAlarm(clock, () => deps.guard(look));

  const operate = async (operation: () => Promise<VolumeEvent>): Promise<void> => {
    const event = await operation().catch(
      (error: unknown): VolumeEvent => ({
        kind: 'held',
        outcome: 'failed',
        message: describeError(error),
        code: codeOf(error),
      }),
    );
    if (stopping.signal.aborted) return;
    change(event);
    if (event.kind === 'resolved') deps.onResolved(event.volume);
    if (event.kind === 'held' && 'obstacle' in state && state.obstacle !== undefined) {
      deps.onObstacle(pod, volume, state.obstacle);
    }
    deps.onSettled();
    look();
  };

  return {
    volume,
    resolved: () => resolvedOf(state),
    ready: () => readyOf(state),
    readySince: () => (state.has.kind === 'made' ? state.has.since : undefined),
    unattached: () => isUnattached(state),
    progress: () => volumeProgress(volume.name, state),
    look,
    update: (next) => {
      const before = pod;
      pod = next;
      if (resolvedOf(state)?.kind.dependsOnPod !== true || showsTheSame(before, next)) return;
      change({ kind: 'changed' });
      look();
    },
    changed: () => {
      change({ kind: 'changed' });
      look();
    },
    recheck: () => change({ kind: 'unsure' }),
    stop: async (reason) => {
      stopping.abort(reason);
      change({ kind: 'stopped' });
      alarm.clear();
      await running;
    },
  };
}

async function resolveVolume(
  { clock, resolve, directory, operations }: VolumeTaskDeps,
  { pod, volume }: { readonly pod: Pod; readonly volume: Volume },
  signal: AbortSignal,
): Promise<VolumeEvent> {
  const began = clock.mono();
  const answer: Resolution = await resolve(pod, volume, signal);
  if (answer.kind !== 'resolved') return held(answer);
  const { by: kind, directoryName, uniqueName } = answer;
  if (uniqueName === undefined) {
    // There is nothing to attach. The reference counts the check of such volumes, too.
    const seconds = (clock.mono() - began) / 1000;
    operations.report({
      plugin: kind.plugin,
      operation: 'verify_controller_attached_volume',
      seconds,
      failed: false,
    });
  }
  return { kind: 'resolved', volume: { kind, directory: directory(kind.plugin, directoryName), uniqueName } };
}

interface MakeRequest {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly resolved: ResolvedVolume;
  readonly enter: (stage: WorkStage) => void;
}

async function makeVolume(
  deps: VolumeTaskDeps,
  { pod, volume, resolved, enter }: MakeRequest,
  signal: AbortSignal,
): Promise<VolumeEvent> {
  const { clock, devices, operations } = deps;
  const { kind, directory } = resolved;
  const fsGroup = pod.spec.securityContext?.fsGroup;
  const timer = createPermissionsTimer(deps, kind.plugin);
  const request = {
    pod,
    volume,
    directory,
    fsGroup,
    enter: (stage: WorkStage) => {
      timer.entered(stage);
      enter(stage);
    },
  };
  const device = await devices.attach(resolved, request, signal);
  if (device.kind !== 'attached') return held(device);
  const work = async (): Promise<SetUpAnswer> => {
    await devices.stage(resolved, device.devicePath, request, signal);
    request.enter('make');
    return await kind.setUp(request, signal);
  };
  const answer = await operations.run(
    { plugin: kind.plugin, operation: 'volume_mount', work, succeeded: ({ kind: outcome }) => outcome === 'ready' },
    signal,
  );
  if (answer.kind !== 'ready') return held(answer);
  timer.entered('make');
  const { ready } = answer;
  const showsObjects = kind.dependsOnPod === true || (kind.dependsOn?.(pod, volume) ?? []).length > 0;
  const resyncAt = showsObjects ? clock.now() + deps.resyncMs() : undefined;
  return { kind: 'made', ready, refreshAt: earliest(ready.refreshAt, resyncAt) };
}

/** How long it took to give the files to the pod's group: an operation of its own in the metrics. */
function createPermissionsTimer({ clock, operations }: VolumeTaskDeps, plugin: string) {
  let began: number | undefined;
  return {
    entered: (stage: WorkStage): void => {
      if (began !== undefined) {
        const seconds = (clock.mono() - began) / 1000;
        operations.report({ plugin, operation: 'volume_apply_access_control', seconds, failed: false });
      }
      began = stage === 'permissions' ? clock.mono() : undefined;
    },
  };
}

const held = ({ kind, message }: NotReady): VolumeEvent =>
  kind === 'waiting'
    ? { kind: 'held', outcome: 'waiting', message }
    : { kind: 'held', outcome: 'failed', message, code: 'invalid' };

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
