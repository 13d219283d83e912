/** What a node has, and what of it pods may have: the rest is kept for the system, the node's own services and a margin. */

import type { ResourceList } from '../../api/meta.ts';
import type { Quantities } from '../../api/pod-resources.ts';
import {
  addQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityFromUnits,
  quantityValue,
  subtractQuantities,
} from '../../api/quantity.ts';
import { CodedError } from '../../base/errors.ts';

export interface MachineCapacity {
  readonly cpus: number;
  readonly memory: bigint;
  /** The file system that holds the kubelet's directory. */
  readonly ephemeralStorage: bigint | undefined;
  /** Bytes by page size in bytes. */
  readonly hugePages: ReadonlyMap<bigint, bigint>;
  /** The largest number of processes that the kernel allows. */
  readonly pids: bigint | undefined;
}

export interface PodCountSettings {
  readonly maxPods: number;
  /** 0: no such limit. */
  readonly podsPerCore: number;
}

export interface Reservations {
  readonly systemReserved: ResourceList;
  readonly kubeReserved: ResourceList;
  /** Undefined where the margin of hard eviction is not held back from pods. */
  readonly evictionHard: Readonly<Record<string, string>> | undefined;
}

/** The resources of a node under their names, `pid` among them for the node's cgroup. */
export function computeCapacity(machine: MachineCapacity, pods: PodCountSettings): Quantities {
  const perCore = pods.podsPerCore > 0 ? pods.podsPerCore * machine.cpus : pods.maxPods;
  return new Map<string, Quantity>([
    ['cpu', quantityFromUnits(BigInt(machine.cpus), 'decimal')],
    ['memory', quantityFromUnits(machine.memory, 'binary')],
    ['pods', quantityFromUnits(BigInt(Math.min(perCore, pods.maxPods)), 'decimal')],
    ...(machine.ephemeralStorage === undefined
      ? []
      : [['ephemeral-storage', quantityFromUnits(machine.ephemeralStorage, 'binary')] as const]),
    ...[...machine.hugePages].map(
      ([size, bytes]) => [hugePageResource(size), quantityFromUnits(bytes, 'binary')] as const,
    ),
    ...(machine.pids === undefined ? [] : [['pid', quantityFromUnits(machine.pids, 'decimal')] as const]),
  ]);
}

/** What all pods together are limited to: the margin of eviction is theirs until they are evicted. */
export function computeEnforced(capacity: Quantities, reservations: Reservations): Quantities {
  return subtractAll(capacity, (name) => [reservations.systemReserved[name], reservations.kubeReserved[name]]);
}

/** What pods can be promised. */
export function computeAllocatable(capacity: Quantities, reservations: Reservations): Quantities {
  const margins = evictionMargins(capacity, reservations.evictionHard ?? {});
  const left = new Map(
    [...computeEnforced(capacity, reservations)].map(([name, quantity]) => [name, less(quantity, margins.get(name))]),
  );
  // Huge pages are taken out of the memory beforehand.
  const memory = left.get('memory');
  const huge = [...capacity].filter(([name]) => name.startsWith(HUGE_PAGES)).map(([, quantity]) => quantity);
  if (memory !== undefined) left.set('memory', huge.reduce(less, memory));
  left.delete('pid');
  return left;
}

/** Throws where more is reserved than there is. */
export function checkReservations(capacity: Quantities, reservations: Reservations): void {
  const faults = [...capacity].flatMap(([name, whole]) => {
    const reserved = reservedOf(name, capacity, reservations);
    if (name === 'pid' || subtractQuantities(whole, reserved).nanos >= 0n) return [];
    const [amount, total] = [formatQuantity(reserved), formatQuantity(whole)];
    return [
      `Resource ${JSON.stringify(name)} has a reservation of ${amount} but capacity of ${total}. Expected capacity >= reservation.`,
    ];
  });
  if (faults.length > 0) throw new CodedError('invalid', `invalid Node Allocatable configuration. ${faults.join(' ')}`);
}

function reservedOf(name: string, capacity: Quantities, reservations: Reservations): Quantity {
  const { systemReserved, kubeReserved, evictionHard = {} } = reservations;
  const amounts = [systemReserved[name], kubeReserved[name]].map((text) => parseQuantity(text ?? '0'));
  const margin = evictionMargins(capacity, evictionHard).get(name);
  return [...amounts.flatMap((amount) => (amount.ok ? [amount.value] : [])), ...(margin ? [margin] : [])].reduce(
    addQuantities,
  );
}

const HUGE_PAGES = 'hugepages-';

export function hugePageResource(size: bigint): string {
  const kilo = size / 1024n;
  if (kilo >= 1024n ** 2n) return `${HUGE_PAGES}${kilo / 1024n ** 2n}Gi`;
  return kilo >= 1024n ? `${HUGE_PAGES}${kilo / 1024n}Mi` : `${HUGE_PAGES}${kilo}Ki`;
}

/** The signals whose thresholds are kept free of pods, and the resource each of them is about. */
const MARGIN_SIGNALS: readonly (readonly [string, string])[] = [
  ['memory.available', 'memory'],
  ['nodefs.available', 'ephemeral-storage'],
];

function evictionMargins(capacity: Quantities, evictionHard: Readonly<Record<string, string>>): Quantities {
  const margins = new Map<string, Quantity>();
  for (const [signal, resource] of MARGIN_SIGNALS) {
    const whole = capacity.get(resource);
    const margin = whole === undefined ? undefined : thresholdOf(evictionHard[signal], whole);
    if (margin !== undefined) margins.set(resource, margin);
  }
  return margins;
}

/** `100Mi`, or `10%` of the whole. */
function thresholdOf(text: string | undefined, whole: Quantity): Quantity | undefined {
  if (text === undefined) return undefined;
  if (!text.endsWith('%')) {
    const quantity = parseQuantity(text);
    return quantity.ok ? quantity.value : undefined;
  }
  // Single precision, as others compute it: the last bytes of a large disk depend on it.
  const share = Math.fround(Math.fround(Number(text.slice(0, -1))) / 100);
  return quantityFromUnits(BigInt(Math.trunc(Number(quantityValue(whole)) * share)), 'binary');
}

function subtractAll(from: Quantities, whatOf: (name: string) => readonly (string | undefined)[]): Quantities {
  return new Map(
    [...from].map(([name, quantity]) => {
      const amounts = whatOf(name).flatMap((text) => {
        const amount = text === undefined ? undefined : parseQuantity(text);
        return amount?.ok ? [amount.value] : [];
      });
      return [name, amounts.reduce(less, quantity)];
    }),
  );
}

/** Never below nothing. */
function less(quantity: Quantity, amount: Quantity | undefined): Quantity {
  if (amount === undefined) return quantity;
  const rest = subtractQuantities(quantity, amount);
  return rest.nanos < 0n ? { nanos: 0n, family: rest.family } : rest;
}
