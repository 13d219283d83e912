/** The workers: what carries out their plans, and what their decisions depend on. */
import { join } from 'node:path';
import { type ActDeps, createAct } from '../act/act.ts';
import type { PodDirectories } from '../act/pod-directories.ts';
import type { KubeNode } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import type { Config } from '../config/config.ts';
import type { Devices } from '../devices/devices.ts';
import type { Images } from '../images/images.ts';
import {
  type Counting,
  countAct,
  countHooks,
  countImages,
  countReads,
  countRuntime,
  countUserNamespaces,
  countVolumes,
} from '../metering/metering.ts';
import type { RecordEvent } from '../model/event.ts';
import { processorsOf } from '../model/machine.ts';
import type { ProbeResults } from '../model/probe-results.ts';
import { nodeIdentity, nodeTraits } from '../node/settings.ts';
import { backOffSettings } from '../plan/back-off.ts';
import { type AdmissionDeps, createAdmission, createFeasibility } from '../pods/admission.ts';
import { type Allocations, createAllocations } from '../pods/allocations.ts';
import { listNode } from '../pods/list-node.ts';
import { createPods, type Pods, type PodsDeps, startsAtOnce } from '../pods/pods.ts';
import type { Assigning } from '../resources/assigning.ts';
import type { Resources } from '../resources/resources.ts';
import { createContainerHashes } from '../runtime/container-hashes.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import { createGarbage } from '../runtime/garbage.ts';
import type { Handlers } from '../runtime/handlers.ts';
import type { Logs } from '../runtime/logs/logs.ts';
import type { Observe } from '../runtime/observe/observe.ts';
import type { Running } from '../runtime/running.ts';
import type { NodeShutdown } from '../shutdown/shutdown.ts';
import type { Volumes } from '../volumes/volumes.ts';
import type { PartDeps } from './compose.ts';

export interface WorkerTools {
  readonly cri: CriClient;
  readonly running: Running;
  readonly handlers: Handlers;
  readonly observe: Observe;
  readonly resources: Resources;
  readonly assigning: Assigning;
  readonly devices: Pick<Devices, 'admissible'>;
  readonly volumes: Volumes;
  readonly directories: PodDirectories;
  readonly requests: ActDeps['requests'];
  readonly images: Images;
  readonly hooks: ActDeps['hooks'];
  readonly probes: () => ProbeResults;
  readonly logs: Logs;
  readonly record: RecordEvent;
  readonly counting: Counting;
  readonly resizeMeter: PodsDeps['resizeMeter'];
  /** What the node is short of. */
  readonly pressure: AdmissionDeps['pressure'];
  /** Dead containers are being removed, because the node is short of disk. */
  readonly isShortOfDisk: () => boolean;
  /** This node's object, where the API server has one. */
  readonly node: () => KubeNode | undefined;
  /** Undefined for a kubelet without an API server. */
  readonly identify: PodsDeps['identify'] | undefined;
  readonly onReleased: PodsDeps['onReleased'];
  readonly shutdown: () => Pick<NodeShutdown, 'isClosed' | 'unmounted'>;
}

export function composeWorkers(config: Config, deps: PartDeps, tools: WorkerTools): Pods {
  const { clock, log, supervisor } = deps;
  const { counting, observe, resources, directories, logs, identify } = tools;
  const { work } = counting;
  const { root } = config.settings.directories;
  const listings = {
    listRuntime: observe.list,
    listDirectories: directories.list,
    listCgroups: resources.listPodCgroups,
    listLogs: logs.list,
  };
  const { features } = config;
  const allocations = createAllocations(log.named('pods'), {
    directory: root,
    podLevel: features.enabled('InPlacePodLevelResourcesVerticalScaling'),
  });
  const pods: Pods = createPods(
    {
      clock,
      log: log.named('pods'),
      supervisor,
      act: composeAct(deps, tools, allocations),
      observe: countReads(observe, counting),
      record: tools.record,
      onPass: work.workerPass,
      onReleased: tools.onReleased,
      onUnmounted: (uid) => tools.shutdown().unmounted(uid),
      isClosed: () => tools.shutdown().isClosed(),
      volumeProgress: tools.volumes.progress,
      decisions: composeDecisions(config, tools, () => pods),
      listNode: (signal) => listNode(listings, signal),
      admit: composeAdmission(config, deps, tools),
      assigning: tools.assigning,
      restorePod: observe.restore,
      infeasible: createFeasibility(config, deps.host.machine.runtimeFacts()),
      resizeMeter: tools.resizeMeter,
      ...(identify && { identify }),
    },
    allocations,
    {
      startsAtOnce: startsAtOnce(processorsOf(deps.machine).length),
      endingsDirectory: join(root, 'ended_pods'),
      podLevel: features.enabled('PodLevelResources'),
      resyncMs: config.kubelet.syncFrequency,
    },
  );
  return pods;
}

function composeAct({ clock }: PartDeps, tools: WorkerTools, inForce: Allocations) {
  const { cri, running, counting, resources, requests, images, hooks, directories, logs, record, volumes } = tools;
  const userNamespaces = countUserNamespaces(counting);
  const act = createAct({
    clock,
    runtime: countRuntime(cri, counting),
    requests: userNamespaces.requests(requests),
    images: countImages(images, counting),
    hooks: countHooks(hooks, counting),
    directories,
    logs,
    record,
    cgroups: { ensure: resources.ensurePodCgroup, remove: resources.removePodCgroup },
    limits: resources,
    inForce,
    volumes: countVolumes(volumes, counting),
    sandboxIps: running.sandboxIps,
  });
  return userNamespaces.act(countAct(act, counting));
}

function composeDecisions(
  { kubelet, settings, features }: Config,
  { probes, logs, isShortOfDisk: isShort }: WorkerTools,
  pods: () => Pods,
) {
  const { deadMinimumAge: minimumAge, deadPerContainer: perContainer, deadTotal: total } = settings.containers;
  const observations = () =>
    pods()
      .views()
      .map(({ observation }) => observation);
  return {
    probes,
    isShortOfDisk: isShort,
    restartCounts: logs.nextAttempts,
    backOff: backOffSettings(kubelet.crashLoopBackOff.maxContainerRestartPeriod),
    resize: {
      podLevel: features.enabled('InPlacePodLevelResourcesVerticalScaling'),
      initContainers: features.enabled('InPlacePodVerticalScalingInitContainers'),
    },
    hashes: createContainerHashes(),
    garbage: createGarbage({ minimumAge, perContainer, total }, observations, isShort),
  };
}

function composeAdmission(
  config: Config,
  { nodeName, host, machine }: PartDeps,
  { handlers, resources, devices, node, pressure, shutdown }: WorkerTools,
) {
  const identity = nodeIdentity(config, { nodeName, architecture: machine.architecture });
  const allocatable = (pod: Pod) => new Map([...resources.allocatable(), ...devices.admissible(pod)]);
  return createAdmission(
    {
      ...{ allocatable, pressure },
      traits: () => nodeTraits(identity, node()),
      strictGroups: handlers.strictGroups,
      isClosed: () => shutdown().isClosed(),
    },
    config,
    { nodeName, kernelVersion: machine.kernelVersion, appArmor: host.machine.appArmorEnabled() },
  );
}
