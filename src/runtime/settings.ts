/** What the runtime's parts take from the configuration of the whole kubelet. */
import { join } from 'node:path';
import { parseQuantity, quantityValue } from '../api/quantity.ts';
import type { Config } from '../config/config.ts';
import type { LogRotationConfig } from './logs/rotation.ts';
import type { RequestsConfig } from './requests.ts';
import type { ResourceSettings, SecuritySettings } from './spec/settings.ts';

/** What requests depend on that only the machine knows; it does not change while a kubelet runs. */
export type RuntimeMachine = Pick<
  ResourceSettings & SecuritySettings,
  | 'cgroupVersion'
  | 'memoryCapacity'
  | 'swapCapacity'
  | 'swapController'
  | 'hugePageSizes'
  | 'pageSize'
  | 'selinux'
  | 'thermalPaths'
>;

export function requestsConfig({ kubelet, settings, features }: Config, machine: RuntimeMachine): RequestsConfig {
  const swapBehavior = kubelet.memorySwap.swapBehavior;
  return {
    podLogsDirectory: kubelet.podLogsDir,
    gates: features.enabled,
    masterServiceNamespace: settings.api.masterServiceNamespace,
    settings: {
      ...machine,
      cpuCfsQuota: kubelet.cpuCFSQuota,
      cpuCfsQuotaPeriod: Math.round(kubelet.cpuCFSQuotaPeriod * 1000),
      swapBehavior: swapBehavior === 'NoSwap' || swapBehavior === 'LimitedSwap' ? swapBehavior : '',
      singleProcessOomKill: kubelet.singleProcessOOMKill ?? machine.cgroupVersion === 1,
      memoryThrottlingFactor: kubelet.memoryThrottlingFactor,
      memoryReservationPolicy: kubelet.memoryReservationPolicy,
      seccompDefault: kubelet.seccompDefault || settings.containers.seccompDefault,
      seccompProfileRoot: join(settings.directories.root, 'seccomp'),
    },
  };
}

export function logRotationConfig({ kubelet }: Config): LogRotationConfig {
  return {
    podLogs: kubelet.podLogsDir,
    maxSize: bytesOf(kubelet.containerLogMaxSize),
    maxFiles: kubelet.containerLogMaxFiles,
    workers: kubelet.containerLogMaxWorkers,
    intervalMs: kubelet.containerLogMonitorInterval,
  };
}

/** The configuration was checked: what is no quantity turns rotation off rather than filling the disk with tiny files. */
function bytesOf(text: string): bigint {
  const quantity = parseQuantity(text);
  return quantity.ok ? quantityValue(quantity.value) : -1n;
}

const IDS_PER_POD = 65_536;

export function idsPerPod({ kubelet }: Config): number {
  return kubelet.userNamespaces?.idsPerPod ?? IDS_PER_POD;
}
