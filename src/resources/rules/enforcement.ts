/** Cgroups beside the pods that are held to what is reserved for them (`enforceNodeAllocatable`). */
import type { ResourceList } from '../../api/meta.ts';
import type { Quantities } from '../../api/pod-resources.ts';
import { parseQuantity } from '../../api/quantity.ts';
import type { Reservations } from './allocatable.ts';
import { type CgroupLimits, limitsOf } from './cgroup-limits.ts';

export type EnforcedReservation =
  | 'system-reserved'
  | 'kube-reserved'
  | 'system-reserved-compressible'
  | 'kube-reserved-compressible';

/** In the order in which they are enforced. */
export const ENFORCED_RESERVATIONS: readonly EnforcedReservation[] = [
  'system-reserved',
  'kube-reserved',
  'system-reserved-compressible',
  'kube-reserved-compressible',
];

export interface EnforcementSettings {
  readonly reservations: Reservations;
  readonly enforce: readonly EnforcedReservation[];
  readonly systemReservedCgroup: string;
  readonly kubeReservedCgroup: string;
  /** Whether the reserved memory is also protected from reclaim. */
  readonly protectMemory: boolean;
}

export interface Enforcement {
  /** As the configuration has it. */
  readonly cgroup: string;
  readonly limits: CgroupLimits;
  readonly succeeded: string;
  /** The reason follows. */
  readonly failed: string;
}

const WORDS: Readonly<Record<EnforcedReservation, string>> = {
  'system-reserved': 'System Reserved',
  'kube-reserved': 'Kube Reserved',
  'system-reserved-compressible': 'System Reserved Compressible',
  'kube-reserved-compressible': 'Kube Reserved Compressible',
};

/** `cpus`: the processors of the machine, which systemd must know of lest it removes their controller. */
export function planEnforcement(settings: EnforcementSettings, cpus: string): readonly Enforcement[] {
  const { systemReserved, kubeReserved } = settings.reservations;
  return ENFORCED_RESERVATIONS.filter((kind) => settings.enforce.includes(kind)).map((kind) => {
    const isSystem = kind.startsWith('system');
    const cgroup = isSystem ? settings.systemReservedCgroup : settings.kubeReservedCgroup;
    const reserved = isSystem ? systemReserved : kubeReserved;
    const compressible = kind.endsWith('compressible');
    return {
      cgroup,
      limits: {
        ...protect(limitsOf(compressible ? only(reserved, 'cpu') : only(reserved)), settings.protectMemory),
        cpus,
      },
      succeeded: `Updated limits on ${isSystem ? 'system' : 'kube'} reserved cgroup ${cgroup}`,
      failed: `Failed to enforce ${WORDS[kind]} Cgroup Limits on ${JSON.stringify(cgroup)}`,
    };
  });
}

function protect(limits: CgroupLimits, protectMemory: boolean): CgroupLimits {
  return protectMemory && limits.memory !== undefined ? { ...limits, memoryMin: limits.memory } : limits;
}

/** All of it, or one resource; what can't be read was refused with the configuration. */
function only(reserved: ResourceList, ...names: readonly string[]): Quantities {
  const chosen = Object.entries(reserved).filter(([name]) => names.length === 0 || names.includes(name));
  return new Map(
    chosen.flatMap(([name, text]) => {
      const quantity = parseQuantity(text);
      return quantity.ok ? [[name, quantity.value] as const] : [];
    }),
  );
}
