/** Specs that the reference passes and our kubelet fails on purpose, each with the reason. One that passes must go from here. */
import type { SpecResult } from '../verdict.ts';

export interface MeantDifference {
  readonly spec: string;
  readonly reason: string;
}

export const MEANT: readonly MeantDifference[] = [
  {
    spec: '[sig-node] Kubelet Config [Slow] [Serial] [Disruptive] [Feature:KubeletConfigDropInDir] when merging drop-in configs should merge kubelet configs correctly',
    reason: '/configz masks the values of staticPodURLHeader, which carry credentials; all other fields are the same',
  },
  {
    spec: '[sig-node] Device Plugin [Serial] [Feature:DevicePlugin] DevicePlugin [Serial] [Disruptive] Does not keep device plugin assignments across node reboots if fails admission (no pod restart, no device plugin re-registration)',
    reason:
      'a pod whose device plugin is late after a reboot waits for it, up to five minutes, instead of failing for good',
  },
];

export interface Sorted {
  /** Failures that are not meant. */
  readonly faults: readonly SpecResult[];
  readonly meant: readonly MeantDifference[];
  /** Listed as a difference, but passed. */
  readonly outdated: readonly MeantDifference[];
}

export function sortFailures(
  failed: readonly SpecResult[],
  passed: readonly string[],
  differences: readonly MeantDifference[] = MEANT,
): Sorted {
  const names = new Set(failed.map(({ name }) => name));
  return {
    faults: failed.filter(({ name }) => !differences.some(({ spec }) => spec === name)),
    meant: differences.filter(({ spec }) => names.has(spec)),
    outdated: differences.filter(({ spec }) => passed.includes(spec)),
  };
}
