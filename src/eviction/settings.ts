/** The settings of eviction, from the kubelet's configuration. */
import { parseDuration } from '../api/duration.ts';
import type { Config } from '../config/config.ts';
import type { EvictionConfig } from './eviction.ts';
import { computeThresholds } from './rules/threshold.ts';

export function evictionConfig({ kubelet, features }: Config): EvictionConfig {
  const grace = Object.entries(kubelet.evictionSoftGracePeriod).flatMap(([signal, text]) => {
    const parsed = parseDuration(text);
    return parsed.ok ? [[signal, parsed.value] as const] : [];
  });
  return {
    ...computeThresholds({
      hard: kubelet.evictionHard,
      soft: kubelet.evictionSoft,
      softGraceMs: Object.fromEntries(grace),
      minimumReclaim: kubelet.evictionMinimumReclaim,
      enforcesAllocatable: kubelet.enforceNodeAllocatable.includes('pods'),
    }),
    quickMemory: kubelet.kernelMemcgNotification,
    transitionMs: kubelet.evictionPressureTransitionPeriod,
    maxGraceSeconds: kubelet.evictionMaxPodGracePeriod,
    limitsStorage: kubelet.localStorageCapacityIsolation,
    podLevel: features.enabled('PodLevelResources'),
  };
}

/** `--eviction-memory-signal=available` */
export const watchesStalls = ({ settings }: Config): boolean => settings.eviction.memorySignal === 'available';
