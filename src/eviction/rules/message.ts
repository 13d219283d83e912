/** What is said about an evicted pod, in the reference's words: users and programs read them. */
import type { Pod } from '../../api/pod.ts';
import { quantityOf } from '../../api/pod-resources.ts';
import { formatQuantity, quantityFromUnits, quantityValue } from '../../api/quantity.ts';
import type { ContainerUsage, PodUsage, SignalReadings } from '../../model/usage.ts';
import { amountOf, resourceOf, showAmount, type Threshold } from './threshold.ts';

export interface EvictionText {
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export function evictionText(
  pod: Pod,
  given: {
    readonly threshold: Threshold;
    readonly readings: SignalReadings;
    readonly usage: PodUsage | undefined;
    /** The gate PodLevelResources. */
    readonly podLevel: boolean;
  },
): EvictionText {
  const { threshold, readings, usage } = given;
  const resource = resourceOf(threshold.signal);
  const reading = readings.get(threshold.signal);
  const numbers =
    reading === undefined
      ? ''
      : `Threshold quantity: ${showAmount(threshold.signal, amountOf(threshold.amount, reading.capacity))}, available: ${showAmount(threshold.signal, reading.available)}. `;
  const beginning = `The node was low on resource: ${resource}. ${numbers}`;
  if (usage === undefined) return { message: beginning, annotations: {} };
  const whole = given.podLevel && resource === 'memory' ? wholePod(pod, usage) : undefined;
  const over = usage.containers.flatMap((container) => excessOf(pod, container, resource));
  return {
    message: beginning + (whole?.text ?? '') + over.map(({ text }) => text).join(''),
    annotations: {
      ...whole?.annotations,
      offending_containers: over.map(({ name }) => name).join(','),
      offending_containers_usage: over.map(({ used }) => used).join(','),
      starved_resource: resource,
    },
  };
}

/** A pod with a request of its own is named whether it is above it or not. */
function wholePod({ metadata, spec }: Pod, { memory }: PodUsage) {
  if (memory === undefined || spec.resources?.requests?.['memory'] === undefined) return undefined;
  const used = formatQuantity(quantityFromUnits(BigInt(Math.trunc(memory)), 'binary'));
  const request = formatQuantity(quantityOf(spec.resources.requests, 'memory'));
  return {
    text: `Pod ${metadata.name} was using ${used}, request is ${request}, has larger consumption of memory. `,
    annotations: { offending_pod: metadata.name, offending_pod_usage: used },
  };
}

function excessOf(pod: Pod, container: ContainerUsage, resource: string) {
  const spec = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(({ name }) => name === container.name);
  const usage = usageOf(container, resource);
  if (spec === undefined || usage === undefined) return [];
  const request = quantityOf(spec.resources?.requests, resource);
  if (BigInt(Math.trunc(usage)) <= quantityValue(request)) return [];
  const used = formatQuantity(quantityFromUnits(BigInt(Math.trunc(usage)), 'binary'));
  const text = `Container ${spec.name} was using ${used}, request is ${formatQuantity(request)}, has larger consumption of ${resource}. `;
  return [{ name: spec.name, used, text }];
}

function usageOf({ memory, rootfs, logs }: ContainerUsage, resource: string): number | undefined {
  if (resource === 'memory') return memory;
  if (resource !== 'ephemeral-storage' || rootfs === undefined || logs === undefined) return undefined;
  return rootfs.bytes + logs.bytes;
}
