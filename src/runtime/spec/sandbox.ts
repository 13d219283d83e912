/** From a pod to the request for its sandbox. */
import type { Pod } from '../../api/pod.ts';
import { allContainers } from '../../api/pod-traits.ts';
import {
  type DNSConfig,
  type LinuxSandboxSecurityContext,
  type PodSandboxConfig,
  SecurityProfileProfileType,
  type UserNamespace,
} from '../../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../wire/message.ts';
import { sandboxLabels } from './labels.ts';
import { namespacesOf } from './namespaces.ts';
import { portMappings } from './ports.ts';
import { overheadResources, sandboxResources } from './resources.ts';
import { fsGroup, groupsPolicy, int64, seLinuxOption, unsupportedPolicy } from './security.ts';
import type { Gates, ResourceSettings } from './settings.ts';

export interface SandboxInput {
  readonly pod: Pod;
  readonly attempt: number;
  /** From the network part; it is not sent for a pod on the node's network. */
  readonly hostname: string;
  readonly dns: Init<DNSConfig>;
  /** Directory below which the pod's logs go. */
  readonly podLogsDirectory: string;
  readonly cgroupParent: string;
  readonly userNamespace: Init<UserNamespace> | undefined;
  /** From persistent volumes that ask for a group. */
  readonly extraGroups: readonly number[];
  readonly exclusiveCpus: boolean;
  readonly settings: ResourceSettings;
  readonly gates: Gates;
}

export type SandboxResult =
  | { readonly kind: 'ready'; readonly config: Init<PodSandboxConfig> }
  | { readonly kind: 'problem'; readonly message: string };

export function makeSandboxConfig(input: SandboxInput): SandboxResult {
  const { pod, settings, gates } = input;
  const { name, namespace, uid } = pod.metadata;
  const security = sandboxSecurity(input);
  if (security === undefined) return { kind: 'problem', message: unsupportedPolicy(pod) };
  return {
    kind: 'ready',
    config: {
      metadata: { name, namespace, uid, attempt: input.attempt },
      hostname: pod.spec.hostNetwork ? '' : input.hostname,
      logDirectory: podLogDirectory(input.podLogsDirectory, pod),
      dnsConfig: input.dns,
      portMappings: portMappings(pod.spec.containers),
      labels: sandboxLabels(pod),
      annotations: pod.metadata.annotations ?? {},
      linux: {
        cgroupParent: input.cgroupParent,
        securityContext: security,
        sysctls: Object.fromEntries((pod.spec.securityContext?.sysctls ?? []).map(({ name, value }) => [name, value])),
        overhead: overheadResources(pod, settings, gates),
        resources: sandboxResources(input),
      },
    },
  };
}

/** `NAMESPACE_NAME_UID`: readers of logs take the name apart again. */
export function podLogDirectory(podLogsDirectory: string, pod: Pod): string {
  const { name, namespace, uid } = pod.metadata;
  return `${podLogsDirectory}/${namespace}_${name}_${uid}`;
}

function sandboxSecurity(input: SandboxInput): Init<LinuxSandboxSecurityContext> | undefined {
  const { pod, userNamespace, extraGroups } = input;
  const { runAsUser, runAsGroup, seLinuxOptions, supplementalGroups = [] } = pod.spec.securityContext ?? {};
  const policy = groupsPolicy(pod);
  if (policy === undefined) return undefined;
  return {
    namespaceOptions: namespacesOf(pod, userNamespace),
    selinuxOptions: seLinuxOption(seLinuxOptions),
    runAsUser: int64(runAsUser),
    runAsGroup: int64(runAsGroup),
    supplementalGroups: [...fsGroup(pod), ...extraGroups, ...supplementalGroups],
    supplementalGroupsPolicy: policy,
    privileged: allContainers(pod).some((container) => container.securityContext?.privileged === true),
    // The sandbox process only waits, whatever its containers need.
    seccomp: { profileType: SecurityProfileProfileType.RuntimeDefault },
  };
}
