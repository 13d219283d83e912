/** As whom containers run, and what they may do. */
import type { AppArmorProfile, SeccompProfile, SecurityContext } from '../container.ts';
import type { Pod, PodSecurityContext } from '../pod.ts';
import type { PodGates } from '../pod-gates.ts';
import { type Faults, repeated } from './faults.ts';
import { relativePath } from './text-rules.ts';

const HIGHEST_ID = 2 ** 31 - 1;
const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const SYSCTL = /^(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;
const LONGEST_SYSCTL = 253;
/** The longest path that the kernel takes. */
const LONGEST_PROFILE = 4095;

export function checkPodSecurity(pod: Pod, gates: PodGates, faults: Faults): void {
  const { spec } = pod;
  const context = spec.securityContext ?? {};
  const path = 'spec.securityContext';
  checkIds(context, path, faults);
  faults.range(`${path}.fsGroup`, context.fsGroup, 0, HIGHEST_ID);
  (context.supplementalGroups ?? []).forEach((group, index) => {
    faults.range(`${path}.supplementalGroups[${index}]`, group, 0, HIGHEST_ID);
  });
  if (spec.shareProcessNamespace && spec.hostPID) {
    faults.invalid('spec.shareProcessNamespace', true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  }
  checkSysctls(pod, context, faults);
  checkPolicies(context, path, gates, faults);
  checkProfiles(context, path, faults);
}

function checkPolicies(context: PodSecurityContext, path: string, gates: PodGates, faults: Faults): void {
  const { fsGroupChangePolicy, supplementalGroupsPolicy, seLinuxChangePolicy } = context;
  if (fsGroupChangePolicy !== undefined) {
    faults.oneOf(`${path}.fsGroupChangePolicy`, fsGroupChangePolicy, ['OnRootMismatch', 'Always'], 'required');
  }
  if (supplementalGroupsPolicy !== undefined) {
    faults.oneOf(`${path}.supplementalGroupsPolicy`, supplementalGroupsPolicy, ['Merge', 'Strict'], 'required');
  }
  if (seLinuxChangePolicy !== undefined) {
    faults.oneOf(
      `${path}.seLinuxChangePolicy`,
      seLinuxChangePolicy,
      gates.seLinuxMount ? ['MountOption', 'Recursive'] : ['Recursive'],
      'required',
    );
  }
}

function checkIds(context: Pick<SecurityContext, 'runAsUser' | 'runAsGroup'>, path: string, faults: Faults): void {
  faults.range(`${path}.runAsUser`, context.runAsUser, 0, HIGHEST_ID);
  faults.range(`${path}.runAsGroup`, context.runAsGroup, 0, HIGHEST_ID);
}

function checkSysctls(pod: Pod, { sysctls = [] }: PodSecurityContext, faults: Faults): void {
  const path = 'spec.securityContext.sysctls';
  const again = repeated(sysctls.map(({ name }) => name));
  sysctls.forEach(({ name }, index) => {
    const at = `${path}[${index}].name`;
    if (!name) faults.required(at);
    else if (name.length > LONGEST_SYSCTL || !SYSCTL.test(name)) {
      const shape = 'lower case words, joined by dots or slashes';
      faults.invalid(at, name, `must have at most ${LONGEST_SYSCTL} characters and consist of ${shape}`);
    } else if (again.has(index)) faults.duplicate(at, name);
    const owner = name ? hostOwner(pod, name.replaceAll('/', '.')) : undefined;
    if (owner !== undefined) faults.invalid(at, name, `may not be specified when '${owner}' is true`);
  });
}

/** The field that gives the pod the namespace of the host to which the setting belongs. */
function hostOwner({ spec }: Pod, sysctl: string): 'hostNetwork' | 'hostIPC' | undefined {
  if (spec.hostNetwork && sysctl.startsWith('net.')) return 'hostNetwork';
  const ipc = /^(?:kernel\.(?:sem$|msg|shm)|fs\.mqueue\.)/.test(sysctl);
  return spec.hostIPC && ipc ? 'hostIPC' : undefined;
}

export function checkContainerSecurity(
  context: SecurityContext,
  path: string,
  hostUsers: boolean,
  faults: Faults,
): void {
  checkIds(context, path, faults);
  if (context.procMount !== undefined) {
    faults.oneOf(`${path}.procMount`, context.procMount, ['Default', 'Unmasked'], 'required');
    if (hostUsers && context.procMount === 'Unmasked') {
      faults.invalid(`${path}.procMount`, 'Unmasked', '`hostUsers` must be false to use `Unmasked`');
    }
  }
  if (context.allowPrivilegeEscalation === false) {
    const both = 'cannot set `allowPrivilegeEscalation` to false and';
    if (context.privileged) faults.invalid(path, context, `${both} \`privileged\` to true`);
    if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) {
      faults.invalid(path, context, `${both} \`capabilities.Add\` CAP_SYS_ADMIN`);
    }
  }
  checkProfiles(context, path, faults);
}

function checkProfiles(
  { seccompProfile, appArmorProfile }: Pick<SecurityContext, 'seccompProfile' | 'appArmorProfile'>,
  path: string,
  faults: Faults,
): void {
  if (seccompProfile !== undefined) checkSeccomp(seccompProfile, `${path}.seccompProfile`, faults);
  if (appArmorProfile !== undefined) checkAppArmor(appArmorProfile, `${path}.appArmorProfile`, faults);
}

function checkSeccomp({ type, localhostProfile: file }: SeccompProfile, path: string, faults: Faults): void {
  if (!type) faults.required(`${path}.type`, 'type is required when seccompProfile is set');
  else faults.oneOf(`${path}.type`, type, PROFILE_TYPES, 'required');
  if (type === 'Localhost') {
    if (file === undefined) faults.required(`${path}.localhostProfile`, 'must be set when seccomp type is Localhost');
    else faults.text(`${path}.localhostProfile`, file, relativePath);
  } else if (file !== undefined) {
    faults.invalid(`${path}.localhostProfile`, file, 'can only be set when seccomp type is Localhost');
  }
}

function checkAppArmor({ type, localhostProfile: file }: AppArmorProfile, path: string, faults: Faults): void {
  if (!type) {
    faults.required(`${path}.type`, 'type is required when appArmorProfile is set');
  } else if (type !== 'Localhost') {
    faults.oneOf(`${path}.type`, type, PROFILE_TYPES, 'required');
    if (file !== undefined && PROFILE_TYPES.includes(type)) {
      faults.invalid(`${path}.localhostProfile`, file, 'can only be set when AppArmor type is Localhost');
    }
  } else if (!file) {
    faults.required(`${path}.localhostProfile`, 'must be set when AppArmor type is Localhost');
  } else {
    if (file !== file.trim()) {
      faults.invalid(`${path}.localhostProfile`, file, 'must not be padded with whitespace');
    }
    if (file.length > LONGEST_PROFILE) faults.tooLong(`${path}.localhostProfile`, LONGEST_PROFILE);
  }
}
