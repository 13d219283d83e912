import type { ResourceList } from './meta.ts';
import { formatQuantity, parseQuantity, type Quantity } from './quantity.ts';

const NANOS_PER_MILLI = 1_000_000n;

/** No resource is counted finer than in thousandths: what is finer is rounded up, as the API server does. */
export function roundUpResources(resources: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(resources).map(([name, text]) => [name, roundUp(text)]));
}

function roundUp(text: string): string {
  const quantity = parseQuantity(text);
  // Validation complains about what is no quantity; here it stays as it is.
  if (!quantity.ok || quantity.value.nanos % NANOS_PER_MILLI === 0n) return text;
  return formatQuantity(ceilToMillis(quantity.value));
}

function ceilToMillis({ nanos, family }: Quantity): Quantity {
  const millis = nanos / NANOS_PER_MILLI + (nanos > 0n ? 1n : -1n);
  return { nanos: millis * NANOS_PER_MILLI, family };
}
