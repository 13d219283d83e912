/** `--runonce`: whether a pod has been run once. */
import { allContainers } from '../../api/pod-traits.ts';
import { newestContainers } from '../../model/observation.ts';
import type { PodView } from '../../model/pod-view.ts';

export type RunOnceVerdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** `reason` is empty while there is no problem. */
  | { readonly kind: 'waiting'; readonly reason: string };

export function judgeRunOnce(view: PodView | undefined): RunOnceVerdict {
  if (view === undefined) return { kind: 'waiting', reason: '' };
  const { pod, step, ended, observation, plan, memory } = view;
  if (ended !== undefined) return { kind: 'failed', reason: `${ended.reason}: ${ended.message}` };
  if (step === 'terminated') return { kind: 'done' };
  const troubles = [...memory].filter(([, { waiting }]) => waiting !== undefined);
  if (troubles.length > 0) {
    const reason = troubles.map(([name, { waiting }]) => `${name}: ${waiting?.reason}: ${waiting?.message}`).join('; ');
    return { kind: 'waiting', reason };
  }
  const newest = newestContainers(observation);
  const hasStarted = allContainers(pod).every(({ name }) => {
    const state = newest.get(name)?.state;
    return state === 'running' || state === 'exited';
  });
  const settled = step === 'syncing' && hasStarted && plan !== undefined && plan.actions.length === 0 && !plan.finished;
  return settled ? { kind: 'done' } : { kind: 'waiting', reason: '' };
}
