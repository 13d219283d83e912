/** The part of the composition root that ties this kubelet's pods to an API server. A kubelet without one has none of it. */

import { join } from 'node:path';
import { apiPath, fieldEquals } from '../api/api-path.ts';
import type { KubeNode } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import { isStaticPod } from '../api/pod-traits.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Config } from '../config/config.ts';
import type { Kube } from '../kube/kube.ts';
import type { PodNews } from '../model/pod-view.ts';
import type { Node } from '../node/node.ts';
import { createAdoption } from '../pods/adoption.ts';
import { createMirrors } from '../pods/mirrors.ts';
import type { Pods, PodsDeps } from '../pods/pods.ts';
import { createApiSource } from '../sources/apiserver.ts';
import type { SourcesDeps } from '../sources/sources.ts';
import { createPublisher } from '../status/publisher.ts';
import type { PodStatusChange } from '../status/status.ts';
import type { PartDeps } from './compose.ts';
import { composeNode, type NodeTools, nodeNameOf } from './node.ts';

export interface ClusterTools extends Omit<NodeTools, 'kube'> {
  readonly pods: () => Pods;
  /** Told how long it took from a new status until the API server had it. */
  readonly onStatusSynced?: ((ms: number) => void) | undefined;
}

export interface Cluster {
  readonly node: Node;
  /** To be started before the pods, in this order. */
  readonly before: readonly Part[];
  /** To be started after the pods and before their sources. */
  readonly after: readonly Part[];
  readonly apiServer: NonNullable<SourcesDeps['apiServer']>;
  readonly identify: NonNullable<PodsDeps['identify']>;
  /** How many pods of the API server stand for static ones here. */
  mirrorPods(): number;
  /** Under which the API server knows a static pod; undefined where it has no mirror of it. */
  mirrorUid(namespace: string, name: string): string | undefined;
  /** To be told of each status. */
  publish(change: PodStatusChange): void;
  /** To be told of what becomes of pods, after their statuses. */
  follow(news: PodNews): void;
  /** To be told of what the sources want, before the pods are. */
  desire(pods: readonly Pod[], everySourceHeard: boolean): void;
}

export function composeCluster(config: Config, deps: PartDeps, kube: Kube, tools: ClusterTools): Cluster {
  const { clock, log, supervisor } = deps;
  const nodeName = nodeNameOf(config);
  const node = composeNode(config, deps, { ...tools, kube });
  const pods: Pick<Pods, 'views' | 'desired'> = {
    views: () => tools.pods().views(),
    desired: () => tools.pods().desired(),
  };
  const shared = { clock, supervisor, client: kube.general, chance: Math.random };
  const publisher = createPublisher({ ...shared, log: log.named('status/publisher'), onSynced: tools.onStatusSynced });
  const mirrors = createMirrors({
    ...shared,
    log: log.named('pods/mirrors'),
    pods,
    node: () => ownerOf(node.object()),
    onMade: publisher.learn,
  });
  const adoption = createAdoption({
    clock,
    log: log.named('pods/adoption'),
    file: join(config.settings.directories.root, 'adopted_static_pods.json'),
    mirrors: mirrors.known,
    onDecided: () => setAgain(tools.pods()),
  });
  node.subscribe('mirror pods', mirrors.look);
  kube.onBack('status publisher', publisher.retry);
  kube.onBack('mirror pods', mirrors.retry);
  return {
    node,
    before: [adoption, publisher],
    after: [mirrors, node],
    identify: adoption.identify,
    mirrorPods: () => mirrors.known()?.length ?? 0,
    mirrorUid: (namespace, name) =>
      mirrors.known()?.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace)?.metadata.uid,
    publish: publisher.publish,
    follow: (news) => {
      if (news.kind === 'gone') publisher.finish(news.uid);
      if (isStaticPod(news.kind === 'gone' ? news.pod : news.view.pod)) mirrors.look();
    },
    desire: (wanted, everySourceHeard) => {
      if (everySourceHeard) adoption.keepOnly(wanted.filter(isStaticPod));
      mirrors.look();
    },
    apiServer: (tell) => {
      // Pods are judged by their node's labels: those of the API server wait until it has the node.
      const source = createApiSource({
        log: log.named('sources'),
        supervisor,
        onPods: onceKnown(node, config.kubelet.registerNode, inOneGo(supervisor, tell)),
        onMirrors: mirrors.setMirrors,
        // The publisher first: it then knows what the API server has when the first status comes.
        first: publisher.listener,
      });
      return kube.watch<Pod>({
        path: apiPath`/api/v1/pods`,
        fieldSelector: fieldEquals('spec.nodeName', nodeName),
        listener: source,
      });
    },
  };
}

function ownerOf(node: KubeNode | undefined): { readonly name: string; readonly uid: string } | undefined {
  return node === undefined ? undefined : { name: node.metadata.name, uid: node.metadata.uid };
}

function setAgain(pods: Pods): void {
  const desired = pods.desired();
  if (desired !== undefined) pods.setDesired(desired.pods, desired.everySourceHeard);
}

/** Each set names every pod, and many pods may come at once: what arrives together is passed on together, the latest set alone. */
function inOneGo(
  supervisor: Pick<Supervisor, 'guard'>,
  tell: (pods: readonly Pod[]) => void,
): (pods: readonly Pod[]) => void {
  let latest: readonly Pod[] | undefined;
  const pass = () => {
    const pods = latest;
    latest = undefined;
    if (pods !== undefined) supervisor.guard('API pods', { pods: pods.length }, () => tell(pods));
  };
  return (pods) => {
    if (latest === undefined) setImmediate(pass);
    latest = pods;
  };
}

/** Passes on what is told as soon as the node's object has been seen once; the latest wins until then. */
function onceKnown(
  node: Node,
  registers: boolean,
  tell: (pods: readonly Pod[]) => void,
): (pods: readonly Pod[]) => void {
  let isKnown = !registers;
  let waiting: readonly Pod[] | undefined;
  const unsubscribe = node.subscribe('API source', (object) => {
    if (object === undefined || isKnown) return;
    isKnown = true;
    unsubscribe();
    if (waiting !== undefined) tell(waiting);
    waiting = undefined;
  });
  return (pods) => {
    isKnown ||= node.object() !== undefined;
    if (isKnown) tell(pods);
    else waiting = pods;
  };
}
