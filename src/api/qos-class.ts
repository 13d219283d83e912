/**
 * Which of the three quality-of-service classes a pod is in: it decides where its cgroup hangs, who is ended first under
 * pressure, and how its processes are scored by the out-of-memory killer.
 */
import type { Container } from './container.ts';
import type { ResourceList } from './meta.ts';
import type { Pod } from './pod.ts';
import { quantityOf } from './pod-resources.ts';
import type { QosClass } from './pod-status.ts';

export interface QosOptions {
  /** The gate PodLevelResources: a pod's own resources count instead of those of its containers. */
  readonly podLevel: boolean;
}

/** Only these make a class. */
const COUNTED = ['cpu', 'memory'] as const;

type Totals = Readonly<Record<(typeof COUNTED)[number], bigint>>;

/** The class that the API server wrote down stays, also when the pod is resized. */
export function qosClassOf(pod: Pod, options: QosOptions): QosClass {
  return pod.status?.qosClass ?? computeQosClass(pod, options);
}

export function computeQosClass(pod: Pod, { podLevel }: QosOptions): QosClass {
  const { containers, initContainers = [], resources } = pod.spec;
  const holders = podLevel && resources !== undefined ? [{ resources }] : [...containers, ...initContainers];
  const requests = totals(holders, 'requests');
  const limits = totals(holders, 'limits');
  if (COUNTED.every((name) => requests[name] === 0n && limits[name] === 0n)) return 'BestEffort';
  const everyLimit = holders.every(({ resources: own }) =>
    COUNTED.every((name) => quantityOf(own?.limits, name).nanos > 0n),
  );
  const asRequested = COUNTED.every((name) => requests[name] === limits[name]);
  return everyLimit && asRequested ? 'Guaranteed' : 'Burstable';
}

function totals(holders: readonly Pick<Container, 'resources'>[], kind: 'requests' | 'limits'): Totals {
  const sum = (name: string) => holders.reduce((total, { resources }) => total + positive(resources?.[kind], name), 0n);
  return { cpu: sum('cpu'), memory: sum('memory') };
}

function positive(list: ResourceList | undefined, name: string): bigint {
  const { nanos } = quantityOf(list, name);
  return nanos > 0n ? nanos : 0n;
}
