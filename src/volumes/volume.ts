/** One volume of one pod: one operation at a time, tried again after failures, made anew when what it shows has changed. */
import type { Pod } from '../api/pod.ts';
import type { Volume } from '../api/volume.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { VolumeKind, VolumeReady } from './kind.ts';
import { showsTheSame } from './rules/shown-pod.ts';
import { MISSING, nextStep, reduceVolume, type VolumeState } from './rules/volume-step.ts';

export interface VolumeTask {
  readonly volume: Volume;
  readonly kind: VolumeKind;
  readonly directory: string;
  ready(): VolumeReady | undefined;
  /** Wall clock; undefined before it was ready for the first time. */
  readySince(): number | undefined;
  /** It waits for the attachment of its device. */
  unattached(): boolean;
  /** What `volumesInUse` calls it, once that is known. */
  uniqueName(): string | undefined;
  /** Look what it needs now. */
  look(): void;
  /** The pod has changed. */
  update(pod: Pod): void;
  /** Something that it shows may have changed. */
  changed(): void;
  /** A volume that may hang by now counts as missing until it was made again. */
  recheck(): void;
  /** Nothing more is begun; what is under way is aborted and waited for. */
  stop(reason: unknown): Promise<void>;
}

export interface VolumeTaskDeps {
  readonly clock: Clock;
  /** Calls something, and reports what it throws. */
  readonly guard: (call: () => void) => void;
  /** Makes what comes before `setUp`: attaches and stages the device. Answers its unique name. */
  readonly prepare: (task: PrepareRequest, signal: AbortSignal) => Promise<string | undefined>;
  readonly onSettled: () => void;
  readonly onFailed: (pod: Pod, volume: Volume, error: unknown) => void;
  readonly onOperation: (operation: VolumeOperation) => void;
  /** A volume that shows objects is compared again after this time, whatever was heard; ms. */
  readonly resyncMs: () => number;
}

export interface PrepareRequest {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly kind: VolumeKind;
  readonly directory: string;
  readonly fsGroup: number | undefined;
  readonly named: (uniqueName: string) => void;
}

/** For metrics. */
export interface VolumeOperation {
  readonly plugin: string;
  /** `reconstruct`: one of an earlier kubelet is looked after from now on, or taken away. `measure`: its size was looked for. */
  readonly operation: 'volume_mount' | 'volume_unmount' | 'reconstruct' | 'measure';
  readonly seconds: number;
  readonly failed: boolean;
}

export interface VolumeTaskStart {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly kind: VolumeKind;
  readonly directory: string;
}

/** The device is not there yet: waited for without an event. */
export function notAttached(message: string): CodedError {
  return new CodedError('unavailable', message, { data: { unattached: true } });
}

export function createVolumeTask(deps: VolumeTaskDeps, start: VolumeTaskStart): VolumeTask {
  const { clock } = deps;
  const { volume, kind, directory } = start;
  const stopping = new AbortController();
  let pod = start.pod;
  let state: VolumeState = MISSING;
  let ready: VolumeReady | undefined;
  let readySince: number | undefined;
  let unattached = false;
  let uniqueName: string | undefined;
  let running: Promise<void> = Promise.resolve();

  const look = (): void => {
    if (stopping.signal.aborted) return;
    const step = nextStep(state, clock.now());
    if (step.kind === 'set-up') {
      state = reduceVolume(state, { kind: 'begun' });
      running = operate();
    } else if (step.until !== undefined) alarm.ringAt(step.until);
  };
  const alarm = createAlarm(clock, () => deps.guard(look));

  const showsObjects = () => kind.dependsOnPod === true || (kind.dependsOn?.(pod, volume) ?? []).length > 0;

  const setUp = async (): Promise<VolumeReady> => {
    const fsGroup = pod.spec.securityContext?.fsGroup;
    const request = { pod, volume, directory, fsGroup };
    const named = (name: string) => {
      uniqueName = name;
    };
    await deps.prepare({ ...request, kind, named }, stopping.signal);
    return await kind.setUp(request, stopping.signal);
  };

  const operate = async (): Promise<void> => {
    const began = clock.mono();
    const tell = (failed: boolean) => {
      const seconds = (clock.mono() - began) / 1000;
      deps.onOperation({ plugin: kind.plugin, operation: 'volume_mount', seconds, failed });
    };
    try {
      ready = await setUp();
      readySince ??= clock.now();
      unattached = false;
      tell(false);
      const resyncAt = showsObjects() ? clock.now() + deps.resyncMs() : undefined;
      state = reduceVolume(state, { kind: 'made', refreshAt: earliest(ready.refreshAt, resyncAt) });
    } catch (error) {
      if (stopping.signal.aborted) {
        state = reduceVolume(state, { kind: 'cut-off' });
        return;
      }
      unattached = error instanceof CodedError && error.data['unattached'] === true;
      tell(true);
      state = reduceVolume(state, { kind: 'failed', now: clock.now() });
      if (!unattached) deps.onFailed(pod, volume, error);
    }
    deps.onSettled();
    look();
  };

  return {
    volume,
    kind,
    directory,
    ready: () => ready,
    readySince: () => readySince,
    unattached: () => unattached,
    uniqueName: () => uniqueName ?? ready?.uniqueName,
    look,
    update: (next) => {
      const before = pod;
      pod = next;
      if (kind.dependsOnPod !== true || showsTheSame(before, next)) return;
      state = reduceVolume(state, { kind: 'changed' });
      look();
    },
    changed: () => {
      state = reduceVolume(state, { kind: 'changed' });
      look();
    },
    recheck: () => {
      if (ready?.foreign !== true || state.busy) return;
      ready = undefined;
      state = { ...MISSING, failures: state.failures };
    },
    stop: async (reason) => {
      stopping.abort(reason);
      alarm.clear();
      await running;
    },
  };
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
