/** What requests to the runtime depend on besides the pod, read from the configuration and from this machine once. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { limitsSwap, memoryBytes, onlineCpus, swapBytes } from '../host/machine.ts';
import type { RequestsConfig } from '../runtime/requests.ts';

const HUGE_PAGES = '/sys/kernel/mm/hugepages';

export function readRequestsConfig({ kubelet, settings, features }: Config, cgroupVersion: 1 | 2): RequestsConfig {
  const swapBehavior = kubelet.memorySwap.swapBehavior;
  return {
    podLogsDirectory: kubelet.podLogsDir,
    gates: features.enabled,
    settings: {
      cgroupVersion,
      cpuCfsQuota: kubelet.cpuCFSQuota,
      cpuCfsQuotaPeriod: Math.round(kubelet.cpuCFSQuotaPeriod * 1000),
      memoryCapacity: memoryBytes(),
      swapCapacity: swapBytes(),
      swapController: limitsSwap(cgroupVersion),
      swapBehavior: swapBehavior === 'NoSwap' || swapBehavior === 'LimitedSwap' ? swapBehavior : '',
      singleProcessOomKill: kubelet.singleProcessOOMKill ?? cgroupVersion === 1,
      hugePageSizes: hugePageSizes(),
      pageSize: pageSize(readFileSync('/proc/self/smaps', 'utf8')),
      memoryThrottlingFactor: kubelet.memoryThrottlingFactor,
      memoryReservationPolicy: kubelet.memoryReservationPolicy,
      seccompDefault: kubelet.seccompDefault || settings.containers.seccompDefault,
      seccompProfileRoot: join(settings.directories.root, 'seccomp'),
      selinux: existsSync('/sys/fs/selinux/enforce'),
      thermalPaths: thermalPaths(),
    },
  };
}

function pageSize(smaps: string): number {
  return Number(/^KernelPageSize:\s+(\d+) kB$/m.exec(smaps)?.[1] ?? '4') * 1024;
}

/** `hugepages-2048kB` becomes `2MB`, as cgroup files name it. */
function hugePageSizes(): readonly string[] {
  if (!existsSync(HUGE_PAGES)) return [];
  return readdirSync(HUGE_PAGES)
    .map((name) => Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0))
    .filter((kilobytes) => kilobytes > 0)
    .map((kilobytes) => {
      if (kilobytes >= 1024 * 1024) return `${kilobytes / (1024 * 1024)}GB`;
      return kilobytes >= 1024 ? `${kilobytes / 1024}MB` : `${kilobytes}KB`;
    });
}

function thermalPaths(): readonly string[] {
  return onlineCpus()
    .map((cpu) => `/sys/devices/system/cpu/cpu${cpu}/thermal_throttle`)
    .filter((path) => existsSync(path));
}
