import { assertNever } from '../../base/assert-never.ts';
import type { VolumeProgress, VolumeStage, VolumeTry } from '../../model/volume-progress.ts';
import { type Obstacle, readyOf, resolvedOf, type VolumeState } from './volume-state.ts';

/** What others are shown of a volume; undefined where its pod ends, which waits for no volume. */
export function volumeProgress(name: string, state: VolumeState): VolumeProgress | undefined {
  if (state.kind === 'stopped') return undefined;
  const { stage, since } = positionOf(state);
  return {
    name,
    plugin: resolvedOf(state)?.kind.plugin,
    stage,
    since,
    usable: readyOf(state) !== undefined,
    lastTry: state.kind === 'ready' ? undefined : tryOf(state.obstacle),
    nextTryAt: state.kind === 'held' ? state.retryAt : undefined,
  };
}

function positionOf(state: Exclude<VolumeState, { kind: 'stopped' }>): {
  readonly stage: VolumeStage;
  readonly since: number;
} {
  switch (state.kind) {
    case 'pending':
      return state.obstacle ?? { stage: state.has.kind === 'nothing' ? 'resolve' : 'make', since: state.since };
    case 'held':
      return state.obstacle;
    case 'working':
      return { stage: state.stage, since: state.since };
    case 'ready':
      return { stage: 'ready', since: state.since };
    default:
      return assertNever(state);
  }
}

function tryOf(obstacle: Obstacle | undefined): VolumeTry | undefined {
  if (obstacle === undefined) return undefined;
  const { outcome, message, code, tries: count, at } = obstacle;
  return { outcome, message, code, count, at };
}
