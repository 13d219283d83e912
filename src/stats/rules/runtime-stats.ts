/**
 * Statistics of pods as the runtime reports them (gate `PodAndContainerStatsFromCRI`), in the form of `/stats/summary`. What the runtime
 * leaves out is zero or absent, as in the reference.
 */
import { formatTimestamp } from '../../api/timestamp.ts';
import type {
  ContainerStats,
  NetworkInterfaceUsage,
  NetworkUsage,
  PodSandboxStats,
  PsiData,
  PsiStats,
  UInt64Value,
} from '../../wire/gen/cri-runtime-v1.ts';

/** By the id of the sandbox. */
export type RuntimePods = ReadonlyMap<string, PodSandboxStats>;

export const bySandbox = (all: readonly PodSandboxStats[]): RuntimePods =>
  new Map(all.flatMap((one) => (one.attributes === undefined ? [] : [[one.attributes.id, one]])));

const NS_PER_MS = 1_000_000n;
const millis = (timestamp: bigint) => Number(timestamp / NS_PER_MS);
const at = (timestamp: bigint) => formatTimestamp(millis(timestamp));

/** Which values a container shows where the runtime has none. */
type Missing = 'absent' | 'zero';

const numbers = <K extends string>(
  values: Readonly<Record<K, UInt64Value | undefined>>,
  missing: Missing = 'absent',
): Partial<Record<K, number>> =>
  Object.fromEntries(
    Object.entries<UInt64Value | undefined>(values).flatMap(([name, one]) =>
      one !== undefined ? [[name, one.value]] : missing === 'zero' ? [[name, 0]] : [],
    ),
  ) as Partial<Record<K, number>>;

const NO_DATA: PsiData = { total: 0, avg10: 0, avg60: 0, avg300: 0 };

const psiOf = (psi: PsiStats | undefined): object =>
  psi === undefined ? {} : { psi: { full: dataOf(psi.full), some: dataOf(psi.some) } };

const dataOf = ({ total, avg10, avg60, avg300 }: PsiData = NO_DATA) => ({ total, avg10, avg60, avg300 });

type Uses = Pick<ContainerStats, 'cpu' | 'memory' | 'io'>;

function cpuOf({ cpu }: Uses, missing: Missing): object | undefined {
  if (cpu === undefined) return undefined;
  const { timestamp, psi, usageNanoCores, usageCoreNanoSeconds } = cpu;
  return {
    time: at(timestamp),
    ...numbers({ usageNanoCores }),
    ...numbers({ usageCoreNanoSeconds }, missing),
    ...psiOf(psi),
  };
}

function memoryOf({ memory }: Uses, missing: Missing): object | undefined {
  if (memory === undefined) return undefined;
  const { timestamp, psi, availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults } = memory;
  const all = { availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults };
  return { time: at(timestamp), ...numbers(all, missing), ...psiOf(psi) };
}

function swapOf({ swap }: ContainerStats, missing: Missing): SwapPart | undefined {
  if (swap === undefined) return undefined;
  const { timestamp, swapAvailableBytes, swapUsageBytes } = swap;
  return { time: at(timestamp), ...numbers({ swapAvailableBytes, swapUsageBytes }, missing) };
}

interface SwapPart {
  readonly time: string;
  readonly swapAvailableBytes?: number;
  readonly swapUsageBytes?: number;
}

/** Where the runtime does not measure it at all. */
const NO_CPU = { usageCoreNanoSeconds: 0, usageNanoCores: 0 };
const NO_MEMORY = { usageBytes: 0, workingSetBytes: 0, rssBytes: 0 };
const NO_FAULTS = { availableBytes: 0, pageFaults: 0, majorPageFaults: 0 };
const NO_SWAP = { swapAvailableBytes: 0, swapUsageBytes: 0 };

export interface RuntimeParts {
  /** By the id of the container. */
  readonly containers: ReadonlyMap<string, object>;
  readonly pod: object;
}

/** `isWhole`: not CPU and memory alone. */
export function runtimeParts({ linux }: PodSandboxStats, isWhole: boolean, now: number): RuntimeParts {
  const containers = (linux?.containers ?? []).flatMap((one) =>
    one.attributes === undefined ? [] : [[one.attributes.id, containerParts(one, isWhole, now)] as const],
  );
  if (linux === undefined) return { containers: new Map(containers), pod: {} };
  const { network, process, io } = linux;
  return {
    containers: new Map(containers),
    pod: {
      ...present({ cpu: cpuOf(linux, 'absent'), memory: memoryOf(linux, 'absent') }),
      ...(isWhole
        ? {
            ...(io && { io: { time: at(io.timestamp), ...psiOf(io.psi) } }),
            ...(network && { network: networkPart(network) }),
            ...(process && { process_stats: numbers({ process_count: process.processCount }) }),
          }
        : podSwap(containers.map(([, { swap }]) => swap))),
    },
  };
}

function containerParts(stats: ContainerStats, isWhole: boolean, now: number) {
  const missing = isWhole ? 'absent' : 'zero';
  const time = formatTimestamp(now);
  const { io } = stats;
  return {
    cpu: cpuOf(stats, missing) ?? { time, ...NO_CPU },
    memory: memoryOf(stats, missing) ?? { time, ...NO_MEMORY, ...(isWhole ? {} : NO_FAULTS) },
    swap: swapOf(stats, missing) ?? { time, ...NO_SWAP },
    ...(isWhole && { io: { time: io === undefined ? time : at(io.timestamp), ...psiOf(io?.psi) } }),
  };
}

/** The runtime reports none of pods: theirs is that of their containers together. */
function podSwap(all: readonly SwapPart[]): object {
  const time = all.at(-1)?.time;
  if (time === undefined) return {};
  const sum = (name: 'swapAvailableBytes' | 'swapUsageBytes') =>
    all.reduce((total, one) => total + (one[name] ?? 0), 0);
  return { swap: { time, swapAvailableBytes: sum('swapAvailableBytes'), swapUsageBytes: sum('swapUsageBytes') } };
}

const networkPart = ({ timestamp, defaultInterface, interfaces }: NetworkUsage): object => ({
  time: at(timestamp),
  ...interfacePart(defaultInterface),
  interfaces: interfaces.map(interfacePart),
});

function interfacePart(one: NetworkInterfaceUsage | undefined): object {
  if (one === undefined) return { name: '' };
  const { name, rxBytes, rxErrors, txBytes, txErrors } = one;
  return { name, ...numbers({ rxBytes, rxErrors, txBytes, txErrors }) };
}

const present = (parts: Readonly<Record<string, object | undefined>>): object =>
  Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
