/** Which new pods a node takes that is short of something. */
import type { Pod } from '../../api/pod.ts';
import { isCriticalPod } from '../../api/pod-traits.ts';
import { qosClassOf } from '../../api/qos-class.ts';
import { tolerates } from './tolerations.ts';

export interface NodePressure {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

const CONDITIONS = [
  ['memory', 'MemoryPressure'],
  ['disk', 'DiskPressure'],
  ['pid', 'PIDPressure'],
] as const;
const MEMORY_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const;

/** A node that is only short of memory still takes pods with requests, and those that tolerate it. */
export function pressureRejection(
  pod: Pod,
  pressure: NodePressure,
  { taintComparison, podLevel }: { readonly taintComparison: boolean; readonly podLevel: boolean },
): { readonly reason: string; readonly message: string } | undefined {
  const conditions = CONDITIONS.filter(([kind]) => pressure[kind]).map(([, name]) => name);
  if (conditions.length === 0 || isCriticalPod(pod)) return undefined;
  if (pressure.memory && conditions.length === 1) {
    const options = { comparison: taintComparison };
    const isTolerated = (pod.spec.tolerations ?? []).some((toleration) => tolerates(toleration, MEMORY_TAINT, options));
    if (qosClassOf(pod, { podLevel }) !== 'BestEffort' || isTolerated) return undefined;
  }
  return { reason: 'Evicted', message: `The node had condition: [${conditions.join(' ')}]. ` };
}
