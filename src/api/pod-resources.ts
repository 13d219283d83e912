/**
 * What a whole pod asks for and may use, from its containers, its sidecars, its own resources and its overhead.
 *
 * Init containers run one after the other, beside the sidecars started before them; so the pod needs the larger of "all
 * that run together at last" and "the neediest moment of initialization".
 */
import type { Container } from './container.ts';
import type { ResourceList } from './meta.ts';
import type { Pod } from './pod.ts';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  zeroQuantity,
} from './quantity.ts';

export type Quantities = ReadonlyMap<string, Quantity>;

export interface PodResourceOptions {
  /** The gate PodLevelResources: the pod's own resources count before those of its containers. */
  readonly podLevel: boolean;
  /** Add what the runtime itself needs for the pod. */
  readonly overhead: boolean;
}

/** A quantity of a list, zero where it is missing. A text that is no quantity counts as missing: validation has seen it. */
export function quantityOf(list: ResourceList | undefined, name: string): Quantity {
  const text = list?.[name];
  if (text === undefined) return zeroQuantity;
  const quantity = parseQuantity(text);
  return quantity.ok ? quantity.value : zeroQuantity;
}

/** Pod-level resources are CPU, memory and huge pages; others are ignored there. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

export function hasPodLevelRequests(pod: Pod): boolean {
  return Object.keys(pod.spec.resources?.requests ?? {}).some(isPodLevelResource);
}

export function hasPodLevelLimits(pod: Pod): boolean {
  return Object.keys(pod.spec.resources?.limits ?? {}).some(isPodLevelResource);
}

export function hasPodLevelResources(pod: Pod): boolean {
  return hasPodLevelRequests(pod) || hasPodLevelLimits(pod);
}

export function podRequests(pod: Pod, options: PodResourceOptions): Quantities {
  const total = aggregate(pod, (container) => container.resources?.requests);
  if (options.podLevel) overlay(total, pod.spec.resources?.requests);
  if (options.overhead) add(total, toQuantities(pod.spec.overhead));
  return total;
}

/** Overhead is added only to limits that exist: it must not make a limit where the pod has none. */
export function podLimits(pod: Pod, options: PodResourceOptions): Quantities {
  const total = aggregate(pod, (container) => container.resources?.limits);
  if (options.podLevel) overlay(total, pod.spec.resources?.limits);
  if (!options.overhead) return total;
  for (const [name, extra] of toQuantities(pod.spec.overhead)) {
    const limit = total.get(name);
    if (limit !== undefined && limit.nanos !== 0n) total.set(name, addQuantities(limit, extra));
  }
  return total;
}

/** What the containers ask for together, without the pod's own resources. */
export function containerRequests(pod: Pod): Quantities {
  return aggregate(pod, (container) => container.resources?.requests);
}

/** What the containers may use together, without the pod's own resources. */
export function containerLimits(pod: Pod): Quantities {
  return aggregate(pod, (container) => container.resources?.limits);
}

function aggregate(pod: Pod, listOf: (container: Container) => ResourceList | undefined): Map<string, Quantity> {
  const total = new Map<string, Quantity>();
  for (const container of pod.spec.containers) add(total, toQuantities(listOf(container)));
  const sidecars = new Map<string, Quantity>();
  const neediest = new Map<string, Quantity>();
  for (const container of pod.spec.initContainers ?? []) {
    const own = toQuantities(listOf(container));
    if (container.restartPolicy === 'Always') {
      add(total, own);
      add(sidecars, own);
      raise(neediest, sidecars);
    } else {
      const moment = new Map(own);
      add(moment, sidecars);
      raise(neediest, moment);
    }
  }
  raise(total, neediest);
  return total;
}

function toQuantities(list: ResourceList | undefined): Quantities {
  return new Map(Object.keys(list ?? {}).map((name) => [name, quantityOf(list, name)]));
}

function add(total: Map<string, Quantity>, more: Quantities): void {
  for (const [name, quantity] of more) {
    const before = total.get(name);
    total.set(name, before === undefined ? quantity : addQuantities(before, quantity));
  }
}

function raise(total: Map<string, Quantity>, least: Quantities): void {
  for (const [name, quantity] of least) {
    const before = total.get(name);
    if (before === undefined || compareQuantities(quantity, before) > 0) total.set(name, quantity);
  }
}

function overlay(total: Map<string, Quantity>, list: ResourceList | undefined): void {
  for (const name of Object.keys(list ?? {})) {
    if (isPodLevelResource(name)) total.set(name, quantityOf(list, name));
  }
}

/** As the API shows them. */
export function resourceListOf(quantities: Quantities): ResourceList {
  return Object.fromEntries([...quantities].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}
