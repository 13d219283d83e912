/** What statistics take from the configuration. */
import type { Config } from '../config/config.ts';
import type { Selection } from './rules/selection.ts';

export function metricSelection({ settings }: Config): Selection {
  const { metricsProfile, metricsAllow, metricsDeny } = settings.cadvisor;
  return { profile: metricsProfile === 'lean' ? 'lean' : 'full', allow: metricsAllow, deny: metricsDeny };
}

/** `--eviction-memory-signal` */
export const countsWithoutCache = ({ settings }: Config): boolean => settings.eviction.memorySignal === 'available';

/** `PodAndContainerStatsFromCRI`: what pods use is asked of the runtime. */
export const readsRuntimeStats = ({ features }: Config): boolean => features.enabled('PodAndContainerStatsFromCRI');

/** As `kubelet_metrics_provider` names it. */
export const metricsProvider = (config: Config) => (readsRuntimeStats(config) ? 'cri' : 'cadvisor');
