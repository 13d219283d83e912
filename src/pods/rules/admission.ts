/** May a pod start on this node beside the admitted pods? The first reason against it is reported in its status. */
import type { PodUid } from '../../api/ids.ts';
import type { Taint } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import { hasPodLevelResources, type Quantities } from '../../api/pod-resources.ts';
import { isCriticalPod, isStaticPod } from '../../api/pod-traits.ts';
import type { Admission } from '../pods.ts';
import { appArmorFault } from './app-armor.ts';
import { takenPort } from './host-ports.ts';
import { matchesNode, type SelectableNode } from './node-affinity.ts';
import { type NodePressure, pressureRejection } from './node-pressure.ts';
import { planPreemption } from './preemption.ts';
import { describeShortage, findShortages, type Shortage } from './shortages.ts';
import { forbiddenSysctl } from './sysctls.ts';
import { untolerated } from './tolerations.ts';

export interface AdmissionNode extends SelectableNode {
  readonly taints: readonly Taint[];
  /** What all pods together may request. */
  readonly allocatable: Quantities;
  /** Names, and prefixes that end in `*`. */
  readonly allowedSysctls: readonly string[];
  readonly appArmor: boolean;
  /** Undefined while the runtime has not reported it: no pod is rejected for that. */
  readonly strictGroups: boolean | undefined;
  /** What the node is short of. */
  readonly pressure: NodePressure;
  /** It is being shut down or drained. */
  readonly isClosed: boolean;
  readonly gates: { readonly podLevel: boolean; readonly taintComparison: boolean };
}

interface Rejection {
  readonly reason: string;
  readonly message: string;
}

const ADMITTED: Admission = { kind: 'admitted' };
const OS_LABEL = 'kubernetes.io/os';
const OUR_OS = 'linux';
const CLOSED: Admission = {
  kind: 'rejected',
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
  whileClosed: true,
};
const PREEMPTED = 'Preempted in order to admit critical pod';

export function admitPod(pod: Pod, others: readonly Pod[], node: AdmissionNode): Admission {
  const early =
    pressureRejection(pod, node.pressure, node.gates) ??
    sysctlRejection(pod, node) ??
    osRejection(pod) ??
    groupsRejection(pod, node);
  if (early !== undefined) return rejected(early);
  const beside = others.filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
  const { podLevel } = node.gates;
  const shortages = findShortages({ pod, others: beside, allocatable: node.allocatable, podLevel });
  const unfit = predicateRejection(pod, beside, node);
  const isCritical = isCriticalPod(pod);
  const [shortage] = shortages;
  if (shortage !== undefined && !isCritical) return rejected(shortageRejection(shortage));
  if (unfit !== undefined) return rejected(unfit);
  const late = appArmorRejection(pod, node) ?? podLevelRejection(pod, node);
  if (late !== undefined) return rejected(late);
  if (node.isClosed) return CLOSED;
  return shortage === undefined ? ADMITTED : makeRoom(pod, beside, shortages, podLevel);
}

function rejected(rejection: Rejection): Admission {
  return { kind: 'rejected', ...rejection };
}

/** A critical pod is not rejected because of missing resources if ending others can free them. */
function makeRoom(pod: Pod, others: readonly Pod[], shortages: readonly Shortage[], podLevel: boolean): Admission {
  const preemption = planPreemption({ pod, others, shortages, podLevel });
  if (preemption.kind === 'impossible') {
    const message =
      'Unexpected error while attempting to recover from admission failure: ' +
      `preemption: error finding a set of pods to preempt: ${preemption.message}`;
    return rejected({ reason: 'UnexpectedAdmissionError', message });
  }
  const victims = preemption.victims.map(({ metadata }) => ({ uid: metadata.uid as PodUid, message: PREEMPTED }));
  return { kind: 'preempt', victims };
}

function sysctlRejection(pod: Pod, { allowedSysctls }: AdmissionNode): Rejection | undefined {
  const message = forbiddenSysctl(pod, allowedSysctls);
  return message === undefined ? undefined : { reason: 'SysctlForbidden', message };
}

function osRejection(pod: Pod): Rejection | undefined {
  const label = pod.metadata.labels?.[OS_LABEL];
  if (label !== undefined && label !== OUR_OS) {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  const { os } = pod.spec;
  if (os === undefined || os.name === OUR_OS) return undefined;
  return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
}

function groupsRejection(pod: Pod, { strictGroups }: AdmissionNode): Rejection | undefined {
  const policy = pod.spec.securityContext?.supplementalGroupsPolicy;
  if (policy !== 'Strict' || strictGroups !== false) return undefined;
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  };
}

function shortageRejection(shortage: Shortage): Rejection {
  return { reason: `OutOf${shortage.resource}`, message: describeShortage(shortage) };
}

function predicateRejection(pod: Pod, others: readonly Pod[], node: AdmissionNode): Rejection | undefined {
  const failed = (reason: string, what: string): Rejection => ({
    reason,
    message: `Predicate ${reason} failed: ${what}`,
  });
  if (!matchesNode(pod, node)) return failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  const { nodeName = '', tolerations = [] } = pod.spec;
  if (nodeName !== '' && nodeName !== node.name)
    return failed('NodeName', "node(s) didn't match the requested node name");
  if (takenPort(pod, others) !== undefined)
    return failed('NodePorts', "node(s) didn't have free ports for the requested pod ports");
  const options = { comparison: node.gates.taintComparison };
  if (!isStaticPod(pod) && untolerated(node.taints, tolerations, options) !== undefined)
    return failed('TaintToleration', "node(s) had taints that the pod didn't tolerate");
  return undefined;
}

/** A pod that has run before is not judged again. */
function appArmorRejection(pod: Pod, { appArmor }: AdmissionNode): Rejection | undefined {
  if ((pod.status?.phase ?? 'Pending') !== 'Pending') return undefined;
  const fault = appArmorFault(pod, appArmor);
  return fault === undefined ? undefined : { reason: 'AppArmor', message: `Cannot enforce AppArmor: ${fault}` };
}

function podLevelRejection(pod: Pod, { gates }: AdmissionNode): Rejection | undefined {
  if (gates.podLevel || !hasPodLevelResources(pod)) return undefined;
  return { reason: 'PodLevelResourcesNotSupported', message: 'PodLevelResources feature gate is disabled' };
}
