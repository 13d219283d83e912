import type { Pod } from '../../api/pod.ts';

/** Whether files that show a pod would be the same: no file shows its status or its versions. */
export function showsTheSame(one: Pod, other: Pod): boolean {
  return one === other || shown(one) === shown(other);
}

function shown({ metadata, spec }: Pod): string {
  return JSON.stringify([metadata.labels, metadata.annotations, spec]);
}
