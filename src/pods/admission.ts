/** Admission on this node: the rules, with what changes about the node while the kubelet runs. */
import type { StringMap } from '../api/meta.ts';
import type { Taint } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import type { Quantities } from '../api/pod-resources.ts';
import type { Config } from '../config/config.ts';
import type { Admission } from './pods.ts';
import type { ResizesDeps } from './resizes.ts';
import { admitPod } from './rules/admission.ts';
import type { NodePressure } from './rules/node-pressure.ts';
import { infeasibleResize } from './rules/resize-feasible.ts';
import { parseKernelVersion, safeSysctls } from './rules/sysctls.ts';

export interface AdmissionDeps {
  /** The labels and taints of the node as they are now. */
  readonly traits: () => { readonly labels: StringMap; readonly taints: readonly Taint[] };
  /** What there is for this pod and the others. */
  readonly allocatable: (pod: Pod) => Quantities;
  /** Undefined while the runtime has not reported it. */
  readonly strictGroups: () => boolean | undefined;
  /** What the node is short of. */
  readonly pressure: () => NodePressure;
  /** Whether the node is being shut down or drained; by default it never is. */
  readonly isClosed?: (() => boolean) | undefined;
}

export interface AdmissionMachine {
  readonly nodeName: string;
  /** Such as `6.1.0-18-amd64`. */
  readonly kernelVersion: string;
  readonly appArmor: boolean;
}

export function createAdmission(
  { traits, allocatable, strictGroups, pressure, isClosed }: AdmissionDeps,
  { kubelet, features }: Pick<Config, 'kubelet' | 'features'>,
  { nodeName, kernelVersion, appArmor }: AdmissionMachine,
): (pod: Pod, others: readonly Pod[]) => Admission {
  const node = {
    name: nodeName,
    allowedSysctls: [...safeSysctls(parseKernelVersion(kernelVersion)), ...kubelet.allowedUnsafeSysctls],
    appArmor,
    gates: {
      podLevel: features.enabled('PodLevelResources'),
      taintComparison: features.enabled('TaintTolerationComparisonOperators'),
    },
  };
  return (pod, others) =>
    admitPod(pod, others, {
      ...node,
      ...traits(),
      allocatable: allocatable(pod),
      strictGroups: strictGroups(),
      pressure: pressure(),
      isClosed: isClosed?.() === true,
    });
}

/** Which resizes can never be carried out here. */
export function createFeasibility(
  { kubelet, features }: Pick<Config, 'kubelet' | 'features'>,
  machine: { readonly cgroupVersion: 1 | 2; readonly swapController: boolean },
): NonNullable<ResizesDeps['infeasible']> {
  const limitedSwap =
    kubelet.memorySwap.swapBehavior === 'LimitedSwap' &&
    features.enabled('NodeSwap') &&
    machine.swapController &&
    machine.cgroupVersion === 2;
  const settings = {
    limitedSwap,
    podLevel: features.enabled('PodLevelResources'),
    pinsCpus: kubelet.cpuManagerPolicy === 'static',
    pinsMemory: kubelet.memoryManagerPolicy === 'Static',
  };
  return (requested, allocated) => infeasibleResize(requested, allocated, settings);
}
