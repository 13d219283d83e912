/** What a pod is judged by when it comes: this node's labels, what it has left, what its kernel and runtime can do. */
import { release } from 'node:os';
import type { KubeNode } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import type { Config } from '../config/config.ts';
import { appArmorEnabled } from '../host/machine.ts';
import type { Admission } from '../pods/pods.ts';
import { admitPod } from '../pods/rules/admission.ts';
import { parseKernelVersion, safeSysctls } from '../pods/rules/sysctls.ts';
import type { Resources } from '../resources/resources.ts';
import type { Handlers } from '../runtime/handlers.ts';
import { nodeTraits } from './node.ts';

export interface AdmissionTools {
  readonly nodeName: string;
  readonly resources: Resources;
  readonly handlers: Handlers;
  /** As the API server has it, where there is one. */
  readonly node: () => KubeNode | undefined;
}

export function composeAdmission(
  config: Config,
  { nodeName, resources, handlers, node: object }: AdmissionTools,
): (pod: Pod, others: readonly Pod[]) => Admission {
  const { kubelet, features } = config;
  const node = {
    name: nodeName,
    allowedSysctls: [...safeSysctls(parseKernelVersion(release())), ...kubelet.allowedUnsafeSysctls],
    appArmor: appArmorEnabled(),
    gates: {
      podLevel: features.enabled('PodLevelResources'),
      taintComparison: features.enabled('TaintTolerationComparisonOperators'),
    },
  };
  return (pod, others) =>
    admitPod(pod, others, {
      ...node,
      ...nodeTraits(config, object()),
      allocatable: resources.allocatable(),
      strictGroups: handlers.strictGroups(),
    });
}
