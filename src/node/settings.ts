/** The settings of the node, from the kubelet's configuration. */
import type { StringMap } from '../api/meta.ts';
import type { KubeNode, Taint } from '../api/node.ts';
import type { Config } from '../config/config.ts';
import type { AddressBook, AddressBookConfig } from './address-book.ts';
import { internalIpsOf } from './address-book.ts';
import type { NodeConfig } from './node.ts';
import { initialLabels, type NodeIdentity } from './rules/initial-node.ts';
import { computeDeclaredFeatures, type DeclarableFeature } from './rules/node-info.ts';

/** Features for which pods may be assigned to this node because it declares them: each is listed once it works. */
const BUILT_FEATURES: ReadonlySet<DeclarableFeature> = new Set<DeclarableFeature>([
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
]);

export function nodeNameOf({ settings }: Config, hostName: string): string {
  return (settings.node.hostnameOverride || hostName).trim().toLowerCase();
}

/** Files with the machine's identity; the first readable one counts. */
export function machineIdentityFiles({ settings }: Config) {
  const { machineIdFile, bootIdFile } = settings.cadvisor;
  return { machineId: machineIdFile.split(','), bootId: bootIdFile.split(',') };
}

export interface NodeMachine {
  readonly nodeName: string;
  /** As container images name it: `amd64`. */
  readonly architecture: string;
}

export function nodeIdentity(config: Config, { nodeName: name, architecture }: NodeMachine): NodeIdentity {
  const { kubelet, settings } = config;
  return {
    name,
    hostname: name,
    architecture,
    labels: settings.node.labels,
    taints: kubelet.registerWithTaints,
    externalCloud: hasExternalCloud(config),
    providerId: kubelet.providerID,
    controllerAttaches: kubelet.enableControllerAttachDetach,
  };
}

export function nodeConfig(config: Config, machine: NodeMachine & { readonly cgroupVersion: 1 | 2 }): NodeConfig {
  const { kubelet, settings, features } = config;
  return {
    identity: nodeIdentity(config, machine),
    registerNode: kubelet.registerNode,
    getOnExistsOnly: features.enabled('KubeletRegistrationGetOnExistsOnly'),
    updateFrequency: kubelet.nodeStatusUpdateFrequency,
    reportFrequency: kubelet.nodeStatusReportFrequency,
    leaseDurationSeconds: kubelet.nodeLeaseDurationSeconds,
    kubeletPort: kubelet.port,
    kubeletVersion: settings.node.reportedVersion,
    mostImages: kubelet.nodeStatusMaxImages,
    declaredFeatures: computeDeclaredFeatures(features.enabled, BUILT_FEATURES),
    localStorage: kubelet.localStorageCapacityIsolation,
    cgroupVersion: machine.cgroupVersion,
  };
}

export function addressBookConfig(config: Config, nodeName: string): AddressBookConfig {
  return {
    nodeName,
    hostname: nodeName,
    flagIps: config.settings.node.ips,
    externalCloud: hasExternalCloud(config),
  };
}

/** The labels and taints for the admission of pods: those of the object at the API server; without one, those of the registration. */
export function nodeTraits(
  identity: NodeIdentity,
  node: KubeNode | undefined,
): { readonly labels: StringMap; readonly taints: readonly Taint[] } {
  return {
    labels: node?.metadata.labels ?? initialLabels(identity),
    taints: node === undefined ? identity.taints : (node.spec?.taints ?? []),
  };
}

/** The addresses at the API server, since a cloud provider may have set others; else those of this machine. */
export function nodeIpsOf(
  addresses: Pick<AddressBook, 'internalIps'>,
  node: () => KubeNode | undefined,
): () => readonly string[] {
  return () => {
    const reported = internalIpsOf(node()?.status?.addresses ?? []);
    return reported.length > 0 ? reported : addresses.internalIps();
  };
}

function hasExternalCloud({ settings }: Config): boolean {
  return settings.cloud.provider === 'external';
}
