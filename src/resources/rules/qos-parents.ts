/** The cgroups above pods: of all pods, and of the lower QoS classes. What each may use follows from the pods that are here. */
import { milliCpuToShares } from '../../api/cpu-units.ts';
import type { Pod } from '../../api/pod.ts';
import { podRequests } from '../../api/pod-resources.ts';
import type { QosClass } from '../../api/pod-status.ts';
import { qosClassOf } from '../../api/qos-class.ts';
import { bytes, type CgroupLimits, LEAST_SHARES, milliCpu } from './cgroup-limits.ts';

/** Guaranteed pods have no cgroup of their own class: they hang below that of all pods. */
export type QosParent = QosClass;
export type QosParentLimits = Readonly<Record<QosParent, CgroupLimits>>;
export const QOS_PARENTS: readonly QosParent[] = ['Guaranteed', 'Burstable', 'BestEffort'];

export interface QosSettings {
  readonly podLevel: boolean;
  /** Undefined where the kernel or the gate MemoryQoS does not allow it; false takes an earlier protection away. */
  readonly protectMemory: boolean | undefined;
  /** How many percent of what higher classes request lower ones may not use. */
  readonly reservedMemoryPercent: bigint | undefined;
  /** Bytes that all pods together may have. */
  readonly memoryForPods: bigint;
}

interface Requests {
  readonly burstableMilliCpu: number;
  readonly guaranteedMemory: bigint;
  readonly burstableMemory: bigint;
}

export function qosParentLimits(pods: Iterable<Pod>, settings: QosSettings): QosParentLimits {
  const requests = sumRequests(pods, settings.podLevel);
  const { guaranteed, burstable } = memoryProtection(requests, settings);
  const memory = memoryLimits(requests, settings);
  // The pods themselves are limited in huge pages: what is above them must not be in their way.
  const hugePages = 'unbounded' as const;
  return {
    Guaranteed: { hugePages, ...guaranteed },
    Burstable: {
      cpuShares: milliCpuToShares(requests.burstableMilliCpu),
      hugePages,
      ...burstable,
      ...memory.burstable,
    },
    BestEffort: { cpuShares: LEAST_SHARES, hugePages, ...memory.bestEffort },
  };
}

function sumRequests(pods: Iterable<Pod>, podLevel: boolean): Requests {
  let [burstableMilliCpu, guaranteedMemory, burstableMemory] = [0, 0n, 0n];
  for (const pod of pods) {
    const qosClass = qosClassOf(pod, { podLevel });
    if (qosClass === 'BestEffort') continue;
    const requests = podRequests(pod, { podLevel, overhead: true });
    if (qosClass === 'Guaranteed') guaranteedMemory += bytes(requests, 'memory');
    else {
      burstableMilliCpu += milliCpu(requests);
      burstableMemory += bytes(requests, 'memory');
    }
  }
  return { burstableMilliCpu, guaranteedMemory, burstableMemory };
}

/** A protection counts only as far as the cgroups above have it too: the one of all pods covers both classes. */
function memoryProtection(requests: Requests, { protectMemory }: QosSettings) {
  if (protectMemory === undefined) return { guaranteed: {}, burstable: {} };
  const [guaranteed, burstable] = protectMemory ? [requests.guaranteedMemory, requests.burstableMemory] : [0n, 0n];
  return { guaranteed: { memoryMin: guaranteed + burstable }, burstable: { memoryLow: burstable } };
}

/** Bytes that are protected for the pods of each class; the cgroup of all pods has the sum of both. */
export function protectedMemory({ Guaranteed, Burstable }: QosParentLimits): {
  readonly min: number;
  readonly low: number;
} {
  const low = Burstable.memoryLow ?? 0n;
  return { min: Number((Guaranteed.memoryMin ?? 0n) - low), low: Number(low) };
}

function memoryLimits(requests: Requests, { reservedMemoryPercent: percent, memoryForPods }: QosSettings) {
  if (percent === undefined || memoryForPods === 0n) return { burstable: {}, bestEffort: {} };
  const burstable = memoryForPods - (requests.guaranteedMemory * percent) / 100n;
  const bestEffort = burstable - (requests.burstableMemory * percent) / 100n;
  return { burstable: { memory: burstable }, bestEffort: { memory: bestEffort } };
}
