/** The part of the composition root that looks after pods: from the sources over the workers to the runtime. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createAct } from '../act/act.ts';
import { podUid, type SandboxId } from '../api/ids.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Config } from '../config/config.ts';
import { createEvents, DEFAULT_REMEMBERED_EVENTS, type Events } from '../events/events.ts';
import { onlineCpus } from '../host/machine.ts';
import type { Kube } from '../kube/kube.ts';
import type { FoundPod } from '../model/pod-identity.ts';
import { createPods, type Pods } from '../pods/pods.ts';
import type { Resources } from '../resources/resources.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import { createHandlers } from '../runtime/handlers.ts';
import type { Logs } from '../runtime/logs/logs.ts';
import { createObserve, type Observe, type ObserveDeps } from '../runtime/observe/observe.ts';
import { restorePod } from '../runtime/observe/rules/restore-pod.ts';
import { createSources } from '../sources/sources.ts';
import type { Statuses } from '../status/status.ts';
import type { WorkMetrics } from '../telemetry/metrics-work.ts';
import type { Volumes } from '../volumes/volumes.ts';
import { composeAdmission } from './admission.ts';
import { type Cluster, composeCluster } from './cluster.ts';
import type { PartDeps } from './compose.ts';
import {
  type Counting,
  countAct,
  countEvents,
  countHooks,
  countImages,
  countReads,
  countRuntime,
  countUserNamespaces,
} from './counted.ts';
import { composeDecisions } from './decisions.ts';
import { composeImages, type ImageTools } from './images.ts';
import { composeLogs } from './logs.ts';
import { composeAddresses, type NodeTools, nodeIpsOf, nodeNameOf } from './node.ts';
import { composeObjects, eventSink, retryOnChange } from './objects.ts';
import { composeProbes, type ProbeTools } from './probes.ts';
import { composeRequests } from './requests.ts';
import { composeResources } from './resources.ts';
import { sourcesConfig } from './sources.ts';
import { composeStatuses, publishStatus } from './status.ts';
import { composeVolumes, nodeAttachments, usedVolumes, type VolumeTools } from './volumes.ts';

export interface PodTools {
  readonly cri: CriClient;
  /** Undefined: standalone. */
  readonly kube: Kube | undefined;
  /** Where probes are counted. */
  readonly probeCounts?: ProbeTools['metrics'];
  readonly onRelist?: ObserveDeps['onRelist'];
  /** Where operations on volumes are counted. */
  readonly onVolumeOperation?: VolumeTools['onOperation'];
  /** Where the work for pods is counted. */
  readonly work: WorkMetrics;
  /** Told of each image that was wanted. */
  readonly onImage?: ImageTools['onEnsured'];
  readonly onNodeStep?: NodeTools['onStep'];
}

export interface PodParts {
  /** In the order in which they start. */
  readonly parts: readonly Part[];
  readonly pods: Pods;
  readonly events: Events;
  readonly statuses: Statuses;
  readonly volumes: Volumes;
  readonly resources: Resources;
  /** Undefined for a kubelet without an API server. */
  readonly cluster: Cluster | undefined;
}

export function composePods(config: Config, deps: PartDeps, tools: PodTools): PodParts {
  const { cri, kube, probeCounts, onRelist, onVolumeOperation, work } = tools;
  const { clock, log, supervisor } = deps;
  const counting: Counting = { mono: clock.mono, work };
  const { root } = config.settings.directories;
  const nodeName = nodeNameOf(config);
  const { eventRecordQPS: perSecond, eventBurst: burst } = config.kubelet;
  const events = createEvents(
    { nodeName, remember: DEFAULT_REMEMBERED_EVENTS, perSecond, burst },
    { clock, log, supervisor, ...eventSink(deps, kube, nodeName) },
  );
  const { record } = events;
  const handlers = createHandlers({
    clock,
    log: log.named('runtime/handlers'),
    supervisor,
    status: cri.status,
    version: cri.version,
  });
  const observe: Observe = createObserve({
    clock,
    log: log.named('runtime/observe'),
    supervisor,
    runtime: countEvents(cri, counting, clock.now),
    messages: { files: deps.host.files, pods: join(root, 'pods'), podLogs: config.kubelet.podLogsDir },
    wake: (uid) => pods.wake(uid),
    foretell: (uid) => pods.foretell(uid),
    onList: (listed) => pods.found(listed),
    onRelist,
  });
  const resources = composeResources(config, deps, { cri, record, counting });
  const addresses = composeAddresses(config, deps);
  const cluster =
    kube === undefined
      ? undefined
      : composeCluster(config, deps, kube, {
          cri,
          record,
          resources,
          addresses,
          lastRelist: observe.lastRelist,
          pods: () => pods,
          onStatusSynced: work.statusSynced,
          onStep: tools.onNodeStep,
          facts: { volumesInUse: () => usedVolumes(volumes) },
        });
  const node = () => cluster?.node.object();
  const nodeIps = nodeIpsOf(addresses, node);
  const objectParts = composeObjects(config, deps, kube === undefined ? undefined : { kube, nodeName, record, node });
  const { volumes, directories, removeTree } = composeVolumes(config, deps, {
    resources,
    record,
    objects: objectParts.objects,
    attachments: nodeAttachments(node),
    onOperation: onVolumeOperation,
  });
  cluster?.node.subscribe('volumes', volumes.attachmentsChanged);
  const requests = composeRequests(config, {
    clock,
    handlers,
    resources,
    objects: objectParts.requests,
    nodeIps,
    volumes,
  });
  const images = composeImages(config, deps, {
    cri,
    record,
    requests,
    credentials: objectParts.credentials,
    onEnsured: tools.onImage,
    pods: () => pods.views().map(({ pod }) => pod),
  });
  const { hooks, probes } = composeProbes(deps, {
    cri,
    record,
    // What a probe found is told at once of what is known of the pod; the worker then looks at the runtime anew.
    wake: (uid) => {
      const view = pods.view(uid);
      if (view?.step === 'syncing')
        supervisor.guard('status', { podUID: uid }, () => tellStatus({ kind: 'view', view }));
      pods.wake(uid);
    },
    podDirectory: directories.of,
    nodeIps,
    metrics: probeCounts,
    onHookFallback: work.hookFellBack,
  });
  const nodeLogs = composeLogs(config, deps, { cri, views: () => pods.views(), removeTree });
  const userNamespaces = countUserNamespaces(counting);
  const act = createAct({
    clock,
    runtime: countRuntime(cri, counting),
    requests: userNamespaces.requests(requests),
    images: countImages(images, counting),
    hooks: countHooks(hooks, counting),
    directories,
    logs: nodeLogs.logs,
    record,
    cgroups: { ensure: resources.ensurePodCgroup, remove: resources.removePodCgroup },
    volumes,
    sandboxIps: (id, signal) => sandboxIps(cri, id, signal),
  });
  const pods: Pods = createPods(
    {
      clock,
      log: log.named('pods'),
      supervisor,
      act: userNamespaces.act(countAct(act, counting)),
      observe: countReads(observe, counting),
      record,
      onPass: (pass) => {
        work.workerPass(pass);
        if (pass.waitedMs !== undefined) work.workerStarted(pass.waitedMs);
      },
      decisions: composeDecisions(config, { probes: probes.results, restartCounts: nodeLogs.logs.nextAttempts }, () =>
        pods.views().map(({ observation }) => observation),
      ),
      listNode: (signal) => listNode(join(root, 'pods'), { observe, resources, logs: nodeLogs.logs }, signal),
      admit: composeAdmission(config, { nodeName, resources, handlers, node }),
      restorePod: async (found, signal) => restorePod(await observe.read(found, signal)),
      ...(cluster === undefined ? {} : { identify: cluster.identify }),
    },
    {
      startsAtOnce: startsAtOnce(),
      endingsFolder: join(root, 'ended_pods'),
      allocationsFile: join(root, 'allocated_pods_state'),
      podLevelResize: config.features.enabled('InPlacePodLevelResourcesVerticalScaling'),
    },
  );
  const statuses = composeStatuses(config, deps, { handlers, nodeIps, publish: cluster?.publish });
  const tellStatus = publishStatus(statuses, probes.results);
  // First the probes: what they found before a restart is then in the first status.
  pods.subscribe('probes', probes.follow);
  pods.subscribe('status', tellStatus);
  pods.subscribe('resources', resources.observe);
  pods.subscribe('volumes', volumes.follow);
  if (cluster !== undefined) pods.subscribe('cluster', cluster.follow);
  retryOnChange(objectParts.objects, () => pods);
  const sources = createSources(sourcesConfig(config, nodeName), {
    clock,
    log,
    supervisor,
    inotify: deps.host.inotify,
    record,
    apiServer: cluster?.apiServer,
    onDesired: (wanted, everySourceHeard) => {
      supervisor.guard('objects', {}, () => objectParts.setPods(wanted));
      supervisor.guard('cluster', {}, () => cluster?.desire(wanted, everySourceHeard));
      pods.setDesired(wanted, everySourceHeard);
    },
  });
  return {
    parts: [
      events,
      addresses,
      handlers,
      resources,
      observe,
      images.part,
      probes,
      ...(objectParts.objects === undefined ? [] : [objectParts.objects]),
      ...(cluster?.before ?? []),
      volumes,
      pods,
      nodeLogs.part,
      ...(cluster?.after ?? []),
      sources,
    ],
    pods,
    events,
    statuses,
    volumes,
    resources,
    cluster,
  };
}

/** See docs/starts.md. */
function startsAtOnce(): number {
  return Math.max(4, 2 * onlineCpus().length);
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
