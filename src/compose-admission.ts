/** What a pod is judged by when it comes: this node's labels, what it has left, what its kernel and runtime can do. */
import { arch, release } from 'node:os';
import type { StringMap } from './api/meta.ts';
import type { Pod } from './api/pod.ts';
import type { Config } from './config/config.ts';
import { appArmorEnabled } from './host/machine.ts';
import type { Admission } from './pods/pods.ts';
import { admitPod } from './pods/rules/admission.ts';
import { parseKernelVersion, safeSysctls } from './pods/rules/sysctls.ts';
import type { Resources } from './resources/resources.ts';
import type { Handlers } from './runtime/handlers.ts';

export interface AdmissionTools {
  readonly nodeName: string;
  readonly resources: Resources;
  readonly handlers: Handlers;
}

export function composeAdmission(
  config: Config,
  { nodeName, resources, handlers }: AdmissionTools,
): (pod: Pod, others: readonly Pod[]) => Admission {
  const { kubelet, features } = config;
  const node = {
    name: nodeName,
    labels: nodeLabels(config, nodeName),
    taints: kubelet.registerWithTaints,
    allowedSysctls: [...safeSysctls(parseKernelVersion(release())), ...kubelet.allowedUnsafeSysctls],
    appArmor: appArmorEnabled(),
    gates: {
      podLevel: features.enabled('PodLevelResources'),
      taintComparison: features.enabled('TaintTolerationComparisonOperators'),
    },
  };
  return (pod, others) =>
    admitPod(pod, others, { ...node, allocatable: resources.allocatable(), strictGroups: handlers.strictGroups() });
}

/** Names of processors as the world of containers has them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', mipsel: 'mipsle' };

function nodeLabels({ settings }: Config, nodeName: string): StringMap {
  const architecture = ARCHITECTURES[arch()] ?? arch();
  return {
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': architecture,
    ...settings.node.labels,
  };
}
