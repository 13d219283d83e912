/** A cluster whose API server writes down what the node asked of it, and the parts under test inside this process. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Clock, createSystemClock } from '../../src/base/clock.ts';
import { createSilentLogger } from '../../src/base/logger.ts';
import { createTestSupervisor } from '../../src/base/supervise-testing.ts';
import { createKube, type Kube } from '../../src/kube/kube.ts';
import { createObjects, type Objects, type ObjectsConfig } from '../../src/objects/objects.ts';
import type { ApiObject } from '../lab/cluster/api.ts';
import type { Cluster, ClusterOptions } from '../lab/cluster/cluster.ts';
import { NODE, type PodCluster, podCluster } from './pods-support.ts';

export const CORE = '/api/v1/namespaces/default';
export const SECRETS = `${CORE}/secrets`;
export const CONFIG_MAPS = `${CORE}/configmaps`;
export const CERTIFICATES = '/apis/certificates.k8s.io/v1beta1';

export interface Asked {
  readonly verb: string;
  readonly stage: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly uri: string;
  readonly code: number;
  readonly client: string;
}

export interface ObjectWorld extends PodCluster {
  /** What the kubelet has asked for so far, in order. */
  asked(): Promise<readonly Asked[]>;
}

export async function objectWorld(t: TestContext, options: ClusterOptions = {}): Promise<ObjectWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'audit-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const [policy, log] = [join(directory, 'policy.yaml'), join(directory, 'audit.log')];
  const rules = [
    { level: 'Metadata', users: [`system:node:${NODE}`], omitStages: ['RequestReceived'] },
    { level: 'None' },
  ];
  await writeFile(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`];
  const more = options.controlPlaneFlags?.['kube-apiserver'] ?? [];
  const world = await podCluster(t, { ...options, controlPlaneFlags: { 'kube-apiserver': [...flags, ...more] } });
  return {
    ...world,
    asked: async () => {
      const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line.endsWith('}'));
      return lines.map((line) => readEntry(JSON.parse(line) as AuditEntry));
    },
  };
}

interface AuditEntry {
  readonly verb: string;
  readonly stage: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly responseStatus?: { readonly code?: number };
  readonly objectRef?: { readonly resource?: string; readonly name?: string; readonly subresource?: string };
}

function readEntry({ verb, stage, requestURI, userAgent = '', responseStatus, objectRef }: AuditEntry): Asked {
  const uri = decodeURIComponent(requestURI);
  return {
    verb,
    stage,
    resource: objectRef?.resource ?? '',
    subresource: objectRef?.subresource ?? '',
    name: objectRef?.name ?? /metadata\.name=([^&]+)/.exec(uri)?.[1] ?? '',
    uri,
    code: responseStatus?.code ?? 0,
    client: userAgent,
  };
}

/** A clock that a test can put forward. */
export interface ShiftedClock extends Clock {
  forward(ms: number): void;
}

export function shiftedClock(): ShiftedClock {
  const real = createSystemClock();
  let shift = 0;
  return {
    now: () => real.now() + shift,
    mono: () => real.mono() + shift,
    sleep: real.sleep,
    forward: (ms) => {
      shift += ms;
    },
  };
}

export const IN_PROCESS = 'objects-under-test';

/** Access as this node, from the test process: the Node authorizer and NodeRestriction are the real ones. */
export async function kubeAsNode(t: TestContext, cluster: Cluster, signal: AbortSignal): Promise<Kube> {
  const kubeconfig = await cluster.kubeconfigFor('objects-test', cluster.nodeCredentials);
  const kube = createKube(
    {
      clock: createSystemClock(),
      supervisor: createTestSupervisor(createSystemClock()),
      log: createSilentLogger(),
      random: Math.random,
      environment: {},
      dial: (host, port) => cluster.node.gate.connect(host, port),
    },
    {
      kubeconfig,
      limit: { perSecond: 100, burst: 100 },
      heartbeatTimeoutMs: 10_000,
      userAgent: IN_PROCESS,
    },
  );
  await kube.start(signal);
  t.after(() => kube.stop?.());
  return kube;
}

export async function objectsAsNode(
  t: TestContext,
  cluster: Cluster,
  more: Partial<ObjectsConfig> & { readonly clock?: Clock } = {},
): Promise<Objects> {
  const { clock = createSystemClock(), ...config } = more;
  const stopping = new AbortController();
  const kube = await kubeAsNode(t, cluster, stopping.signal);
  const objects = createObjects(
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log: createSilentLogger(),
      kube,
      record: () => undefined,
      nodeTtlSeconds: () => undefined,
      nodeUid: () => Promise.reject(new Error('no one asks here')),
      random: () => 0,
      salt: '',
    },
    { nodeName: NODE, strategy: 'Watch', syncMs: 60_000, trustBundles: false, podCertificates: false, ...config },
  );
  await objects.start(stopping.signal);
  t.after(async () => {
    stopping.abort('the test is over');
    await objects.stop?.();
  });
  return objects;
}

export interface ApiEvent {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly involvedObject: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Of an object, in the order in which they happened first. */
export async function eventsOf({ cluster }: PodCluster, name: string): Promise<readonly ApiEvent[]> {
  const query = encodeURIComponent(`involvedObject.name=${name}`);
  const { items } = (await cluster.admin.get(`${CORE}/events?fieldSelector=${query}`)) as {
    items?: readonly ApiObject[];
  };
  const events = (items ?? []) as unknown as readonly ApiEvent[];
  return events.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}
