/** The pods whose statistics are compared, and answers of a kubelet in a form that two runs have in common: no ids, values or times. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { LabNodeOptions } from '../lab/lab.ts';
import { type PodNode, podNode, runs } from './pod-support.ts';
import { type KubeletClient, kubeletClient } from './streams-support.ts';

export interface StatsNode {
  readonly place: PodNode;
  readonly kubelet: KubeletClient;
}

const IDLE = "trap 'exit 0' TERM; while :; do sleep 1000 & wait $!; done";

/** Each QoS class, two containers, limits, a volume with 100 KiB in it, the host's network. */
export const statsNode = (
  t: TestContext,
  kubelet: 'ours' | 'reference',
  options: StatsNodeOptions = {},
): Promise<StatsNode> => statsNodeOf(t, kubelet, startPods, options);

export interface StatsNodeOptions {
  readonly featureGates?: Readonly<Record<string, boolean>>;
}

/** What pods use is asked of the runtime. */
export const FROM_RUNTIME: StatsNodeOptions = { featureGates: { PodAndContainerStatsFromCRI: true } };

export async function statsNodeOf(
  t: TestContext,
  kubelet: 'ours' | 'reference',
  start: (place: PodNode) => Promise<void>,
  { featureGates = {} }: StatsNodeOptions = {},
): Promise<StatsNode> {
  const config = {
    featureGates,
    volumeStatsAggPeriod: '2s',
    readOnlyPort: 10255,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
  };
  const options: LabNodeOptions = { kubelet, config };
  const place = await podNode(t, options);
  if (kubelet === 'reference') {
    // Its cAdvisor knows containers by name only where it is told the runtime's socket, unless that is the usual one.
    await place.node.kubelet.stop();
    await place.node.kubelet.start({
      flags: [`--containerd=${place.node.containerd.socket}`, '--housekeeping-interval=2s'],
    });
  }
  await start(place);
  return { place, kubelet: kubeletClient(place.node) };
}

async function startPods(place: PodNode): Promise<void> {
  const resources = { limits: { cpu: '200m', memory: '32Mi' }, requests: { cpu: '100m', memory: '16Mi' } };
  const volumeMounts = [{ name: 'v', mountPath: '/v' }];
  const busy = 'dd if=/dev/zero of=/v/x bs=1k count=100; while :; do :; done';
  await place.write('two', {
    volumes: [{ name: 'v', emptyDir: {} }],
    containers: [runs('busy', busy, { resources, volumeMounts }), runs('idle', `echo hello; ${IDLE}`)],
  });
  const guaranteed = { limits: { cpu: '100m', memory: '32Mi' } };
  await place.write('sure', {
    terminationGracePeriodSeconds: 1,
    containers: [runs('c', IDLE, { resources: guaranteed })],
  });
  await place.write('host', { hostNetwork: true, containers: [runs('c', IDLE)] });
  const running = [place.running('two', 'busy'), place.running('two', 'idle')];
  await Promise.all([...running, place.running('sure', 'c'), place.running('host', 'c')]);
}

export async function textOf({ kubelet }: StatsNode, path: string): Promise<string> {
  const answer = await kubelet.request(path);
  assert.equal(answer.status, 200, `${path}: ${answer.text().slice(0, 300)}`);
  return answer.text();
}

export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly isTimed: boolean;
}

export function seriesOf(text: string): readonly Series[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value, time] =
        /^(\w+)(?:\{(.*)\})? (\S+)( \d+)?$/.exec(line) ?? assert.fail(line);
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value), isTimed: time !== undefined };
    });
}

/** Which container, pod or group a series is of. */
const ownerOf = ({ id = '', container, pod, name }: Series['labels']): string => {
  if (container !== undefined && container !== '') return `${pod}/${container}`;
  if (name !== undefined && name !== '') return `${pod}/sandbox`;
  return pod !== undefined && pod !== '' ? pod : id;
};

/** Disks and interfaces are the machine's; of the other labels the values count. */
const OWNER_LABELS = new Set(['container', 'id', 'image', 'name', 'namespace', 'pod']);
const MACHINE_LABELS = new Set([
  'device',
  'interface',
  'boot_id',
  'machine_id',
  'system_uuid',
  'kernelVersion',
  'osVersion',
]);

/** A line for each family: type, label names, whether samples have times, of what there are samples, help. */
export function familyTable(text: string): readonly string[] {
  const all = Map.groupBy(seriesOf(text), ({ name }) => name);
  const heads = text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm);
  return [...heads].map(([, name = '', help, type]) => {
    const series = all.get(name) ?? [];
    const labels = Object.keys(series[0]?.labels ?? {});
    const extras = labels.filter((label) => !OWNER_LABELS.has(label) && !MACHINE_LABELS.has(label));
    const samples = series.map((one) => [ownerOf(one.labels), ...extras.map((label) => one.labels[label])].join(':'));
    const time = series.every(({ isTimed }) => isTimed) ? 'timed' : 'timeless';
    return [name, type, labels.join(','), time, [...new Set(samples)].toSorted().join(' '), help].join('\t');
  });
}

/** Every path of a value with its type; of a list all items, by their name where they have one. */
export function shapeOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) {
    // Interfaces are the machine's.
    const name = path.endsWith('.interfaces') ? () => '' : nameOf;
    return [...new Set(value.flatMap((item) => shapeOf(item, `${path}[${name(item)}]`)))];
  }
  if (typeof value !== 'object' || value === null) return [`${path}: ${typeof value}`];
  return Object.entries(value).flatMap(([name, item]) => shapeOf(item, `${path}.${name}`));
}

const nameOf = (item: { name?: string; podRef?: { name: string } }) => item.podRef?.name ?? item.name ?? '';
