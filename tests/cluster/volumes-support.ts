/** Volumes of pods in a cluster, seen from the node: inside its world, where the mounts are. */
import assert from 'node:assert/strict';
import type { ApiObject } from '../lab/cluster/api.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { waitForObject } from '../lab/cluster/wait.ts';

export const IMAGE = 'lab.local/busybox:1';
const SLEEP = ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1000 & wait $!; done'];

export interface PodRequest {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly volumes?: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[];
  /** More of the container. */
  readonly container?: Readonly<Record<string, unknown>>;
  /** More of the spec. */
  readonly spec?: Readonly<Record<string, unknown>>;
}

export const pods = (namespace = 'default'): string => `/api/v1/namespaces/${namespace}/pods`;

/** Bound to the node as it is made: what the scheduler does is not measured here. */
export function podObject(cluster: Cluster, { name, labels, volumes = [], container, spec }: PodRequest): ApiObject {
  const volumeMounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/volumes/${volume.name}` }));
  return {
    metadata: { name, ...(labels !== undefined && { labels }) },
    spec: {
      nodeName: cluster.node.nodeName,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: IMAGE, command: SLEEP, volumeMounts, ...container }],
      volumes,
      ...spec,
    },
  };
}

export async function createPod(cluster: Cluster, asked: PodRequest): Promise<string> {
  const made = await cluster.admin.create(pods(asked.namespace), podObject(cluster, asked));
  return String(made.metadata?.['uid']);
}

/** Resolves with the UID when it runs. */
export async function runPod(cluster: Cluster, asked: PodRequest): Promise<string> {
  const uid = await createPod(cluster, asked);
  await waitUntilRunning(cluster, asked.name, asked.namespace);
  return uid;
}

export async function waitUntilRunning(cluster: Cluster, name: string, namespace = 'default'): Promise<void> {
  await waitForObject(cluster.admin, { collection: pods(namespace), name, what: 'Running' }, isRunning);
}

export function isRunning(object: ApiObject): boolean {
  return (object.status as { phase?: string } | undefined)?.phase === 'Running';
}

export async function inside(cluster: Cluster, script: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.node.exec(['sh', '-c', script]);
  assert.equal(code, 0, `${script}: ${stderr}`);
  return stdout;
}

export const podDirectory = (uid: string): string => `/var/lib/kubelet/pods/${uid}`;
export const volumeDirectory = (uid: string, plugin: string, name: string): string =>
  `${podDirectory(uid)}/volumes/kubernetes.io~${plugin}/${name}`;

const STAMP = /\.\.\d{4}(_\d\d){5}\.\d+/g;

/** `path kind mode uid:gid target` of everything below the pod's directory, as the recordings have it. */
export async function podTree(cluster: Cluster, uid: string): Promise<readonly string[]> {
  const found = await inside(cluster, `find ${podDirectory(uid)} -printf '%P %y %m %U:%G %l\\n'`);
  return found
    .split('\n')
    .map((line) => line.replaceAll(STAMP, '..STAMP').trim())
    .filter((line) => line !== '')
    .sort();
}

export async function readInside(cluster: Cluster, path: string): Promise<string> {
  return await inside(cluster, `cat '${path}'`);
}

/** Looks every few ms, inside of one process of the world, until the file says so. */
export async function waitForContent(cluster: Cluster, path: string, content: string, seconds = 120): Promise<void> {
  const looks = seconds * 50;
  const script = `i=0; while [ "$(cat '${path}' 2>/dev/null)" != "$1" ]; do i=$((i+1)); [ $i -gt ${looks} ] && exit 9; sleep 0.02; done`;
  const { code } = await cluster.node.exec(['sh', '-c', script, 'sh', content]);
  assert.equal(code, 0, `${path} did not become ${JSON.stringify(content)} within ${seconds} s`);
}

export async function replaceData(
  cluster: Cluster,
  kind: 'configmaps' | 'secrets',
  name: string,
  data: Readonly<Record<string, string>>,
): Promise<void> {
  const body = kind === 'configmaps' ? { data } : { stringData: data };
  const path = `/api/v1/namespaces/default/${kind}/${name}`;
  const answer = await cluster.admin.request(path, {
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    body,
  });
  assert.equal(answer.status, 200, answer.text);
}

const LEFT_WITHIN_MS = 180_000;

/** Waits until the pod has left: no directory, no mount. */
export async function waitUntilLeft(cluster: Cluster, uid: string): Promise<void> {
  const script = `ls -d ${podDirectory(uid)} 2>/dev/null; grep ${uid} /proc/self/mountinfo; true`;
  const deadline = performance.now() + LEFT_WITHIN_MS;
  for (let left = await inside(cluster, script); left !== ''; left = await inside(cluster, script)) {
    assert.ok(performance.now() < deadline, `still there after ${LEFT_WITHIN_MS} ms: ${left}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Messages of the events of one reason about a pod. */
export async function eventsOf(
  cluster: Cluster,
  name: string,
  reason: string,
  namespace = 'default',
): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${namespace}/events?fieldSelector=involvedObject.name%3D${name}%2Creason%3D${reason}`;
  const { items } = (await cluster.admin.get(path)) as { items?: readonly { readonly message: string }[] };
  return (items ?? []).map(({ message }) => message);
}

/** How many reads of config maps the API server has answered, to anybody. */
export async function configMapReads(cluster: Cluster): Promise<number> {
  const { text } = await cluster.admin.request('/metrics');
  const lines = text.split('\n').filter((line) => /^apiserver_request_total\{.*resource="configmaps"/.test(line));
  const reads = lines.filter((line) => /verb="(GET|LIST|WATCH)"/.test(line));
  return reads.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}
