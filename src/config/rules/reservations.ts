import { parseCpuSet } from '../../api/cpu-set.ts';
import { addQuantities, parseQuantity, type Quantity, quantityFromUnits, zeroQuantity } from '../../api/quantity.ts';
import { parseThreshold, thresholdValue } from './eviction-threshold.ts';
import type { ValidationInput } from './validation-input.ts';

/**
 * The resources that pods can't use: kubeReserved, systemReserved and the hard eviction threshold of memory together. CPUs
 * in reservedSystemCPUs replace both cpu reservations. An invalid value counts as zero here: the
 * validator of its field reports it.
 */
export type Reservations = { readonly cpu: Quantity; readonly memory: Quantity };

export function computeReservations({ kubelet, settings, machine }: ValidationInput): Reservations {
  const { kubeReserved, systemReserved, evictionHard } = kubelet;
  const named = parseCpuSet(kubelet.reservedSystemCPUs);
  const namedCpus = named.ok ? named.value.length : 0;
  const cpu =
    namedCpus > 0
      ? quantityFromUnits(BigInt(namedCpus), 'decimal')
      : addQuantities(readAmount(kubeReserved['cpu']), readAmount(systemReserved['cpu']));
  const threshold = evictionHard['memory.available'];
  const kept =
    threshold === undefined || settings.containers.allocatableIgnoresEviction
      ? zeroQuantity
      : quantityFromUnits(thresholdValue(parseThreshold(threshold), machine.memoryBytes), 'binary');
  const memory = addQuantities(readAmount(kubeReserved['memory']), readAmount(systemReserved['memory']));
  return { cpu, memory: addQuantities(memory, kept) };
}

function readAmount(text: string | undefined): Quantity {
  const amount = parseQuantity(text ?? '0');
  return amount.ok ? amount.value : zeroQuantity;
}
