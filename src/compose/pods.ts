/** Everything that manages pods: from the sources over the workers to the runtime and back to the statuses. */
import type { Part } from '../base/lifecycle.ts';
import type { Config } from '../config/config.ts';
import type { Devices } from '../devices/devices.ts';
import type { Events } from '../events/events.ts';
import type { Images } from '../images/images.ts';
import type { Kube } from '../kube/kube.ts';
import type { Counting } from '../metering/metering.ts';
import type { PodNetwork } from '../network/pod-network.ts';
import type { NodeFacts } from '../node/node.ts';
import { nodeIpsOf } from '../node/settings.ts';
import { createDeadContainers, type DeadContainers } from '../pods/dead-containers.ts';
import type { Pods } from '../pods/pods.ts';
import type { Probes } from '../probes/probes.ts';
import { type Assigning, createAssigning } from '../resources/assigning.ts';
import { exclusiveCpusCheck, type Managers } from '../resources/managers.ts';
import type { Resources } from '../resources/resources.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { LogRotation } from '../runtime/logs/rotation.ts';
import type { Running } from '../runtime/running.ts';
import type { NodeShutdown } from '../shutdown/shutdown.ts';
import type { Statuses } from '../status/status.ts';
import type { Volumes } from '../volumes/volumes.ts';
import { type Cluster, composeCluster } from './cluster.ts';
import type { PartDeps } from './compose.ts';
import { composeDevices } from './devices.ts';
import { composeEvents } from './events.ts';
import { composeImages } from './images.ts';
import { composeLogs } from './logs.ts';
import { composeManagers } from './managers.ts';
import type { Meters } from './metrics.ts';
import { composeAddresses } from './node.ts';
import { composeObjects } from './objects.ts';
import { composeProbes } from './probes.ts';
import { composeRequests } from './requests.ts';
import { composeResources } from './resources.ts';
import { composeObservation } from './runtime.ts';
import { composeSources } from './sources.ts';
import { composeStatuses } from './status.ts';
import { composeVolumes, type VolumeParts } from './volumes.ts';
import { composeWorkers } from './workers.ts';

export interface PodTools {
  /** Built after the pods, which it ends. */
  readonly shutdown: () => NodeShutdown;
  /** What the node is short of. */
  readonly pressure: NodeFacts['pressure'];
  readonly cri: CriClient;
  readonly podNetwork: Pick<PodNetwork, 'setPodCidr'>;
  readonly running: Running;
  /** Undefined: standalone, without a local API. */
  readonly kube: Kube | undefined;
  /** `kube` is the local API of this node. */
  readonly isLocal: boolean;
  /** Conditions of the node that other parts report. */
  readonly nodeConditions: NonNullable<NodeFacts['conditions']>;
  readonly meters: Meters;
}

export interface PodParts {
  /** In the order in which they start. */
  readonly parts: readonly Part[];
  readonly pods: Pods;
  readonly events: Events;
  readonly statuses: Statuses;
  readonly volumes: Volumes;
  readonly resources: Resources;
  readonly devices: Devices;
  readonly managers: Managers;
  readonly images: Images;
  readonly deadContainers: DeadContainers;
  readonly logRotation: Pick<LogRotation, 'shrinkNow'>;
  readonly measureTree: VolumeParts['measureTree'];
  readonly probes: Pick<Probes, 'failures'>;
  /** Undefined for a kubelet without an API server. */
  readonly cluster: Cluster | undefined;
}

export function composePods(config: Config, deps: PartDeps, tools: PodTools): PodParts {
  const { cri, running, meters } = tools;
  // The workers are built last, and are called by what is built before them.
  const workers = (): Pods => pods;
  const views = () => pods.views();
  const { work, starts, resizes } = meters;
  const counting: Counting = { mono: deps.clock.mono, work, starts, resizes };

  const nodeParts = composeNodeParts(config, deps, {
    ...tools,
    counting,
    workers,
    statuses: () => statuses,
    volumesInUse: () => volumes.volumesInUse(),
  });
  const { events, handlers, observe, resources, devices, managers, assigning, cluster, node, nodeIps } = nodeParts;
  const { hasExclusiveCpus, addresses, plugins } = nodeParts;
  const { record } = events;
  const objectParts = composeObjects(config, deps, { kube: tools.kube, record, node });
  const { objects } = objectParts;
  const { volumes, directories, removeTree, measureTree } = composeVolumes(config, deps, {
    resources,
    record,
    objects,
    node,
    pods: workers,
    onOperation: meters.onVolumeOperation,
    onProgress: (uid) => workers().volumesProgressed(uid),
  });
  const forRequests = { objects: objectParts.requests, nodeIps, volumes, assigning, hasExclusiveCpus };
  const requests = composeRequests(config, deps, { handlers, resources, ...forRequests });
  const imageTools = { cri, record, requests, credentials: objectParts.credentials, onEnsured: meters.onImage, views };
  const images = composeImages(config, deps, imageTools);
  const { probes, hooks } = composeProbes(deps, {
    cri,
    record,
    wake: (uid) => {
      statuses.probesChanged(uid);
      pods.wake(uid, 'probe-verdict');
    },
    podDirectory: directories.of,
    nodeIps,
    metrics: meters.probes,
    onHookFallback: meters.work.hookFellBack,
  });
  const { logs, part: logRotation } = composeLogs(config, deps, { cri, views, removeTree });
  const onNode = { resources, devices, volumes, directories, assigning };
  const made = { cri, running, handlers, observe, requests, images, hooks, logs, ...onNode };
  const deadContainers = createDeadContainers(deps.clock, () => pods);
  const pods: Pods = composeWorkers(config, deps, {
    ...made,
    probes: probes.results,
    record,
    counting,
    node,
    identify: cluster?.identify,
    onReleased: cluster?.released,
    shutdown: tools.shutdown,
    pressure: tools.pressure,
    devices,
    resizeMeter: meters.resizes,
    isShortOfDisk: deadContainers.isRemoving,
  });
  const statuses = composeStatuses(config, deps, { handlers, nodeIps, devices, probes: probes.results });
  subscribe({ pods, probes, statuses, resources, assigning, managers, volumes, cluster, objects });
  const sources = composeSources(config, deps, { record, pods, objects, cluster, isLocal: tools.isLocal });
  const parts = [
    ...[events, addresses, handlers, resources, managers, devices, plugins, observe, images.part, probes],
    ...(objects === undefined ? [] : [objects]),
    ...(cluster?.before ?? []),
    ...[volumes, statuses, pods, logRotation],
    ...(cluster?.after ?? []),
    sources,
  ];
  const reclaimable = { images, deadContainers, logRotation, measureTree };
  return { parts, pods, events, statuses, volumes, resources, devices, managers, probes, ...reclaimable, cluster };
}

interface NodePartTools extends PodTools {
  readonly counting: Counting;
  readonly workers: () => Pods;
  readonly statuses: () => Statuses;
  readonly volumesInUse: Volumes['volumesInUse'];
}

/** What pods stand on: events, the runtime as it is observed, the node and its resources. */
function composeNodeParts(config: Config, deps: PartDeps, tools: NodePartTools) {
  const {
    cri,
    podNetwork,
    kube,
    meters,
    counting,
    workers: pods,
    volumesInUse,
    pressure,
    nodeConditions: conditions,
  } = tools;
  const events = composeEvents(config, deps, kube);
  const { record } = events;
  const { handlers, observe } = composeObservation(config, deps, { cri, counting, pods, onRelist: meters.onRelist });
  const { metrics } = meters;
  const hasExclusiveCpus = exclusiveCpusCheck(config, () => managers);
  const resources = composeResources(config, deps, { cri, record, counting, metrics, hasExclusiveCpus });
  const managers: Managers = composeManagers(config, deps, { cri, record, metrics, resources, pods });
  const addresses = composeAddresses(config, deps);
  const { lastRelist } = observe;
  const onStatusSynced = meters.work.statusSynced;
  const onStep = meters.onNodeStep;
  const { devices, plugins } = composeDevices(config, deps, {
    record,
    metrics: meters.metrics,
    pods,
    onChange: (uids) => {
      for (const uid of uids) tools.statuses().devicesChanged(uid);
      pods().assignableChanged();
      cluster?.node.requestUpdate();
    },
  });
  const nodeResources = {
    capacity: () => new Map([...resources.capacity(), ...devices.capacity()]),
    allocatable: () => new Map([...resources.allocatable(), ...devices.allocatable()]),
  };
  const made = {
    cri,
    podNetwork,
    record,
    resources: nodeResources,
    addresses,
    lastRelist,
    pods,
    onStatusSynced,
    onStep,
    volumesInUse,
  };
  const closedBecause = () => tools.shutdown().problem();
  const cluster = kube && composeCluster(config, deps, { ...made, kube, conditions, pressure, closedBecause });
  const node = () => cluster?.node.object();
  const assigning = createAssigning([devices.provider, ...managers.providers], managers.topology);
  const nodeIps = nodeIpsOf(addresses, node);
  const assigned = { devices, plugins, managers, assigning, hasExclusiveCpus };
  return { events, handlers, observe, resources, ...assigned, addresses, cluster, node, nodeIps };
}

interface Listening extends Pick<PodParts, 'pods' | 'statuses' | 'volumes' | 'resources' | 'cluster'> {
  readonly probes: ReturnType<typeof composeProbes>['probes'];
  readonly objects: ReturnType<typeof composeObjects>['objects'];
  readonly assigning: Assigning;
  readonly managers: Managers;
}

/** Which part gets the updates of which, in this order. */
function subscribe(listening: Listening): void {
  const { pods, probes, statuses, resources, assigning, managers, volumes, cluster, objects } = listening;
  // First the probes: what they found before a restart is then in the first status.
  pods.subscribe('probes', probes.follow);
  pods.subscribe('status', statuses.follow);
  pods.subscribe('resources', resources.observe);
  pods.subscribe('assigned resources', assigning.follow);
  pods.subscribe('managers', managers.follow);
  pods.subscribe('volumes', volumes.follow);
  if (cluster !== undefined) {
    statuses.subscribe('status publisher', cluster.publish);
    pods.subscribe('cluster', cluster.follow);
  }
  cluster?.node.subscribe('volumes', volumes.attachmentsChanged);
  objects?.subscribe('pods', pods.objectChanged);
}
