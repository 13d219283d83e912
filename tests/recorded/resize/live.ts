/** Lives the resizes of `scenarios.ts` in a real cluster under one kubelet, and writes down all that can be seen of them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pod } from '../../../src/api/pod.ts';
import type { PodStatus } from '../../../src/api/pod-status.ts';
import { parseQuantity, quantityMilliValue } from '../../../src/api/quantity.ts';
import { createSystemClock } from '../../../src/base/clock.ts';
import { type CriClient, createCriClient } from '../../../src/runtime/cri/client.ts';
import { isReady, PLAIN, stays } from '../../cluster/pods-support.ts';
import type { ApiObject } from '../../lab/cluster/api.ts';
import type { Cluster } from '../../lab/cluster/cluster.ts';
import { waitForObject, waitUntilGone } from '../../lab/cluster/wait.ts';
import { type CriProxy, startCriProxy } from '../../lab/cri-proxy.ts';
import { lab } from '../../lab/lab.ts';
import { inRuntime, type Place, readCgroups } from '../run/observe.ts';
import { type RuntimeCall, seenCalls } from '../run/requests.ts';
import type { Scenario, Settled, Step } from './scenarios.ts';

const PODS = '/api/v1/namespaces/default/pods';
const EVENTS = '/api/v1/namespaces/default/events';
const CALLS = ['UpdateContainerResources', 'UpdatePodSandboxResources', 'StopContainer', 'CreateContainer'];
const STATE_FILES = ['allocated_pods_state', 'actuated_pods_state'];
const CGROUP_FILES = ['cpu.shares', 'cpu.cfs_quota_us', 'cpu.cfs_period_us', 'memory.limit_in_bytes'];
const FILL = 'fill';
const REST_MS = 1000;

export interface LivedStep {
  /** With the limits that are given, in order. */
  readonly calls: readonly string[];
  /** Of the pod and its containers: shares, quota, period, memory. */
  readonly cgroups: Readonly<Record<string, string>>;
  /** Each once, in the order in which they came. */
  readonly conditions: readonly string[];
  /** The last status, as far as a resize shows in it. */
  readonly status: LivedStatus;
  readonly events: readonly string[];
  /** What the two records have of the pod. */
  readonly files: Readonly<Record<string, unknown>>;
}

export interface LivedStatus {
  readonly pod: { readonly resources?: object; readonly allocatedResources?: object };
  readonly containers: Readonly<Record<string, unknown>>;
}

export interface LivedScenario {
  readonly name: string;
  readonly steps: readonly LivedStep[];
}

export interface LiveOptions {
  readonly binary?: string;
  readonly test?: TestContext;
  readonly onScenario?: (name: string) => void;
}

export interface Lived {
  readonly scenarios: readonly LivedScenario[];
  /** The metrics about resizes, after all of them. */
  readonly metrics: readonly string[];
}

export async function liveResizes(scenarios: readonly Scenario[], options: LiveOptions): Promise<Lived> {
  const { test, binary, onScenario } = options;
  await using cluster = await lab.cluster({ ...(test && { test }), kubelet: 'none', nodeName: 'node-1' });
  const { node } = cluster;
  await using proxy = await startCriProxy(node.runtimeSocket);
  const settings = cluster.kubeletSettings;
  // A resize that failed is tried again when the pod is synced next.
  const config = { ...settings.config, containerRuntimeEndpoint: proxy.endpoint, syncFrequency: '3s' };
  await node.kubelet.start({ ...settings, config, ...(binary && { binary }) });
  await cluster.waitUntilNodeReady();
  const cri = createCriClient({ endpoint: node.containerd.endpoint, clock: createSystemClock() });
  try {
    const lived: LivedScenario[] = [];
    const world = { cluster, proxy, cri };
    for (const scenario of scenarios) {
      onScenario?.(scenario.name);
      lived.push(await live(world, scenario));
    }
    return { scenarios: lived, metrics: await readMetrics(cluster) };
  } finally {
    await cri.close();
  }
}

interface World {
  readonly cluster: Cluster;
  readonly proxy: CriProxy;
  readonly cri: CriClient;
}

async function live(world: World, scenario: Scenario): Promise<LivedScenario> {
  const { admin } = world.cluster;
  const { name } = scenario;
  const created = await createPod(world, name, scenario.spec);
  const { uid } = created.metadata;
  if (scenario.early !== true) await become(world, name, isReady, 'Ready');
  for (const [beside, { leave }] of Object.entries(scenario.beside ?? {}) as [string, { leave: number }][]) {
    const cpu = `${(await freeCpu(world)) - leave}m`;
    await createPod(world, beside, { containers: [stays(FILL, { resources: { requests: { cpu } } })] });
    await become(world, beside, isReady, 'Ready');
  }
  if (scenario.early === true) await become(world, name, hasBegun, 'begun');
  const watching = new AbortController();
  const statuses = watchStatuses(world, name, watching.signal);
  const steps: LivedStep[] = [];
  for (const step of scenario.steps) steps.push(await liveStep(world, { name, uid, statuses }, step));
  watching.abort();
  for (const pod of [name, ...Object.keys(scenario.beside ?? {})]) {
    await admin.request(`${PODS}/${pod}`, { method: 'DELETE', body: { gracePeriodSeconds: 1 } });
    await waitUntilGone(admin, PODS, pod);
  }
  return { name, steps };
}

interface LivedPod {
  readonly name: string;
  readonly uid: string;
  readonly statuses: readonly PodStatus[];
}

async function liveStep(world: World, { name, uid, statuses }: LivedPod, step: Step): Promise<LivedStep> {
  const { cluster, proxy, cri } = world;
  const before = { calls: ownCalls(proxy, uid).length, statuses: statuses.length, events: await eventsOf(world, uid) };
  await take(world, name, step);
  await become(world, name, isSettled(step.until), step.until);
  // What comes with it: the event, the file, a call that is repeated.
  await delay(REST_MS);
  const place: Place = { node: cluster.node, cri, signal: new AbortController().signal };
  const made = await inRuntime(place, uid);
  const names = new Map(made.containers.map(({ id, metadata }) => [id, metadata?.name ?? '']));
  const cgroups = (await readCgroups(cluster.node, uid, made)) ?? {};
  const calls = ownCalls(proxy, uid);
  for (const { call, request, made: id } of calls) {
    const config = request['config'] as { metadata?: { name: string } } | undefined;
    if (call === 'CreateContainer' && id !== undefined) names.set(id, config?.metadata?.name ?? '');
  }
  return {
    calls: calls.slice(before.calls).map((call) => describeCall(call, names)),
    cgroups: Object.fromEntries(
      Object.entries(cgroups)
        .filter(([group]) => group !== 'sandbox')
        .map(([group, values]) => [group, CGROUP_FILES.map((file) => values[file]).join(' ')]),
    ),
    conditions: [...new Set(statuses.slice(before.statuses).flatMap(conditionsOf))],
    status: describeStatus(statuses.at(-1) ?? {}),
    events: (await eventsOf(world, uid)).slice(before.events.length),
    files: await readFiles(cluster, uid),
  };
}

async function take({ cluster: { admin, kubectl } }: World, name: string, step: Step): Promise<void> {
  if (step.run !== undefined) return void (await kubectl('exec', name, '--', 'sh', '-c', step.run));
  if (step.remove !== undefined) {
    await admin.request(`${PODS}/${step.remove}`, { method: 'DELETE', body: { gracePeriodSeconds: 1 } });
    return;
  }
  const contentType = 'application/strategic-merge-patch+json';
  const answer = await admin.request(`${PODS}/${name}/resize`, {
    method: 'PATCH',
    body: { spec: step.resize ?? {} },
    contentType,
  });
  if (answer.status !== 200) throw new Error(`resize of ${name}: ${answer.text}`);
}

async function createPod({ cluster: { admin } }: World, name: string, spec: object): Promise<Pod> {
  return (await admin.create(PODS, { metadata: { name }, spec: { ...PLAIN, ...spec } })) as unknown as Pod;
}

async function become({ cluster: { admin } }: World, name: string, is: (pod: Pod) => boolean, what: string) {
  const wanted = { collection: PODS, name, what, timeoutMs: 240_000 };
  return (await waitForObject(admin, wanted, (object) => is(object as unknown as Pod))) as unknown as Pod;
}

/** Its first container runs, or says why not. */
const hasBegun = ({ status }: Pod): boolean => {
  const [first] = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return first?.state.running !== undefined || /Image/.test(first?.state.waiting?.reason ?? '');
};

const condition = (pod: Pod, type: string) => pod.status?.conditions?.find((one) => one.type === type);

const isSettled =
  (until: Settled) =>
  (pod: Pod): boolean => {
    const pending = condition(pod, 'PodResizePending');
    const inProgress = condition(pod, 'PodResizeInProgress');
    if (pod.status?.observedGeneration !== pod.metadata.generation) return false;
    if (until === 'deferred') return pending?.observedGeneration === pod.metadata.generation;
    if (until === 'error') return inProgress?.reason === 'Error';
    if (pending !== undefined || inProgress !== undefined) return false;
    return until !== 'completed' || hasGotAll(pod);
  };

/** The status shows what the spec asks for. */
function hasGotAll({ spec, status }: Pod): boolean {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return [...(spec.initContainers ?? []), ...spec.containers].every(({ name, resources }) => {
    const own = statuses.find((one) => one.name === name);
    if (own?.state.running === undefined) return own?.state.waiting !== undefined;
    return JSON.stringify(own.allocatedResources) === JSON.stringify(resources?.requests);
  });
}

async function freeCpu({ cluster: { admin } }: World): Promise<number> {
  const { status } = (await admin.get('/api/v1/nodes/node-1')) as { status?: { allocatable?: { cpu: string } } };
  const { items = [] } = (await admin.get(PODS)) as { items?: readonly Pod[] };
  const requested = items.flatMap(({ spec }) => spec.containers.map((one) => milli(one.resources?.requests?.['cpu'])));
  return requested.reduce((left, one) => left - one, milli(status?.allocatable?.cpu));
}

function milli(text = '0'): number {
  const quantity = parseQuantity(text);
  return quantity.ok ? Number(quantityMilliValue(quantity.value)) : 0;
}

function watchStatuses({ cluster: { admin } }: World, name: string, signal: AbortSignal): readonly PodStatus[] {
  const statuses: PodStatus[] = [];
  void (async () => {
    for await (const { object } of admin.watch(`${PODS}?fieldSelector=metadata.name%3D${name}`, signal)) {
      statuses.push((object as unknown as Pod).status ?? {});
    }
  })().catch(() => undefined); // stopped
  return statuses;
}

function conditionsOf({ conditions = [] }: PodStatus): readonly string[] {
  return conditions
    .filter(({ type }) => type.startsWith('PodResize'))
    .map(({ type, reason = '', message = '', observedGeneration }) =>
      [type, reason, observedGeneration, plainText(message)].join(' | '),
    );
}

function describeStatus({ resources, allocatedResources, ...status }: PodStatus): LivedStatus {
  const own = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return {
    pod: { ...(resources && { resources }), ...(allocatedResources && { allocatedResources }) },
    containers: Object.fromEntries(
      own.map(({ name, restartCount, ...one }) => [
        name,
        { restartCount, resources: one.resources, allocatedResources: one.allocatedResources },
      ]),
    ),
  };
}

const ownCalls = (proxy: CriProxy, uid: string): readonly RuntimeCall[] =>
  seenCalls(proxy.calls(), uid).filter(({ call }) => CALLS.includes(call));

type Fields = Readonly<Record<string, unknown>>;

function describeCall({ call, request }: RuntimeCall, names: ReadonlyMap<string, string>): string {
  const config = request['config'] as { metadata?: { name: string }; linux?: Fields } | undefined;
  const container = config?.metadata?.name ?? names.get(String(request['containerId'] ?? ''));
  const given = (config?.linux?.['resources'] ?? request['linux'] ?? request['resources']) as Fields | undefined;
  const limits = ['cpuShares', 'cpuQuota', 'memoryLimitInBytes', 'oomScoreAdj'].map((name) => String(given?.[name]));
  return [call, ...(container === undefined ? [] : [container]), ...(given === undefined ? [] : limits)].join(' ');
}

async function eventsOf({ cluster: { admin } }: World, uid: string): Promise<readonly string[]> {
  const list = (await admin.get(`${EVENTS}?fieldSelector=involvedObject.uid%3D${uid}`)) as {
    items?: readonly ApiObject[];
  };
  const time = ({ metadata }: ApiObject) => Number.parseInt(String(metadata?.name).split('.').at(-1) ?? '', 16);
  return (list.items ?? [])
    .filter(({ source }) => (source as { component?: string }).component === 'kubelet')
    .filter(({ reason }) => /Resize|Killing/.test(String(reason)))
    .toSorted((a, b) => time(a) - time(b))
    .map(({ type, reason, message }) => [type, reason, plainText(String(message))].join(' | '));
}

/** Numbers that the machine decides. */
function plainText(text: string): string {
  return text
    .replace(/(used|capacity): \d+/g, '$1: N')
    .replace(/current usage \(\d+\)/g, 'current usage (N)')
    .replace(/(attempting to set pod memory limit \()\d+/g, '$1N');
}

async function readFiles({ node }: Cluster, uid: string): Promise<Readonly<Record<string, unknown>>> {
  const entries = STATE_FILES.map(async (file) => {
    const text = await readFile(join(node.kubeletDirectory, file), 'utf8').catch(() => '{"data":"{}"}');
    const { entries = {} } = JSON.parse((JSON.parse(text) as { data: string }).data) as { entries?: Fields };
    return [file, entries[uid] ?? null] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function readMetrics({ kubectl }: Cluster): Promise<readonly string[]> {
  const text = await kubectl('get', '--raw', '/api/v1/nodes/node-1/proxy/metrics');
  return text.split('\n').filter((line) => /^kubelet_.*resize/.test(line) && !/_bucket|_sum/.test(line));
}
