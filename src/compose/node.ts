/** The part of the composition root that knows this machine as a node: its name, its addresses, its object at the API server. */
import { hostname } from 'node:os';
import { formatDuration } from '../api/duration.ts';
import type { StringMap } from '../api/meta.ts';
import type { KubeNode, Taint } from '../api/node.ts';
import type { Config } from '../config/config.ts';
import { architecture, kernelVersion, osImage, readFirst, systemUuid } from '../host/identity.ts';
import { cgroupVersion, swapBytes } from '../host/machine.ts';
import { createInterfaceReader, listDefaultRoutes, resolveName } from '../host/network.ts';
import type { Kube } from '../kube/kube.ts';
import type { RecordEvent } from '../model/event.ts';
import { type AddressBook, createAddressBook, internalIpsOf } from '../node/address-book.ts';
import { createNode, type Node, type NodeDeps, type NodeFacts } from '../node/node.ts';
import { initialLabels, type NodeIdentity } from '../node/rules/initial-node.ts';
import { computeDeclaredFeatures, type DeclarableFeature, type MachineIdentity } from '../node/rules/node-info.ts';
import type { Resources } from '../resources/resources.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { PartDeps } from './compose.ts';

/** What pods may be sent here for because it is declared: each stands here once it works. */
const BUILT_FEATURES: ReadonlySet<DeclarableFeature> = new Set<DeclarableFeature>([
  'RestartAllContainersOnContainerExits',
]);

export function nodeNameOf({ settings }: Config): string {
  return (settings.node.hostnameOverride || hostname()).trim().toLowerCase();
}

export function composeAddresses(config: Config, { clock, supervisor }: PartDeps): AddressBook {
  const name = nodeNameOf(config);
  return createAddressBook(
    {
      clock,
      supervisor,
      network: {
        interfaces: createInterfaceReader(clock.mono),
        routes: listDefaultRoutes,
        resolve: (host, signal) => resolveName(host, { clock, signal }),
      },
    },
    { nodeName: name, hostname: name, flagIps: config.settings.node.ips, externalCloud: hasExternalCloud(config) },
  );
}

/** As the API server has them, since a cloud may have told it others; else as this machine sees them. */
export function nodeIpsOf(addresses: AddressBook, node: () => KubeNode | undefined): () => readonly string[] {
  return () => {
    const told = internalIpsOf(node()?.status?.addresses ?? []);
    return told.length > 0 ? told : addresses.internalIps();
  };
}

/** What a pod is judged by when it comes. */
export function nodeTraits(
  config: Config,
  node: KubeNode | undefined,
): { labels: StringMap; taints: readonly Taint[] } {
  const identity = identityOf(config);
  return {
    labels: node?.metadata.labels ?? initialLabels(identity),
    taints: node === undefined ? identity.taints : (node.spec?.taints ?? []),
  };
}

export interface NodeTools {
  readonly kube: Kube;
  readonly cri: CriClient;
  readonly record: RecordEvent;
  readonly resources: Pick<Resources, 'capacity' | 'allocatable'>;
  readonly addresses: AddressBook;
  /** When the runtime's containers were last listed, monotonic. */
  readonly lastRelist: () => number | undefined;
  readonly onStep?: NodeDeps['onStep'];
  /** What later parts know. */
  readonly facts?: Partial<Pick<NodeFacts, 'pressure' | 'volumesInUse'>>;
}

const NO_PRESSURE = { memory: false, disk: false, pid: false };

export function composeNode(config: Config, { clock, log, supervisor }: PartDeps, tools: NodeTools): Node {
  const { kubelet, settings, features } = config;
  const { kube, cri, record, resources, addresses, lastRelist, facts = {} } = tools;
  const machine = readMachine(config);
  const createdAt = clock.mono();
  return createNode(
    {
      clock,
      log,
      supervisor,
      random: Math.random,
      kube,
      runtime: { status: cri.status, version: cri.version, setPodCidr: cri.setPodCidr, listImages: cri.images.list },
      record,
      addresses,
      onStep: tools.onStep,
      facts: {
        machine: () => machine,
        capacity: resources.capacity,
        allocatable: resources.allocatable,
        // Nobody looks for pressure before eviction is built.
        pressure: facts.pressure ?? (() => NO_PRESSURE),
        problems: () => ({
          parts: relistProblems(clock.mono() - (lastRelist() ?? createdAt)),
          storage: undefined,
          shutdown: undefined,
        }),
        volumesInUse: facts.volumesInUse ?? (() => undefined),
      },
    },
    {
      identity: identityOf(config),
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
      cgroupVersion: cgroupVersion(),
    },
  );
}

/** A runtime that answers, but lists nothing: pods are not looked after. */
const RELIST_THRESHOLD_MS = 3 * 60_000;

function relistProblems(ago: number): readonly string[] {
  if (ago <= RELIST_THRESHOLD_MS) return [];
  const words = `pleg was last seen active ${formatDuration(ago)} ago; threshold is ${formatDuration(RELIST_THRESHOLD_MS)}`;
  return [`PLEG is not healthy: ${words}`];
}

function identityOf(config: Config): NodeIdentity {
  const { kubelet, settings } = config;
  const name = nodeNameOf(config);
  return {
    name,
    hostname: name,
    architecture: architecture(),
    labels: settings.node.labels,
    taints: kubelet.registerWithTaints,
    externalCloud: hasExternalCloud(config),
    providerId: kubelet.providerID,
    controllerAttaches: kubelet.enableControllerAttachDetach,
  };
}

function hasExternalCloud({ settings }: Config): boolean {
  return settings.cloud.provider === 'external';
}

/** None of this changes while a kubelet runs. */
export function readMachine({ settings }: Config): MachineIdentity {
  const { machineIdFile, bootIdFile } = settings.cadvisor;
  return {
    machineId: readFirst(machineIdFile.split(',')),
    systemUuid: systemUuid(),
    bootId: readFirst(bootIdFile.split(',')),
    kernelVersion: kernelVersion(),
    osImage: osImage(),
    architecture: architecture(),
    swap: Number(swapBytes()),
  };
}
