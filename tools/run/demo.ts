/** The node that `make run` shows: made step by step, described in a few lines, and removed again. */
import { existsSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { createSystemClock } from '../../src/base/clock.ts';
import { withDeadline } from '../../src/base/signal.ts';
import { isCode } from '../machine/cgroup-trees.ts';
import { DEBIAN_RUNTIME, DEBIAN_RUNTIME_PACKAGES } from '../machine/containerd.ts';
import { IMAGE_PACKAGES, pauseImage } from '../machine/images.ts';
import { readWorlds, sweep, type WorldPlace } from '../machine/ledger.ts';
import { createNode, type NodeWorld } from '../machine/node.ts';
import { makeImage } from '../machine/oci/image.ts';
import { ensurePackages } from '../machine/packages.ts';
import { WORLD_PACKAGES } from '../machine/world.ts';
import { DEMO_IMAGE, DEMO_POD, DEMO_PORT, demoImage, untilServed, writeDemoPod } from './demo-pod.ts';
import { type Forward, forwardPort } from './forward.ts';
import type { Steps } from './steps.ts';

export interface DemoOptions {
  readonly place: WorldPlace;
  readonly kubelet: string;
  /** It is this project's. */
  readonly isOurs: boolean;
  readonly cacheDirectory: string;
  readonly steps: Steps;
  /** Aborted by Ctrl-C: what is half made is removed too. */
  readonly signal: AbortSignal;
}

export interface Demo {
  readonly node: NodeWorld;
  readonly forwards: readonly Forward[];
  stop(): Promise<void>;
}

const HEALTHZ_PORT = 10248;
const SERVER_PORT = 10250;
const LOCAL_API_PORT = 10260;
const PAGE_PORT = 4194;
const NODE_ID = 'node';
const POD_PATIENCE_MS = 30_000;

export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { place, steps, signal } = options;
  steps.begin('Debian packages: containerd, runc, network plugins, image contents');
  const kubectl = options.isOurs && !isInPath('kubectl') ? ['kubernetes-client'] : [];
  const packages = [...WORLD_PACKAGES, ...DEBIAN_RUNTIME_PACKAGES, ...IMAGE_PACKAGES, ...kubectl];
  await ensurePackages(packages, (line) => steps.line(line), { signal });
  await sweep(place);
  await refuseSecond(place);
  signal.throwIfAborted();
  const removePlace = async () => {
    await removeIfEmpty(place.root);
    await removeIfEmpty(dirname(place.root));
  };
  const node = await makeNode(options).catch(async (error: unknown) => {
    await removePlace();
    throw error;
  });
  const forwards: Forward[] = [];
  const stop = async () => {
    for (const forward of forwards) forward.close();
    if (node.kubelet.isRunning()) await node.kubelet.stop();
    await node.destroy();
    await removePlace();
  };
  try {
    await furnish(node, forwards, options);
    steps.done();
  } catch (error) {
    await stop();
    throw error;
  }
  return { node, forwards, stop };
}

/** No one is let in without the token that the kubelet makes, as on a node that was just installed. The reference makes none. */
const CLOSED = { authentication: { webhook: { enabled: false } }, readOnlyPort: 0 };

/** The node is driven with kubectl. */
const LOCAL_API = { KUBELET_TS_LOCAL_API: 'true' };

const isInPath = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((directory) => existsSync(join(directory, program)));

async function makeNode({ place, cacheDirectory, kubelet, isOurs, steps }: DemoOptions): Promise<NodeWorld> {
  return await createNode({
    place,
    id: NODE_ID,
    runtime: DEBIAN_RUNTIME,
    images: [makeImage(await pauseImage()), await demoImage()],
    cacheDirectory,
    nodeName: 'demo',
    kubelet: { binary: kubelet, ...(isOurs && { config: CLOSED, env: LOCAL_API }) },
    progress: (step) => steps.begin(step),
  });
}

async function furnish(node: NodeWorld, forwards: Forward[], { steps, signal, isOurs }: DemoOptions): Promise<void> {
  signal.throwIfAborted();
  steps.begin('kubelet');
  const manifest = await writeDemoPod(node);
  await node.kubelet.start();
  const health = await forwardPort(node.gate, { host: '127.0.0.1', port: HEALTHZ_PORT }, HEALTHZ_PORT);
  forwards.push(health);
  const rows: [string, string][] = [
    ['health', `curl http://127.0.0.1:${health.port}/healthz?verbose`],
    ...(isOurs ? await showOurs(node, forwards) : []),
    ['containers', `ctr --address ${node.containerd.socket} --namespace k8s.io containers ls`],
    ['configuration', node.kubelet.configFile],
    ['static pods', manifest],
    ['logs', `tail -f ${node.kubelet.logFile}`],
    ['inside', `${node.world.enterCommand(['bash'])}`],
  ];
  steps.begin(`pod ${DEMO_POD}`);
  const ip = await podAddress(node, signal);
  if (ip !== undefined) {
    const web = await forwardPort(node.gate, { host: ip, port: DEMO_PORT }, DEMO_PORT);
    forwards.push(web);
    rows.unshift(['web page', `curl http://127.0.0.1:${web.port}/`]);
  }
  steps.line();
  steps.line(
    `A node runs below ${node.world.directory}: kubelet ${node.kubelet.pid}, containerd ${node.containerd.pid}.`,
  );
  for (const [what, how] of rows) steps.line(`  ${what.padEnd(14)} ${how}`);
  steps.line(
    ip === undefined
      ? `Pod ${DEMO_POD} is not up after ${POD_PATIENCE_MS / 1000} s: the kubelet's log says why.`
      : `Pod ${DEMO_POD} runs with address ${ip} in a network of its own.`,
  );
}

/** What the reference has not, or not without a control plane. */
const showOurs = async (node: NodeWorld, forwards: Forward[]): Promise<[string, string][]> => [
  ...(await showKubectl(node, forwards)),
  ...(await showPage(node, forwards)),
  ...(await showServer(node, forwards)),
];

/** The node in a browser. */
async function showPage(node: NodeWorld, forwards: Forward[]): Promise<[string, string][]> {
  const page = await forwardPort(node.gate, { host: '127.0.0.1', port: PAGE_PORT }, PAGE_PORT);
  forwards.push(page);
  const token = join(node.kubeletDirectory, 'local-api', 'administrator.token');
  return [
    ['in a browser', `http://127.0.0.1:${page.port}/`],
    ['with shells', `echo "http://127.0.0.1:${page.port}/#token=$(cat ${token})"`],
  ];
}

/** The lines that matter: how a person looks at pods, and starts one. */
async function showKubectl(node: NodeWorld, forwards: Forward[]): Promise<[string, string][]> {
  const api = await forwardPort(node.gate, { host: '127.0.0.1', port: LOCAL_API_PORT }, LOCAL_API_PORT);
  forwards.push(api);
  const kubeconfig = join(node.kubeletDirectory, 'local-api', 'kubeconfig');
  const elsewhere = api.port === LOCAL_API_PORT ? '' : ` --server=https://127.0.0.1:${api.port}`;
  const kubectl = `kubectl --kubeconfig=${kubeconfig}${elsewhere}`;
  return [
    ['kubectl', `${kubectl} get pods`],
    ['another pod', `${kubectl} run mine --image=${DEMO_IMAGE} --command -- sleep 1000`],
    ['your own', `${kubectl} apply -f pod.yaml`],
  ];
}

/** The kubelet's own API, for those who can read its token. */
async function showServer(node: NodeWorld, forwards: Forward[]): Promise<[string, string][]> {
  const server = await forwardPort(node.gate, { host: '127.0.0.1', port: SERVER_PORT }, SERVER_PORT);
  forwards.push(server);
  const token = `$(cat ${join(node.kubeletDirectory, 'server-token')})`;
  return [
    ['pods', `curl -k -H "Authorization: Bearer ${token}" https://127.0.0.1:${server.port}/pods`],
    ['more', `the same with /metrics, /configz, /containerLogs/default/${DEMO_POD}-demo/web?follow=true`],
  ];
}

/** Undefined where the pod does not come up in time: such a node stays, so that it can be examined. */
async function podAddress(node: NodeWorld, signal: AbortSignal): Promise<string | undefined> {
  using patience = withDeadline(createSystemClock(), POD_PATIENCE_MS, `pod ${DEMO_POD}`, signal);
  try {
    return await untilServed(node, patience.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (patience.signal.aborted) return undefined;
    throw error;
  }
}

async function refuseSecond(place: WorldPlace): Promise<void> {
  const other = (await readWorlds(place)).find((world) => world.alive);
  if (other !== undefined) {
    throw new Error(
      `another \`make run\` (process ${other.owner?.pid}) has its node running; stop it with Ctrl-C first`,
    );
  }
}

async function removeIfEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch((error: unknown) => {
    if (!isCode(error, 'ENOTEMPTY', 'ENOENT')) throw error;
  });
}
