import { addQuantities, formatQuantity, parseQuantity, type Quantity, zeroQuantity } from '../../api/quantity.ts';
import { type Findings, oneOf, problem, warning } from './finding.ts';
import { computeReservations } from './reservations.ts';
import type { ValidationInput } from './validation-input.ts';

export function* validateMemory(input: ValidationInput): Findings {
  yield* validateReservedMemory(input);
  yield* validateMemoryManager(input);
  yield* validateSwap(input);
  yield* validateMemoryQos(input);
}

function* validateReservedMemory({ kubelet }: ValidationInput): Findings {
  const seen = new Set<string>();
  for (const [index, { numaNode, limits }] of kubelet.reservedMemory.entries()) {
    for (const [name, text] of Object.entries(limits)) {
      const path = `reservedMemory[${index}].limits.${name}`;
      if (name !== 'memory' && !name.startsWith('hugepages-')) {
        yield problem(path, text, `${name} can't be reserved on a NUMA node, only memory and hugepages-<size>`);
      }
      const amount = parseQuantity(text);
      if (!amount.ok) yield problem(path, text, 'must be a quantity such as 512Mi');
      else if (amount.value.nanos === 0n) yield problem(path, text, 'must not be zero');
      else if (amount.value.nanos < 0n) yield warning(path, text, 'should not be negative');
      const key = `${numaNode} ${name}`;
      if (seen.has(key)) yield problem(path, text, `NUMA node ${numaNode} has a value for ${name} already`);
      seen.add(key);
    }
  }
}

/** The static policy assigns memory by NUMA node, so it must know on which nodes memory is reserved. */
function* validateMemoryManager(input: ValidationInput): Findings {
  const { kubelet, machine } = input;
  const { memoryManagerPolicy: policy, reservedMemory } = kubelet;
  yield* oneOf('memoryManagerPolicy', policy, ['None', 'Static']);
  if (policy !== 'Static') {
    if (reservedMemory.length > 0) {
      yield warning('reservedMemory', reservedMemory, 'does nothing without memoryManagerPolicy Static');
    }
    return;
  }
  for (const [index, { numaNode }] of reservedMemory.entries()) {
    if (!machine.numaNodes.includes(numaNode)) {
      const rule = `must be a NUMA node of this machine (${machine.numaNodes.join(', ')})`;
      yield problem(`reservedMemory[${index}].numaNode`, numaNode, rule);
    }
  }
  const totals = addUp(reservedMemory);
  const reserved = computeReservations(input).memory;
  for (const [name, total] of new Map([['memory', zeroQuantity], ...totals])) {
    const needed = name === 'memory' ? reserved : zeroQuantity;
    if (total.nanos === needed.nanos) continue;
    const rule =
      `memoryManagerPolicy Static needs the ${name} of all NUMA nodes to add up to ${formatQuantity(needed)} ` +
      '(kubeReserved, systemReserved and the hard eviction threshold together)';
    yield problem('reservedMemory', `${name}=${formatQuantity(total)}`, rule);
  }
  if (reserved.nanos === 0n && !totals.has('memory')) {
    yield problem('memoryManagerPolicy', policy, 'needs some memory in reservedMemory');
  }
}

function addUp(reservedMemory: ValidationInput['kubelet']['reservedMemory']): ReadonlyMap<string, Quantity> {
  const totals = new Map<string, Quantity>();
  for (const { limits } of reservedMemory) {
    for (const [name, text] of Object.entries(limits)) {
      const amount = parseQuantity(text);
      if (amount.ok) totals.set(name, addQuantities(totals.get(name) ?? zeroQuantity, amount.value));
    }
  }
  return totals;
}

function* validateSwap({ kubelet, features, machine }: ValidationInput): Findings {
  const { swapBehavior } = kubelet.memorySwap;
  const path = 'memorySwap.swapBehavior';
  if (!features.enabled('NodeSwap')) {
    if (swapBehavior !== '') yield problem(path, swapBehavior, 'needs the feature gate NodeSwap');
    return;
  }
  yield* oneOf(path, swapBehavior, ['', 'NoSwap', 'LimitedSwap']);
  if (swapBehavior === 'LimitedSwap' && machine.cgroupVersion === 1) {
    yield problem(path, swapBehavior, 'works with cgroup v2 only, and this machine has v1');
  }
}

function* validateMemoryQos({ kubelet, features, machine }: ValidationInput): Findings {
  const { memoryThrottlingFactor: factor, memoryReservationPolicy: policy } = kubelet;
  if (!(factor > 0 && factor <= 1)) {
    yield problem('memoryThrottlingFactor', factor, 'must be greater than 0 and at most 1');
  }
  yield* oneOf('memoryReservationPolicy', policy, ['None', 'TieredReservation']);
  const isOn = features.enabled('MemoryQoS');
  if (policy === 'TieredReservation' && !isOn) {
    yield problem('memoryReservationPolicy', policy, 'needs the feature gate MemoryQoS');
  }
  if (isOn && machine.cgroupVersion === 1) {
    yield warning('featureGates.MemoryQoS', true, 'does nothing with cgroup v1, which this machine has');
  }
}
