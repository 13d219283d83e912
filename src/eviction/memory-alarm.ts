/** Notifications of the kernel about memory, as eviction asks for them. */
import type { MemoryEvents } from '../host/memory-events.ts';
import type { MemoryAlarm } from './ports.ts';

export interface MemoryAlarmSources {
  /** `kernelMemcgNotification` */
  readonly isEnabled: boolean;
  /** Only the first generation of cgroups has such notifications. */
  readonly version: 1 | 2;
  readonly events: MemoryEvents;
  /** Where the memory of a cgroup is counted. */
  readonly directory: (cgroup: string) => string | undefined;
  /** The cgroup of all pods. */
  readonly pods: () => string | undefined;
}

/** Undefined: the node is looked at every so often instead. */
export function memoryAlarm({
  isEnabled,
  version,
  events,
  directory,
  pods,
}: MemoryAlarmSources): MemoryAlarm | undefined {
  if (!isEnabled || version !== 1) return undefined;
  return {
    watch: (signal, bytes, onCrossed) => {
      const cgroup = signal === 'memory.available' ? '/' : pods();
      const place = cgroup === undefined ? undefined : directory(cgroup);
      if (place === undefined) return { close: () => undefined };
      return events.watch(place, bytes, onCrossed);
    },
  };
}
