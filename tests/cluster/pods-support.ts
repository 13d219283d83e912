/** Pods of a lab cluster under our kubelet: made, waited for, and what the kubelet asked of the API server for them. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Pod } from '../../src/api/pod.ts';
import type { ApiObject } from '../lab/cluster/api.ts';
import type { Cluster, ClusterOptions } from '../lab/cluster/cluster.ts';
import { waitForObject, waitUntilGone } from '../lab/cluster/wait.ts';
import { lab } from '../lab/lab.ts';
import { BUSYBOX, until } from '../node/pod-support.ts';

export const NODE = 'node-1';
export const PODS = '/api/v1/namespaces/default/pods';

/** What every pod of these tests says; who needs a token says otherwise. */
export const PLAIN = { automountServiceAccountToken: false, terminationGracePeriodSeconds: 5 };

/** The last word of a container before it waits: from now on it ends when it is told to, and not only when it is killed. */
const LISTENS = 'listens';

/** A container that stays until it is told to go, and does nothing meanwhile: a hundred of them must not load the machine. */
export function stays(name: string, more: object = {}) {
  const script = `trap 'exit 0' TERM; echo ${LISTENS}; while true; do sleep 1000 & wait $!; done`;
  return { name, image: BUSYBOX, command: ['sh', '-c', script], ...more };
}

export interface PodCluster {
  readonly cluster: Cluster;
  create(name: string, spec?: object, metadata?: object): Promise<Pod>;
  get(name: string): Promise<Pod>;
  delete(name: string, body?: object): Promise<void>;
  /** Waits until the pod is so. */
  become(name: string, what: string, is: (pod: Pod) => boolean, timeoutMs?: number): Promise<Pod>;
  ready(name: string, timeoutMs?: number): Promise<Pod>;
  /** Ready, and its container `main` handles SIGTERM: it will end with 0, and not be killed. */
  listens(name: string): Promise<Pod>;
  gone(name: string, timeoutMs?: number): Promise<void>;
  list(selector?: string): Promise<readonly Pod[]>;
  /** Every version of the pods of the default namespace from now on. */
  record(): Recording;
  /**
   * What the kubelet has asked for about this pod, as `verb subresource`, in order. A request is written down after it was answered, and
   * so perhaps after others have seen what came of it: with `last`, such a one is waited for.
   */
  requestsOf(name: string, last?: string): Promise<readonly string[]>;
  /** When the API server received the kubelet's requests about this pod, wall clock, ms. */
  requestTimes(name: string): Promise<readonly number[]>;
}

export interface Recording {
  readonly versions: readonly { readonly type: string; readonly pod: Pod; readonly at: number }[];
  of(name: string): readonly Pod[];
  stop(): void;
}

export async function podCluster(t: TestContext, options: ClusterOptions = {}): Promise<PodCluster> {
  const audit = await createAudit(t);
  const cluster = await lab.cluster({
    test: t,
    nodeName: NODE,
    ...options,
    flags: ['-v=2', ...(options.flags ?? [])],
    controlPlaneFlags: { 'kube-apiserver': audit.flags, ...options.controlPlaneFlags },
  });
  const { admin } = cluster;
  const become: PodCluster['become'] = async (name, what, is, timeoutMs) => {
    const wanted = { collection: PODS, name, what, ...(timeoutMs !== undefined && { timeoutMs }) };
    return (await waitForObject(admin, wanted, (object) => is(podIn(object)))) as unknown as Pod;
  };
  return {
    cluster,
    become,
    create: async (name, spec = {}, metadata = {}) =>
      podIn(
        await admin.create(PODS, {
          metadata: { name, ...metadata },
          spec: { ...PLAIN, containers: [stays('main')], ...spec },
        }),
      ),
    get: async (name) => podIn(await admin.get(`${PODS}/${name}`)),
    delete: async (name, body = {}) => {
      const answer = await admin.request(`${PODS}/${name}`, { method: 'DELETE', body });
      assert.equal(answer.status, 200, answer.text);
    },
    ready: (name, timeoutMs) => become(name, 'Ready', isReady, timeoutMs),
    listens: async (name) => {
      const pod = await become(name, 'Ready', isReady);
      const log = join(cluster.node.podLogsDirectory, `default_${name}_${pod.metadata.uid}`, 'main', '0.log');
      const isSaid = () => readFile(log, 'utf8').then((text) => text.includes(LISTENS));
      await eventually(`${name} handles signals`, () => isSaid().catch(() => false));
      return pod;
    },
    gone: (name, timeoutMs) => waitUntilGone(admin, PODS, name, timeoutMs),
    list: async (selector = '') => {
      const query = selector === '' ? '' : `?labelSelector=${encodeURIComponent(selector)}`;
      const { items } = (await admin.get(`${PODS}${query}`)) as { items?: readonly ApiObject[] };
      return (items ?? []).map(podIn);
    },
    record: () => record(cluster),
    requestsOf: async (name, last) => {
      const read = async () =>
        (await audit.entriesOf(name)).map(({ verb, objectRef }) =>
          [verb, objectRef?.subresource].filter(Boolean).join(' '),
        );
      // On a slow machine a status that was on its way may arrive after the request that ends the pod.
      if (last !== undefined) await eventually(`${last} of ${name}`, async () => (await read()).includes(last));
      return await read();
    },
    requestTimes: async (name) =>
      (await audit.entriesOf(name)).map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp)),
  };
}

/** The API server writes down who asked for what. */
async function createAudit(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'audit-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const policy = join(directory, 'policy.yaml');
  const log = join(directory, 'audit.log');
  const rules = [
    { level: 'Metadata', users: [`system:node:${NODE}`], omitStages: ['RequestReceived'] },
    { level: 'None' },
  ];
  await writeFile(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  return {
    flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`],
    entriesOf: async (name: string): Promise<readonly AuditEntry[]> => {
      const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line.endsWith('}'));
      const entries = lines.map((line) => JSON.parse(line) as AuditEntry);
      return entries.filter(({ objectRef }) => objectRef?.resource === 'pods' && objectRef.name === name);
    },
  };
}

interface AuditEntry {
  readonly verb: string;
  readonly requestReceivedTimestamp: string;
  readonly objectRef?: { readonly resource?: string; readonly name?: string; readonly subresource?: string };
}

function record(cluster: Cluster): Recording {
  const versions: { type: string; pod: Pod; at: number }[] = [];
  const stop = new AbortController();
  void (async () => {
    for await (const { type, object } of cluster.admin.watch(PODS, stop.signal)) {
      versions.push({ type, pod: podIn(object), at: performance.now() });
    }
  })().catch(() => undefined); // stopped, or the API server ended
  return {
    versions,
    of: (name) => versions.filter(({ pod }) => pod.metadata.name === name).map(({ pod }) => pod),
    stop: () => stop.abort(),
  };
}

export const podIn = (object: ApiObject): Pod => object as unknown as Pod;

export const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((one) => one.type === type);

export const isReady = (pod: Pod): boolean => conditionOf(pod, 'Ready')?.status === 'True';

export const phaseIs =
  (phase: string) =>
  (pod: Pod): boolean =>
    pod.status?.phase === phase;

export const containerIds = (pod: Pod): readonly (string | undefined)[] =>
  (pod.status?.containerStatuses ?? []).map(({ containerID }) => containerID);

export const restarts = (pod: Pod): number =>
  (pod.status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);

/** A deployment, a job and so on: what differs is said, the rest is the same. */
export const template = (app: string, spec: object = {}) => ({
  metadata: { labels: { app } },
  spec: { ...PLAIN, containers: [stays('main')], ...spec },
});

export async function eventually(
  what: string,
  is: () => Promise<boolean> | boolean,
  timeoutMs = 180_000,
): Promise<void> {
  await until(what, async () => ((await is()) ? true : undefined), timeoutMs);
}
