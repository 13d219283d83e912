/** What ties this kubelet's pods to an API server: the node, statuses, mirror pods, the pods of the API server. A standalone kubelet has none of it. */
import { join } from 'node:path';
import { apiPath, fieldEquals } from '../api/api-path.ts';
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { isStaticPod } from '../api/pod-traits.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Config } from '../config/config.ts';
import type { Kube } from '../kube/kube.ts';
import type { PodUpdate } from '../model/pod-view.ts';
import type { Node } from '../node/node.ts';
import { createAdoption } from '../pods/adoption.ts';
import { createMirrors, type Mirrors } from '../pods/mirrors.ts';
import type { Pods, PodsDeps } from '../pods/pods.ts';
import { createApiSource } from '../sources/apiserver.ts';
import { onceKnown, type PublishPods, passOnTogether } from '../sources/hold-back.ts';
import type { SourcesDeps } from '../sources/sources.ts';
import { createPublisher, type Publisher } from '../status/publisher.ts';
import type { PodStatusChange } from '../status/status.ts';
import type { PartDeps } from './compose.ts';
import { composeNode, type NodeTools } from './node.ts';

export interface ClusterTools extends NodeTools {
  readonly pods: () => Pods;
  /** Called with how long it took from a new status until the API server had it. */
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
  readonly mirrors: Pick<Mirrors, 'count' | 'uidOf'>;
  /** To be called with each status. */
  publish(change: PodStatusChange): void;
  /** To be called with the updates of pods, after their statuses. */
  follow(update: PodUpdate): void;
  /** To be called when nothing of a pod runs any more and its volumes and cgroup are gone. */
  released(uid: PodUid): void;
  /** Resolves when the API server has the last status of each of these pods. */
  readonly untilSent: Publisher['untilSent'];
  /** To be called with the desired pods of the sources, before the workers get them. */
  desire(pods: readonly Pod[], everySourceHeard: boolean): void;
}

export function composeCluster(config: Config, deps: PartDeps, tools: ClusterTools): Cluster {
  const { clock, log, supervisor } = deps;
  const { kube } = tools;
  const node = composeNode(config, deps, tools);
  const shared = { clock, supervisor, client: kube.general, random: Math.random };
  const publisher = createPublisher({ ...shared, log: log.named('status/publisher'), onSynced: tools.onStatusSynced });
  const mirrors = createMirrors({
    ...shared,
    log: log.named('pods/mirrors'),
    pods: { views: () => tools.pods().views(), desired: () => tools.pods().desired() },
    node: () => node.object()?.metadata,
    onMade: publisher.learn,
  });
  const adoption = createAdoption({
    clock,
    log: log.named('pods/adoption'),
    file: join(config.settings.directories.root, 'adopted_static_pods.json'),
    mirrors: mirrors.known,
    onDecided: () => tools.pods().reconsider(),
  });
  node.subscribe('mirror pods', mirrors.look);
  kube.onBack('status publisher', publisher.retry);
  kube.onBack('mirror pods', mirrors.retry);
  return {
    node,
    before: [adoption, publisher],
    after: [mirrors, node],
    identify: adoption.identify,
    mirrors,
    publish: publisher.publish,
    released: publisher.finish,
    untilSent: publisher.untilSent,
    follow: (update) => {
      if (update.kind === 'gone') publisher.finish(update.uid);
      if (isStaticPod(update.kind === 'gone' ? update.pod : update.view.pod)) mirrors.look();
    },
    desire: (desired, everySourceHeard) => {
      if (everySourceHeard) adoption.keepOnly(desired.filter(isStaticPod));
      mirrors.look();
    },
    apiServer: (publish) => composeApiSource(config, deps, { kube, node, mirrors, publisher, publish }),
  };
}

interface ApiSourceTools {
  readonly kube: Kube;
  readonly node: Node;
  readonly mirrors: Mirrors;
  readonly publisher: Publisher;
  readonly publish: PublishPods;
}

function composeApiSource({ kubelet }: Config, { log, supervisor, nodeName }: PartDeps, tools: ApiSourceTools): Part {
  const publish = passOnTogether(supervisor, tools.publish);
  const source = createApiSource({
    log: log.named('sources'),
    supervisor,
    onPods: kubelet.registerNode ? onceKnown(tools.node, publish) : publish,
    onMirrors: tools.mirrors.setMirrors,
    // The publisher first: it then knows what the API server has when the first status comes.
    first: tools.publisher.listener,
  });
  return tools.kube.watch<Pod>({
    path: apiPath`/api/v1/pods`,
    fieldSelector: fieldEquals('spec.nodeName', nodeName),
    listener: source,
  });
}
