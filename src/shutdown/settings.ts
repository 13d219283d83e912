/** The settings of a graceful node shutdown, from the kubelet's configuration. */
import type { Config } from '../config/config.ts';
import { type GracePeriod, gracePeriods } from './rules/groups.ts';

export interface ShutdownConfig {
  /** From low to high priority. Empty: a shutdown of the machine is not delayed. */
  readonly periods: readonly GracePeriod[];
  /** The kubelet's root directory. */
  readonly directory: string;
  /** GracefulNodeShutdownBasedOnPodPriority: with it come the state file and the metrics. */
  readonly reportsTimes: boolean;
}

export function shutdownConfig({ kubelet, settings, features }: Config): ShutdownConfig {
  const reportsTimes = features.enabled('GracefulNodeShutdownBasedOnPodPriority');
  const byPriority = kubelet.shutdownGracePeriodByPodPriority.map(({ priority, shutdownGracePeriodSeconds }) => ({
    priority,
    seconds: shutdownGracePeriodSeconds,
  }));
  const periods = gracePeriods({
    wholeMs: kubelet.shutdownGracePeriod,
    criticalMs: kubelet.shutdownGracePeriodCriticalPods,
    byPriority: reportsTimes ? byPriority : [],
  });
  return {
    periods: features.enabled('GracefulNodeShutdown') ? periods : [],
    directory: settings.directories.root,
    reportsTimes,
  };
}
