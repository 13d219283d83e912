/** How much memory of the node is protected for pods. */
import type { Metrics } from './metrics.ts';

export interface ProtectedMemory {
  /** Bytes. */
  readonly min: number;
  readonly low: number;
}

/** Undefined: the gate MemoryQoS is off, and there are no such metrics. */
export function addMemoryProtection(metrics: Metrics, read: (() => ProtectedMemory) | undefined): void {
  if (read === undefined) return;
  const add = (name: string, help: string, of: (memory: ProtectedMemory) => number) =>
    metrics.computed('gauge', { name: `kubelet_memory_qos_node_memory_${name}_bytes`, help }, () => [
      { labels: [], value: of(read()) },
    ]);
  add(
    'min',
    'Bytes of memory that guaranteed pods request and that the kernel never takes from them.',
    ({ min }) => min,
  );
  add('low', 'Bytes of memory that burstable pods request and that the kernel takes from them last.', ({ low }) => low);
}
