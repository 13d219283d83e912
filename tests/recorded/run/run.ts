/**
 * Recorded lives, lived again: each as a static pod under our kubelet on a real containerd, on a node like the recorded one.
 * A life takes the time that it took then: what is looked at, and when the pod is taken away, are as recorded.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createSystemClock } from '../../../src/base/clock.ts';
import { createCriClient } from '../../../src/runtime/cri/client.ts';
import { type CriProxy, startCriProxy } from '../../lab/cri-proxy.ts';
import { type LabNode, lab } from '../../lab/lab.ts';
import { eventually } from '../../lab/static-pods.ts';
import type { RecordedLife } from '../lives.ts';
import type { Item } from './compare.ts';
import { recordedImages } from './images.ts';
import { itemsOf } from './items.ts';
import { eventsIn, statusesIn } from './kubelet-log.ts';
import { inRuntime, listTree, observePod, type Place } from './observe.ts';
import { isBehind, type Told } from './pace.ts';
import { manifestOf, nodeFilesDirectory } from './standalone.ts';
import { recordedTelling, type SeenLife, seenTelling } from './tellings.ts';

export interface RunOptions {
  readonly test?: TestContext;
  /** Another kubelet than dist/kubelet. */
  readonly binary?: string;
  /** Told of each life when it is over. */
  readonly onLife?: (name: string) => void;
}

export interface LivedLife {
  readonly name: string;
  readonly restartPolicy: string | undefined;
  readonly items: readonly Item[];
}

/** As on the recorded node. */
export const NODE_NAME = 'labnode';
export const RESOLV_CONF = 'nameserver 10.255.255.53\n';
const CONFIG = { clusterDNS: ['10.96.0.10'], clusterDomain: 'cluster.local' };
/** More would take each other's time on two cores: probes and deadlines run by the clock. */
const AT_ONCE = 10;
/** Most lives were looked at after this time and then ended; the longer ones just before their recorded end. */
const USUAL_MS = 12_000;
const LONG_MS = 18_000;
const MORE_MS = 60_000;
const STEP_MS = 200;
/** What follows from the last event or status, such as the end of a cgroup, is soon done. */
const REST_MS = 1000;
const GONE_WITHIN_MS = 180_000;

export async function liveAgain(
  lives: readonly RecordedLife[],
  options: RunOptions = {},
): Promise<readonly LivedLife[]> {
  await using node = await startNode(options);
  await using proxy = await startCriProxy(node.runtimeSocket);
  await startKubelet(node, proxy, options);
  return await liveAll(lives, node, options, async (place, life) => {
    const seen = { ...(await liveOne(place, life)), calls: proxy.calls() };
    return itemsOf(recordedTelling(life), seenTelling(life, seen, node));
  });
}

/** Some at a time, the longest first. */
export async function liveAll(
  lives: readonly RecordedLife[],
  node: LabNode,
  options: RunOptions,
  live: (place: Place, life: RecordedLife) => Promise<LivedLife['items']>,
): Promise<readonly LivedLife[]> {
  const cri = createCriClient({ endpoint: node.containerd.endpoint, clock: createSystemClock() });
  const place: Place = { node, cri, signal: new AbortController().signal };
  const waiting = lives.toSorted((a, b) => b.deleted_at_ms - a.deleted_at_ms);
  const lived: LivedLife[] = [];
  const next = async (): Promise<void> => {
    const life = waiting.shift();
    if (life === undefined) return;
    const items = await live(place, life);
    lived.push({ name: life.name, restartPolicy: life.pod.spec.restartPolicy, items });
    options.onLife?.(life.name);
    await next();
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, next));
  } finally {
    await cri.close();
  }
  return lived.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function startNode({ test }: RunOptions): Promise<LabNode> {
  const images = await recordedImages(process.env);
  const node = await lab.node({
    ...(test === undefined ? {} : { test }),
    kubelet: 'none',
    nodeName: NODE_NAME,
    images,
  });
  await makeNodeFiles(node);
  return node;
}

async function startKubelet(node: LabNode, proxy: CriProxy, { binary }: RunOptions): Promise<void> {
  const resolvConf = join(node.world.directory, 'recorded-resolv.conf');
  await writeFile(resolvConf, RESOLV_CONF);
  const config = { ...CONFIG, resolvConf, containerRuntimeEndpoint: proxy.endpoint };
  await node.kubelet.start({ config, ...(binary === undefined ? {} : { binary }) });
}

/** As on the recorded node, mounts there are no one else's. */
export async function makeNodeFiles(node: LabNode): Promise<void> {
  const script = 'mkdir "$1" && mount --bind "$1" "$1" && mount --make-private "$1"';
  const { code, stderr } = await node.exec(['sh', '-c', script, 'sh', nodeFilesDirectory(node.world.directory)]);
  if (code !== 0) throw new Error(`a private mount in the world: ${stderr}`);
}

async function liveOne(place: Place, life: RecordedLife): Promise<Omit<SeenLife, 'calls'>> {
  const { node } = place;
  const { name, namespace, uid } = life.pod.metadata;
  const path = join(node.manifestsDirectory, `${name}.json`);
  const half = join(node.world.directory, `${name}.half`);
  await writeFile(half, JSON.stringify(manifestOf(life, node.world.directory)));
  await rename(half, path);
  await delay(recordedPause(life));

  const readLog = () => readFile(node.kubelet.logFile, 'utf8');
  const title = `${namespace}/${name}-${node.nodeName}`;
  const told = (log: string): Told => ({ events: eventsIn(log, title), statuses: statusesIn(log, uid) });
  await untilAsFar(life, async () => told(await readLog()));
  const logs = `${namespace}_${name}-${node.nodeName}_${uid}`;
  const observed = await observePod(place, { uid, logs });
  const untilEnd = told(await readLog()).statuses.length;
  await rm(path);
  await untilGone(place, life.name, { uid, logs });
  return { ...told(await readLog()), untilEnd, observed };
}

export const recordedPause = ({ deleted_at_ms }: RecordedLife): number =>
  deleted_at_ms < LONG_MS ? USUAL_MS : deleted_at_ms;

/** Where it never comes as far as the recorded one, because that is meant, this is time lost and nothing else. */
export async function untilAsFar(life: RecordedLife, read: () => Promise<Told>): Promise<void> {
  const deadline = performance.now() + MORE_MS;
  if (!isBehind(life, await read())) return;
  while (isBehind(life, await read()) && performance.now() < deadline) await delay(STEP_MS);
  await delay(REST_MS);
}

/** Nothing of it is left: not in the runtime, no directory, no log. */
export async function untilGone(
  place: Place,
  name: string,
  { uid, logs }: { uid: string; logs: string },
): Promise<void> {
  const { node } = place;
  const isGone = async () => {
    const { containers, sandboxes } = await inRuntime(place, uid);
    const directories = [join(node.kubeletDirectory, 'pods', uid), join(node.podLogsDirectory, logs)];
    const files = (await Promise.all(directories.map(listTree))).flat();
    return containers.length + sandboxes.length + files.length === 0 ? true : undefined;
  };
  await eventually(`${name} is gone`, isGone, GONE_WITHIN_MS);
}
