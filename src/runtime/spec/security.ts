/** The security context of a container: what it says itself, else what its pod says, else what the image or node says. */
import type { Container, SeLinuxOptions } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import {
  type Int64Value,
  type LinuxContainerSecurityContext,
  NamespaceMode,
  type NamespaceOption,
  type SELinuxOption,
  SupplementalGroupsPolicy,
  type UserNamespace,
} from '../../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../wire/message.ts';
import { effectiveSecurity } from './effective-security.ts';
import { namespacesOf } from './namespaces.ts';
import { appArmorProfile, seccompProfile } from './profiles.ts';
import { type SecuritySettings, type SpecProblem, specProblem } from './settings.ts';
import type { ImageUser } from './user.ts';

const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

export interface SecurityInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly imageUser: ImageUser;
  readonly userNamespace: Init<UserNamespace> | undefined;
  /** The container whose processes an ephemeral container sees (`targetContainerName`). */
  readonly targetId: string | undefined;
  /** From persistent volumes that ask for a group. */
  readonly extraGroups: readonly number[];
  readonly settings: SecuritySettings;
}

export type SecurityResult =
  | { readonly kind: 'ready'; readonly context: Init<LinuxContainerSecurityContext> }
  | SpecProblem;

export function containerSecurity(input: SecurityInput): SecurityResult {
  const { pod, container, imageUser, settings } = input;
  const effective = effectiveSecurity(pod, container);
  const seccomp = seccompProfile(pod, container, settings);
  if (!seccomp.ok) return specProblem(seccomp.problem);
  const appArmor = appArmorProfile(pod, container);
  if (!appArmor.ok) return specProblem(appArmor.problem);
  const policy = groupsPolicy(pod);
  if (policy === undefined) return specProblem(unsupportedPolicy(pod));
  const unmasked = effective.procMount === 'Unmasked';
  const podSecurity = pod.spec.securityContext ?? {};
  return {
    kind: 'ready',
    context: {
      capabilities: effective.capabilities && {
        addCapabilities: effective.capabilities.add ?? [],
        dropCapabilities: effective.capabilities.drop ?? [],
      },
      privileged: effective.privileged ?? false,
      namespaceOptions: containerNamespaces(input),
      selinuxOptions: seLinuxOption(effective.seLinuxOptions),
      ...(effective.runAsUser === undefined ? fromImage(imageUser) : { runAsUser: int64(effective.runAsUser) }),
      runAsGroup: int64(effective.runAsGroup),
      readonlyRootfs: effective.readOnlyRootFilesystem ?? false,
      supplementalGroups: [...fsGroup(pod), ...(podSecurity.supplementalGroups ?? []), ...input.extraGroups],
      supplementalGroupsPolicy: policy,
      noNewPrivs: effective.allowPrivilegeEscalation === false,
      maskedPaths: unmasked ? [] : [...MASKED_PATHS, ...settings.thermalPaths],
      readonlyPaths: unmasked ? [] : READONLY_PATHS,
      seccomp: seccomp.value,
      apparmor: appArmor.value.profile,
      apparmorProfile: appArmor.value.oldForm,
    },
  };
}

function containerNamespaces({ pod, userNamespace, targetId }: SecurityInput): Init<NamespaceOption> {
  const options = namespacesOf(pod, userNamespace);
  if (targetId === undefined || options.pid !== NamespaceMode.CONTAINER) return options;
  return { ...options, pid: NamespaceMode.TARGET, targetId };
}

function fromImage(user: ImageUser): { runAsUser?: Init<Int64Value>; runAsUsername?: string } {
  return user.kind === 'name' ? { runAsUsername: user.name } : { runAsUser: { value: user.uid } };
}

export function int64(value: number | undefined): Init<Int64Value> | undefined {
  return value === undefined ? undefined : { value };
}

export function seLinuxOption(options: SeLinuxOptions | undefined): Init<SELinuxOption> | undefined {
  return options && { ...options };
}

export function fsGroup(pod: Pod): readonly number[] {
  const group = pod.spec.securityContext?.fsGroup;
  return group === undefined ? [] : [group];
}

/** Undefined for a policy that we don't know. */
export function groupsPolicy(pod: Pod): SupplementalGroupsPolicy | undefined {
  const policy = pod.spec.securityContext?.supplementalGroupsPolicy ?? 'Merge';
  return Object.hasOwn(SupplementalGroupsPolicy, policy) ? SupplementalGroupsPolicy[policy] : undefined;
}

export function unsupportedPolicy(pod: Pod): string {
  return `unsupported supplementalGroupsPolicy: ${pod.spec.securityContext?.supplementalGroupsPolicy}`;
}
