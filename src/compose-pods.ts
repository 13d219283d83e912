/** The part of the composition root that looks after pods: from the sources over the workers to the runtime. */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createAct } from './act/act.ts';
import { createPodDirectories, parseMountPoints } from './act/pod-directories.ts';
import type { RequestsPort } from './act/ports.ts';
import type { Container } from './api/container.ts';
import { type PodUid, podUid, type SandboxId } from './api/ids.ts';
import type { Pod } from './api/pod.ts';
import { allContainers } from './api/pod-traits.ts';
import type { Part } from './base/lifecycle.ts';
import type { KubeletDeps } from './compose.ts';
import { composeAdmission } from './compose-admission.ts';
import { composeLogs } from './compose-logs.ts';
import { composeResources, qosClasses, resourceListOf } from './compose-resources.ts';
import { sourcesConfig } from './compose-sources.ts';
import { nodeAddresses, readRequestsConfig } from './compose-spec.ts';
import type { Config } from './config/config.ts';
import { KUBERNETES_VERSION } from './config/version.ts';
import { createEvents, DEFAULT_REMEMBERED_EVENTS, type Events, type RecordEvent } from './events/events.ts';
import { readDiskSpace } from './host/disk.ts';
import { cgroupVersion, onlineCpus } from './host/machine.ts';
import { createProcesses } from './host/processes.ts';
import { createImages, type Images, imagesConfig } from './images/images.ts';
import { createNetwork } from './network/network.ts';
import type { BackOffSettings, ProbeResults } from './plan/snapshot.ts';
import { createPods, type FoundPod, type Pods } from './pods/pods.ts';
import type { PodNews } from './pods/view.ts';
import { createHooks, createProbes } from './probes/probes.ts';
import type { Resources } from './resources/resources.ts';
import type { CriClient } from './runtime/cri/client.ts';
import { createHandlers, type Handlers } from './runtime/handlers.ts';
import type { Logs } from './runtime/logs/logs.ts';
import { createObserve, type Observe } from './runtime/observe/observe.ts';
import { restorePod } from './runtime/observe/rules/restore-pod.ts';
import { createRequests } from './runtime/requests.ts';
import { findGarbage } from './runtime/rules/garbage.ts';
import { expandAll } from './runtime/spec/environment.ts';
import { hashContainer } from './runtime/spec/hash.ts';
import { createUserNamespaces } from './runtime/user-namespaces.ts';
import { createSources } from './sources/sources.ts';
import type { StatusGates } from './status/rules/status-input.ts';
import { createStatus, type Statuses } from './status/status.ts';
import { createVolumes } from './volumes/volumes.ts';

export interface PodParts {
  /** In the order in which they start. */
  readonly parts: readonly Part[];
  readonly pods: Pods;
  readonly events: Events;
  readonly statuses: Statuses;
}

export function composePods(config: Config, deps: KubeletDeps, cri: CriClient): PodParts {
  const { clock, log } = deps;
  const { root } = config.settings.directories;
  const nodeName = nodeNameOf(config);
  const { eventRecordQPS: perSecond, eventBurst: burst } = config.kubelet;
  const events = createEvents({ nodeName, remember: DEFAULT_REMEMBERED_EVENTS, perSecond, burst }, { clock, log });
  const { record } = events;
  const handlers = createHandlers({
    clock,
    log: log.named('runtime/handlers'),
    status: cri.status,
    version: cri.version,
  });
  const observe: Observe = createObserve({
    clock,
    log: log.named('runtime/observe'),
    runtime: cri,
    wake: (uid) => pods.wake(uid),
    onList: (listed) => pods.found(listed),
  });
  const resources = composeResources(config, deps, { cri, record });
  const requests = createNodeRequests(config, handlers, resources);
  const images = createNodeImages(config, deps, { cri, record, requests });
  const mountPoints = async () => parseMountPoints(await readFile('/proc/self/mountinfo', 'utf8'));
  const directories = createPodDirectories({
    root,
    randomName: () => randomBytes(4).toString('hex'),
    mountPoints,
  });
  const wake = (uid: PodUid) => pods.wake(uid);
  const { hooks, probes } = createNodeProbes(config, deps, { cri, record, wake, podDirectory: directories.of });
  const nodeLogs = composeLogs(config, deps, { cri, views: () => pods.views() });
  const act = createAct({
    clock,
    runtime: cri,
    requests,
    images,
    hooks,
    directories,
    logs: nodeLogs.logs,
    record,
    cgroups: { ensure: resources.ensurePodCgroup, remove: resources.removePodCgroup },
    volumes: createVolumes({ podDirectory: directories.of, mountPoints }),
    sandboxIps: (id, signal) => sandboxIps(cri, id, signal),
  });
  const pods: Pods = createPods(
    {
      clock,
      log: log.named('pods'),
      act,
      observe,
      record,
      decisions: {
        backOff: backOffOf(config),
        probes: probes.results,
        hashes: createHashes(),
        restartCounts: nodeLogs.logs.nextAttempts,
        garbage: (observation, now) => findGarbage(observation, garbageSettings(config), now),
      },
      listNode: (signal) => listNode(join(root, 'pods'), { observe, resources, logs: nodeLogs.logs }, signal),
      admit: composeAdmission(config, { nodeName, resources, handlers }),
      restorePod: async (found, signal) => restorePod(await observe.read(found, signal)),
    },
    { startsAtOnce: startsAtOnce(), endingsFolder: join(root, 'ended_pods') },
  );
  const statuses = createNodeStatuses(config, deps, handlers);
  // First the probes: what they found before a restart is then in the first status.
  pods.subscribe(probes.follow);
  pods.subscribe(publishStatus(statuses, probes.results));
  pods.subscribe(resources.observe);
  const sources = createNodeSources(config, deps, record, pods);
  return {
    parts: [events, handlers, resources, observe, images.part, probes, pods, nodeLogs.part, sources],
    pods,
    events,
    statuses,
  };
}

const IDS_PER_POD = 65_536;
const CRASH_INITIAL_MS = 10_000;
const CRASH_MAX_MS = 300_000;
const CRASH_RESET_MS = 600_000;

function backOffOf({ kubelet }: Config): BackOffSettings {
  const maxMs = kubelet.crashLoopBackOff.maxContainerRestartPeriod ?? CRASH_MAX_MS;
  return { initialMs: Math.min(CRASH_INITIAL_MS, maxMs), maxMs, resetAfterMs: CRASH_RESET_MS };
}

function garbageSettings({ settings }: Config) {
  const { deadMinimumAge, deadPerContainer } = settings.containers;
  return { minimumAge: deadMinimumAge, perContainer: deadPerContainer };
}

/** See docs/starts.md. */
function startsAtOnce(): number {
  return Math.max(4, 2 * onlineCpus().length);
}

function nodeNameOf({ settings }: Config): string {
  return (settings.node.hostnameOverride || hostname()).toLowerCase();
}

function createNodeRequests(config: Config, handlers: Handlers, resources: Resources): RequestsPort {
  const { kubelet, features } = config;
  const nodeIps = () => nodeAddresses(config);
  const network = createNetwork(
    { readTextFile: (path) => readFile(path, 'utf8'), nodeIps },
    {
      clusterDns: kubelet.clusterDNS,
      clusterDomain: kubelet.clusterDomain,
      resolvConf: kubelet.resolvConf,
      hostnameOverride: features.enabled('HostnameOverride'),
    },
  );
  const requests = createRequests(
    {
      network,
      cgroupParent: resources.podCgroupParent,
      qosClass: qosClasses(config),
      nodeIps,
      nodeAllocatable: () => resourceListOf(resources.allocatable()),
      handlerFeatures: handlers.features,
      objects: NO_OBJECTS,
      idRange: createUserNamespaces({
        podsFolder: join(config.settings.directories.root, 'pods'),
        idsPerPod: kubelet.userNamespaces?.idsPerPod ?? IDS_PER_POD,
        chance: Math.random,
      }).rangeOf,
    },
    readRequestsConfig(config, cgroupVersion()),
  );
  return { ...requests, hostsFile: network.hostsFileOf };
}

/** A kubelet without an API server: nothing of it is there, and each thing says so by its name. */
const NO_OBJECTS = {
  services: () => [],
  configMap: (_: string, name: string) => ({ kind: 'missing' as const, message: `configmap "${name}" not found` }),
  secret: (_: string, name: string) => ({ kind: 'missing' as const, message: `secret "${name}" not found` }),
  runtimeHandler: (name: string) => ({ ok: false as const, problem: `RuntimeClass "${name}" not found` }),
};

interface ProbeTools {
  readonly cri: CriClient;
  readonly record: RecordEvent;
  readonly wake: (uid: PodUid) => void;
  readonly podDirectory: (uid: PodUid) => string;
}

function createNodeProbes(config: Config, { clock, log }: KubeletDeps, tools: ProbeTools) {
  const { cri, record, wake, podDirectory } = tools;
  const { execSync } = cri.streams;
  const nodeIps = () => nodeAddresses(config);
  const versions = { kubernetesVersion: KUBERNETES_VERSION };
  const literals = ({ env = [] }: Container) => env.map(({ name, value = '' }) => ({ name, value }));
  const probes = createProbes(
    {
      clock,
      log: log.named('probes'),
      record,
      wake,
      execSync,
      expand: (words, container) => expandAll(words, literals(container)),
      nodeIps,
      podDirectory,
      processes: createProcesses(),
    },
    versions,
  );
  return { hooks: createHooks({ clock, execSync, nodeIps, record }, versions), probes };
}

/** The hashes of a pod's containers, made once for each description of it. */
function createHashes(): (pod: Pod) => ReadonlyMap<string, string> {
  const known = new WeakMap<Pod, ReadonlyMap<string, string>>();
  return (pod) => {
    const hashes = known.get(pod) ?? new Map(allContainers(pod).map((one) => [one.name, hashContainer(one)]));
    known.set(pod, hashes);
    return hashes;
  };
}

interface ImageTools {
  readonly cri: CriClient;
  readonly record: RecordEvent;
  readonly requests: Pick<RequestsPort, 'sandbox'>;
}

function createNodeImages(config: Config, deps: KubeletDeps, { cri, record, requests }: ImageTools): Images {
  const nowhere = { environment: {}, workingDirectory: '/', homeDirectory: undefined };
  return createImages(
    {
      clock: deps.clock,
      log: deps.log.named('images'),
      runtime: cri.images,
      record,
      imagesInUse: async (signal) => {
        const containers = await cri.containers.list(undefined, signal);
        return new Set(containers.flatMap(({ imageId, imageRef }) => [imageId, imageRef]).filter((id) => id !== ''));
      },
      diskOf: readDiskSpace,
      sandboxConfigOf: async (pod) => {
        const request = await requests.sandbox(pod, 0);
        return request.kind === 'ready' ? request.config : undefined;
      },
      surroundings: deps.surroundings ?? nowhere,
      downloadsOf: cri.downloads.of,
    },
    imagesConfig(config),
  );
}

async function sandboxIps(cri: CriClient, id: SandboxId, signal: AbortSignal): Promise<readonly string[]> {
  const network = (await cri.sandboxes.status(id, {}, signal))?.status?.network;
  const ips = [network?.ip ?? '', ...(network?.additionalIps ?? []).map(({ ip }) => ip)];
  return ips.filter((ip) => ip !== '');
}

/** What the runtime has, and pods of which only a folder, a cgroup or logs are left. */
async function listNode(
  folder: string,
  { observe, resources, logs }: { readonly observe: Observe; readonly resources: Resources; readonly logs: Logs },
  signal: AbortSignal,
): Promise<readonly FoundPod[]> {
  const listed = await observe.list(signal);
  const nameless = [...(await readdir(folder)), ...(await resources.listPodCgroups())];
  const left = [...nameless.map((uid) => ({ uid, name: '', namespace: '' })), ...(await logs.list())];
  const found = new Map(left.map((pod) => [pod.uid, { ...pod, uid: podUid(pod.uid), alive: false }]));
  for (const pod of listed) found.set(pod.uid, pod);
  return [...found.values()];
}

function createNodeStatuses(config: Config, { clock, log }: KubeletDeps, handlers: Handlers): Statuses {
  const statusLog = log.named('status');
  return createStatus({
    now: clock.now,
    nodeIps: () => nodeAddresses(config),
    runtimeName: handlers.runtimeName,
    qosClassOf: qosClasses(config),
    recursiveReadOnly: () => handlers.features('').recursiveReadOnly,
    gates: statusGates(config),
    sink: ({ uid, pod: { metadata }, status }) => {
      const pod = `${metadata.namespace}/${metadata.name}`;
      statusLog.v(2)?.info('Pod status changed', { pod, podUID: uid, status });
    },
  });
}

function statusGates({ features }: Config): StatusGates {
  return {
    podReadyToStartContainers: features.enabled('PodReadyToStartContainersCondition'),
    containerStopSignals: features.enabled('ContainerStopSignals'),
    podLevelResources: features.enabled('PodLevelResources'),
    inPlacePodLevelResources: features.enabled('InPlacePodLevelResourcesVerticalScaling'),
    restartAllContainers: features.enabled('RestartAllContainersOnContainerExits'),
  };
}

/** Every view becomes a status, until the pod is gone. */
function publishStatus(statuses: Statuses, probes: () => ProbeResults): (news: PodNews) => void {
  return (news) => {
    if (news.kind === 'gone') {
      statuses.forget(news.uid);
      return;
    }
    const { pod, step, observation, memory, plan, startedAt, ended } = news.view;
    const remembered = [...memory].flatMap(([name, { waiting }]) => (waiting ? [[name, waiting] as const] : []));
    statuses.publish({
      pod,
      step,
      observation,
      probes: probes(),
      waiting: new Map([...remembered, ...(plan?.waiting ?? [])]),
      startedAt,
      ended: ended?.rejected ? undefined : ended,
      rejected: ended?.rejected ? ended : undefined,
    });
  };
}

function createNodeSources(config: Config, { clock, log, host }: KubeletDeps, record: RecordEvent, pods: Pods): Part {
  return createSources(sourcesConfig(config, nodeNameOf(config)), {
    clock,
    log,
    inotify: host.inotify,
    record,
    onDesired: pods.setDesired,
  });
}
