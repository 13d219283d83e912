/** One pod in the table of `kubectl get pods`. */
import type { Pod } from '../../api/pod.ts';
import { podRow } from '../../api/pod-row.ts';
import type { ApiObject } from './objects.ts';

export interface RowTimes {
  readonly age: string;
  readonly ago: (time: string | undefined) => string;
}

export function podCells(object: ApiObject, { age, ago }: RowTimes): readonly string[] {
  const pod = object as unknown as Pod;
  const { ready, containers, status, restarts, lastEnd, ip } = podRow(pod);
  const gates = pod.spec.readinessGates ?? [];
  const met = gates.filter((gate) =>
    (pod.status?.conditions ?? []).some((one) => one.type === gate.conditionType && one.status === 'True'),
  );
  return [
    object.metadata.name,
    `${ready}/${containers}`,
    status,
    restarts > 0 && lastEnd !== undefined ? `${restarts} (${ago(lastEnd)} ago)` : String(restarts),
    age,
    ip || '<none>',
    pod.spec.nodeName || '<none>',
    '<none>',
    gates.length === 0 ? '<none>' : `${met.length}/${gates.length}`,
  ];
}
