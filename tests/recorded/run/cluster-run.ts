/**
 * Recorded lives, lived again as they were recorded: as pods of a real cluster, with our kubelet on its node. What is compared is what
 * the API server was told.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pod } from '../../../src/api/pod.ts';
import type { PodStatus } from '../../../src/api/pod-status.ts';
import type { ApiObject } from '../../lab/cluster/api.ts';
import type { Cluster } from '../../lab/cluster/cluster.ts';
import { waitUntilGone } from '../../lab/cluster/wait.ts';
import { type CriProxy, startCriProxy } from '../../lab/cri-proxy.ts';
import { lab } from '../../lab/lab.ts';
import type { RecordedEvent, RecordedLife } from '../lives.ts';
import { recordedImages } from './images.ts';
import { itemsOf } from './items.ts';
import { observePod, type Place } from './observe.ts';
import {
  type LivedLife,
  liveAll,
  makeNodeFiles,
  NODE_NAME,
  RESOLV_CONF,
  type RunOptions,
  recordedPause,
  untilAsFar,
  untilGone,
} from './run.ts';
import { clusterLife, inWorld } from './standalone.ts';
import { recordedTelling, type SeenLife, seenTelling } from './tellings.ts';

const NAMESPACE = 'golden';
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const EVENTS = `/api/v1/namespaces/${NAMESPACE}/events`;

/** What stood beside the pods when they were recorded. */
const BESIDE: readonly (readonly [string, object])[] = [
  ['/api/v1/namespaces', { metadata: { name: NAMESPACE } }],
  [
    `/api/v1/namespaces/${NAMESPACE}/configmaps`,
    {
      metadata: { name: 'settings' },
      data: { color: 'blue', 'app.conf': 'a=1\nb=2\n', 'key-1': 'v1' },
      binaryData: { blob: 'AAEC/w==' },
    },
  ],
  [
    `/api/v1/namespaces/${NAMESPACE}/secrets`,
    { metadata: { name: 'pass' }, stringData: { user: 'ada', word: 's3cret' } },
  ],
  [
    `/api/v1/namespaces/${NAMESPACE}/services`,
    {
      metadata: { name: 'web-front' },
      spec: {
        clusterIP: '10.96.7.7',
        selector: { app: 'web' },
        ports: [
          { name: 'http', port: 80 },
          { name: 'admin', port: 8443 },
        ],
      },
    },
  ],
  [
    '/apis/node.k8s.io/v1/runtimeclasses',
    { metadata: { name: 'plain' }, handler: 'runc', overhead: { podFixed: { cpu: '10m', memory: '8Mi' } } },
  ],
  ['/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'higher' }, value: 1000 }],
];

export async function liveInCluster(
  lives: readonly RecordedLife[],
  options: RunOptions = {},
): Promise<readonly LivedLife[]> {
  await using cluster = await startCluster(options);
  const { node } = cluster;
  await using proxy = await startCriProxy(node.runtimeSocket);
  await startKubelet(cluster, proxy, options);
  return await liveAll(lives, node, options, async (place, life) => {
    const seen = { ...(await liveOne(cluster, place, life)), calls: proxy.calls() };
    return itemsOf(recordedTelling(life, clusterLife), seenTelling(life, seen, node));
  });
}

async function startCluster({ test }: RunOptions): Promise<Cluster> {
  return await lab.cluster({
    ...(test === undefined ? {} : { test }),
    kubelet: 'none',
    nodeName: NODE_NAME,
    images: await recordedImages(process.env),
  });
}

async function startKubelet(cluster: Cluster, proxy: CriProxy, { binary }: RunOptions): Promise<void> {
  const { node } = cluster;
  const resolvConf = join(node.world.directory, 'recorded-resolv.conf');
  await writeFile(resolvConf, RESOLV_CONF);
  await makeNodeFiles(node);
  const settings = cluster.kubeletSettings;
  const config = { ...settings.config, resolvConf, containerRuntimeEndpoint: proxy.endpoint };
  await node.kubelet.start({ ...settings, config, ...(binary === undefined ? {} : { binary }) });
  await cluster.waitUntilNodeReady();
  for (const [path, object] of BESIDE) await cluster.admin.create(path, object);
  await untilThere(cluster, `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`);
  await untilThere(cluster, `/api/v1/namespaces/${NAMESPACE}/configmaps/kube-root-ca.crt`);
}

async function untilThere({ admin }: Cluster, path: string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if ((await admin.request(path)).status === 200) return;
    await delay(100);
  }
  throw new Error(`${path} was never made`);
}

async function liveOne(cluster: Cluster, place: Place, life: RecordedLife): Promise<Omit<SeenLife, 'calls'>> {
  const { admin, node } = cluster;
  const { name, labels, annotations } = life.pod.metadata;
  const { spec } = life.pod;
  const object = inWorld({ metadata: { name, labels, annotations }, spec }, node.world.directory);
  const watching = new AbortController();
  const { metadata: now } = await admin.get(PODS);
  const watch = watchStatuses(cluster, { name, from: now?.resourceVersion ?? '' }, watching.signal);
  const created = (await admin.create(PODS, object)) as unknown as Pod;
  const { uid } = created.metadata;
  await delay(recordedPause(life));
  await untilAsFar(life, async () => ({ events: await readEvents(cluster, uid), statuses: watch.statuses }));
  const logs = `${NAMESPACE}_${name}_${uid}`;
  const observed = await observePod(place, { uid, logs });
  const untilEnd = watch.statuses.length;
  await admin.request(`${PODS}/${name}`, { method: 'DELETE' });
  await waitUntilGone(admin, PODS, name);
  await watch.gone;
  watching.abort();
  await untilGone(place, life.name, { uid, logs });
  return { uid, statuses: watch.statuses, untilEnd, events: await readEvents(cluster, uid), observed };
}

/** Every status that the kubelet has told of the pod since a version of the list of pods. */
function watchStatuses({ admin }: Cluster, pod: { readonly name: string; readonly from: string }, signal: AbortSignal) {
  const statuses: PodStatus[] = [];
  let before = '';
  const gone = (async () => {
    const query = `fieldSelector=metadata.name%3D${pod.name}&resourceVersion=${pod.from}`;
    for await (const { type, object } of admin.watch(`${PODS}?${query}`, signal)) {
      const { status = {} } = object as unknown as Pod;
      const text = JSON.stringify(status);
      // The first one is the API server's own, before the kubelet had seen the pod.
      if (type !== 'ADDED' && text !== before) statuses.push(status);
      before = text;
      if (type === 'DELETED') return;
    }
  })();
  return { statuses, gone };
}

async function readEvents({ admin }: Cluster, uid: string): Promise<readonly RecordedEvent[]> {
  const { items = [] } = (await admin.get(`${EVENTS}?fieldSelector=involvedObject.uid%3D${uid}`)) as {
    items?: readonly ApiObject[];
  };
  const told = items.filter(({ source }) => (source as { component?: string }).component === 'kubelet');
  // Names end with the time of the first occurrence, finer than the object's own.
  const time = ({ metadata }: ApiObject) => Number.parseInt(String(metadata?.name).split('.').at(-1) ?? '', 16);
  return told
    .toSorted((a, b) => time(a) - time(b))
    .map(({ type, reason, message, involvedObject, count }) => {
      const { fieldPath } = involvedObject as { fieldPath?: string };
      return {
        type: type === 'Warning' ? 'Warning' : 'Normal',
        reason: String(reason),
        message: String(message),
        ...(fieldPath === undefined ? {} : { fieldPath }),
        count: Number(count),
      };
    });
}
