/** What the CPU, memory and topology managers do. */
import type { Metrics } from './metrics.ts';

export interface PinningMeter {
  requested(): void;
  failed(): void;
}

export interface ManagerMetrics {
  readonly cpus: PinningMeter;
  readonly memory: PinningMeter;
  readonly topology: {
    /** A pod is decided on; the result is to be called when that is done. */
    begun(): () => void;
    refused(): void;
    aligned(scope: 'container' | 'pod', success: boolean): void;
  };
}

export interface PinnedCpus {
  /** CPUs that containers have for themselves, and those that can still be given to one. */
  readonly exclusive: number;
  readonly available: number;
}

/** From 0.05 ms, each bound twice the one before. */
const ADMISSION_MS = Array.from({ length: 15 }, (_, index) => Math.round(0.05 * 2 ** index * 100) / 100);
const ALIGNED = ['scope', 'boundary'];
const NODE = 'numa_node';

export function createManagerMetrics(metrics: Metrics, mono: () => number, read: () => PinnedCpus): ManagerMetrics {
  const pinning = (manager: string, what: string): PinningMeter => {
    const count = (name: string, help: string) =>
      metrics.counter({ name: `kubelet_${manager}_manager_pinning_${name}_total`, help });
    const requests = count('requests', `The number of allocations which required pinned ${what}.`);
    const errors = count('errors', `The number of allocations which required pinned ${what} and failed.`);
    requests.add(0);
    errors.add(0);
    return { requested: () => requests.add(1), failed: () => errors.add(1) };
  };
  metrics.computed(
    'gauge',
    {
      name: 'kubelet_cpu_manager_exclusive_cpu_allocation_count',
      help: 'The number of CPUs that containers have for themselves.',
    },
    () => [{ value: read().exclusive }],
  );
  metrics.computed(
    'gauge',
    {
      name: 'kubelet_cpu_manager_shared_pool_size_millicores',
      help: 'The CPUs that no container has for itself and that are not reserved, in thousandths.',
    },
    () => [{ value: read().available * 1000 }],
  );
  const topology = (name: string, help: string) =>
    metrics.counter({ name: `kubelet_topology_manager_admission_${name}_total`, help });
  const requests = topology('requests', 'The number of pods whose resources were aligned.');
  const errors = topology('errors', 'The number of pods whose resources could not be aligned.');
  requests.add(0);
  errors.add(0);
  const duration = metrics.histogram({
    name: 'kubelet_topology_manager_admission_duration_ms',
    help: 'Duration in milliseconds to decide on the resources of a pod.',
    buckets: ADMISSION_MS,
  });
  const aligned = metrics.counter({
    name: 'kubelet_container_aligned_compute_resources_count',
    help: 'Containers, or pods, whose compute resources are aligned.',
    labels: ALIGNED,
  });
  const misaligned = metrics.counter({
    name: 'kubelet_container_aligned_compute_resources_failure_count',
    help: 'Containers, or pods, whose compute resources could not be aligned.',
    labels: ALIGNED,
  });
  return {
    cpus: pinning('cpu', 'CPUs'),
    memory: pinning('memory', 'memory'),
    topology: {
      begun: () => {
        requests.add(1);
        const began = mono();
        return () => duration.observe(mono() - began);
      },
      refused: () => errors.add(1),
      aligned: (scope, success) => (success ? aligned : misaligned).add(1, [scope, NODE]),
    },
  };
}
