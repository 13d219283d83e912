/** What a pod says about itself as a whole: names, network, DNS, users, operating system. */
import { parseIpAddress } from '../ip-address.ts';
import { labelKeyFault } from '../names.ts';
import type { Pod, PodSpec } from '../pod.ts';
import type { PodGates } from '../pod-gates.ts';
import type { Faults, TextRule } from './faults.ts';
import { checkOverhead } from './resources.ts';
import { dnsLabel, dnsSubdomain, searchDomain } from './text-rules.ts';

const RESTART_POLICIES = ['Always', 'Never', 'OnFailure'];
const DNS_POLICIES = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'];
const INT32_MAX = 2 ** 31 - 1;
/** What resolvers of the C library take. */
const MOST_NAMESERVERS = 3;
const MOST_SEARCHES = 32;
const LONGEST_SEARCH_LIST = 2048;
/** The kernel's limit. */
const LONGEST_HOSTNAME = 64;

export function checkSpec(pod: Pod, gates: PodGates, faults: Faults): void {
  const { spec } = pod;
  if (spec.terminationGracePeriodSeconds === undefined) faults.required('spec.terminationGracePeriodSeconds');
  faults.oneOf('spec.restartPolicy', spec.restartPolicy, RESTART_POLICIES, 'required');
  faults.oneOf('spec.dnsPolicy', spec.dnsPolicy, DNS_POLICIES, 'required');
  faults.range('spec.activeDeadlineSeconds', spec.activeDeadlineSeconds, 1, INT32_MAX);
  faults.optionalText('spec.serviceAccountName', spec.serviceAccountName, dnsSubdomain);
  faults.optionalText('spec.nodeName', spec.nodeName, dnsSubdomain);
  faults.optionalText('spec.priorityClassName', spec.priorityClassName, dnsSubdomain);
  if (spec.runtimeClassName !== undefined) faults.text('spec.runtimeClassName', spec.runtimeClassName, dnsSubdomain);
  if (spec.preemptionPolicy !== undefined) {
    faults.oneOf('spec.preemptionPolicy', spec.preemptionPolicy, ['Never', 'PreemptLowerPriority'], 'required');
  }
  if (spec.overhead !== undefined) checkOverhead(spec.overhead, 'spec.overhead', faults);
  (spec.readinessGates ?? []).forEach(({ conditionType }, index) => {
    faults.text(`spec.readinessGates[${index}].conditionType`, conditionType ?? '', labelKeyFault);
  });
  checkHostnames(spec, faults);
  checkDns(spec, faults);
  checkHostUsers(spec, gates, faults);
  checkOs(spec, faults);
  checkFileVolumes(pod, faults);
  if (!spec.serviceAccountName) checkNoTokens(spec, faults);
}

function checkHostnames(spec: PodSpec, faults: Faults): void {
  faults.optionalText('spec.hostname', spec.hostname, dnsLabel);
  faults.optionalText('spec.subdomain', spec.subdomain, dnsLabel);
  (spec.hostAliases ?? []).forEach(({ ip, hostnames = [] }, index) => {
    faults.text(`spec.hostAliases[${index}].ip`, ip ?? '', ipAddress);
    faults.texts(`spec.hostAliases[${index}].hostnames`, hostnames, dnsSubdomain);
  });
  const { hostnameOverride: name } = spec;
  if (name === undefined) return;
  const path = 'spec.hostnameOverride';
  if (spec.setHostnameAsFQDN) faults.forbidden(path, 'may not be specified when setHostnameAsFQDN is true');
  if (spec.hostNetwork) faults.forbidden(path, 'may not be specified when hostNetwork is true');
  if (name.length > LONGEST_HOSTNAME) faults.tooLong(path, LONGEST_HOSTNAME);
  faults.text(path, name, dnsSubdomain);
}

const ipAddress: TextRule = (text) => {
  const address = parseIpAddress(text);
  if (address === undefined) return 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  // Programs disagree about what these mean.
  if (!text.includes(':') && /(?:^|\.)0\d/.test(text)) return 'must not have leading 0s';
  return text.includes(':') && address.family === 4 ? 'must not be an IPv4-mapped IPv6 address' : undefined;
};

function checkDns({ dnsPolicy, dnsConfig }: PodSpec, faults: Faults): void {
  const path = 'spec.dnsConfig';
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    if (dnsConfig === undefined) faults.required(path, 'must provide `dnsConfig` when `dnsPolicy` is None');
    else {
      const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      faults.required(`${path}.nameservers`, detail);
    }
  }
  if (nameservers.length > MOST_NAMESERVERS) {
    faults.invalid(`${path}.nameservers`, nameservers, `must not have more than ${MOST_NAMESERVERS} nameservers`);
  }
  faults.texts(`${path}.nameservers`, nameservers, ipAddress);
  if (searches.length > MOST_SEARCHES) {
    faults.invalid(`${path}.searches`, searches, `must not have more than ${MOST_SEARCHES} search paths`);
  }
  if (searches.join(' ').length > LONGEST_SEARCH_LIST) {
    const detail = `must not have more than ${LONGEST_SEARCH_LIST} characters (including spaces) in the search list`;
    faults.invalid(`${path}.searches`, searches, detail);
  }
  faults.texts(`${path}.searches`, searches, searchDomain);
  options.forEach(({ name }, index) => {
    if (!name) faults.required(`${path}.options[${index}]`, 'must not be empty');
  });
}

function checkHostUsers(spec: PodSpec, gates: PodGates, faults: Faults): void {
  if (spec.hostUsers !== false) return;
  const detail = 'when `hostUsers` is false';
  if (spec.hostNetwork && !gates.userNamespacesOnHostNetwork) faults.forbidden('spec.hostNetwork', detail);
  if (spec.hostPID) faults.forbidden('spec.hostPID', detail);
  if (spec.hostIPC) faults.forbidden('spec.hostIPC', detail);
  for (const list of ['initContainers', 'containers'] as const) {
    (spec[list] ?? []).forEach(({ volumeDevices = [] }, index) => {
      if (volumeDevices.length > 0) faults.forbidden(`spec.${list}[${index}].volumeDevices`, detail);
    });
  }
}

/** A pod for Windows is for another node, whatever else it says: only what a node of ours could run is looked into. */
function checkOs(spec: PodSpec, faults: Faults): void {
  const { os } = spec;
  checkHostProcess(spec, faults);
  if (os === undefined) return;
  if (!os.name) faults.required('spec.os.name');
  else if (os.name !== 'linux' && os.name !== 'windows') faults.unsupported('spec.os', os.name, ['linux', 'windows']);
  if (os.name !== 'linux') return;
  for (const { path, options } of windowsOptions(spec)) {
    if (options !== undefined) faults.forbidden(path, 'windows options cannot be set for a linux pod');
  }
}

interface WindowsOptions {
  readonly hostProcess?: boolean;
}

/** Those of the pod first, then those of its containers. */
function windowsOptions(
  spec: PodSpec,
): readonly { readonly path: string; readonly options: WindowsOptions | undefined }[] {
  const optionsOf = (context: unknown) =>
    (context as { readonly windowsOptions?: WindowsOptions } | undefined)?.windowsOptions;
  const places = [{ path: 'spec.securityContext.windowsOptions', options: optionsOf(spec.securityContext) }];
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      const path = `spec.${list}[${index}].securityContext.windowsOptions`;
      places.push({ path, options: optionsOf(container.securityContext) });
    }
  }
  return places;
}

function checkHostProcess(spec: PodSpec, faults: Faults): void {
  const [pod, ...containers] = windowsOptions(spec).map(({ options }) => options?.hostProcess);
  const onHost = containers.filter((own) => own ?? pod);
  for (const own of containers) {
    if (pod === undefined || own === undefined || pod === own) continue;
    faults.invalid('spec.securityContext.windowsOptions.hostProcess', pod, 'must be identical if both are specified');
  }
  if (onHost.length === 0) return;
  if (onHost.length !== containers.length) {
    faults.invalid(
      'spec',
      '',
      'If pod contains any hostProcess containers then all containers must be HostProcess containers',
    );
  }
  if (!spec.hostNetwork) {
    faults.invalid('spec.hostNetwork', false, 'hostNetwork must be true if pod contains any hostProcess containers');
  }
}

/** Variables from files need a volume that the containers before can have written to. */
function checkFileVolumes({ spec }: Pod, faults: Faults): void {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  for (const list of ['initContainers', 'containers'] as const) {
    (spec[list] ?? []).forEach(({ env = [] }, index) => {
      env.forEach(({ valueFrom }, at) => {
        const name = valueFrom?.fileKeyRef?.volumeName;
        if (name === undefined) return;
        const path = `spec.${list}[${index}].env[${at}].valueFrom.fileKeyRef.volumeName`;
        if (!volumes.has(name)) faults.notFound(path, name);
        else if (volumes.get(name)?.emptyDir === undefined) {
          faults.invalid(path, name, 'referenced volume must be of type emptyDir');
        }
      });
    });
  }
}

function checkNoTokens({ volumes = [] }: PodSpec, faults: Faults): void {
  volumes.forEach(({ projected }, index) => {
    (projected?.sources ?? []).forEach(({ serviceAccountToken }, at) => {
      if (serviceAccountToken === undefined) return;
      const path = `spec.volumes[${index}].projected.sources[${at}].serviceAccountToken`;
      faults.forbidden(path, 'must not be specified when serviceAccountName is not set');
    });
  });
}
