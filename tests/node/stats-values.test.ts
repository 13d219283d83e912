/**
 * The same pods under both kubelets, one after the other on one node: every number that either shows of them is within two percent of the other's,
 * and of what the kernel, `df` and `ip` say. The pods do a known piece of work and then wait, so no number depends on when it is read.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type PodNode, runs, until } from './pod-support.ts';
import { type Series, type StatsNode, seriesOf, statsNodeOf, textOf } from './stats-support.ts';

const WAIT = "trap 'exit 0' TERM; while :; do sleep 100000 & wait $!; done";
/** Two megabytes on disk, a part of a second of a processor, some packets, some lines of log. */
const WORK = [
  'dd if=/dev/zero of=/v/x bs=1k count=2000 2>/dev/null',
  'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done',
  'for n in 1 2 3 4 5 6 7 8 9; do nc -w 1 $GATEWAY 9 < /dev/null; seq 100; done',
  'echo worked',
].join('; ');
const PATIENCE_MS = 120_000;
const CLOSE = 0.02;
/** What containerd and the reference measure some time after a start. */
const LATE = [
  'worker-node.volume.v',
  ...['worker-node.containers.works', 'worker-node.containers.waits', 'sure-node.containers.c'].map(
    (container) => `${container}.rootfs`,
  ),
];
const OUR_KUBELET = join(import.meta.dirname, '../../dist/kubelet');

/** With UIDs of their own: each kubelet would give static pods another one. */
async function startPods(place: PodNode): Promise<void> {
  const limits = { cpu: '500m', memory: '64Mi' };
  const resources = { limits, requests: { cpu: '100m', memory: '16Mi' } };
  const volumeMounts = [{ name: 'v', mountPath: '/v' }];
  const work = `GATEWAY=$(ip route | sed -n 's/^default via \\([^ ]*\\).*/\\1/p'); ${WORK}; ${WAIT}`;
  const worker = {
    volumes: [{ name: 'v', emptyDir: {} }],
    containers: [runs('works', work, { resources, volumeMounts }), runs('waits', WAIT)],
  };
  await place.write('worker', worker, { uid: 'aaaaaaaa-0000-4000-8000-000000000001' });
  const sure = { containers: [runs('c', WAIT, { resources: { limits } })] };
  await place.write('sure', sure, { uid: 'aaaaaaaa-0000-4000-8000-000000000002' });
  await Promise.all([place.running('worker', 'works'), place.running('worker', 'waits'), place.running('sure', 'c')]);
}

interface Answers {
  /** By name and labels, or by path. */
  readonly cadvisor: ReadonlyMap<string, number>;
  readonly resource: ReadonlyMap<string, number>;
  readonly summary: ReadonlyMap<string, number>;
  readonly series: readonly Series[];
}

const byKey = (series: readonly Series[]) =>
  new Map(series.map(({ name, labels, value }) => [`${name}${JSON.stringify(labels)}`, value]));

/** Every number, by its path; of lists by the names of their items. */
function numbersOf(value: unknown, path = ''): readonly (readonly [string, number])[] {
  if (typeof value === 'number') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const name = Array.isArray(value) ? (item.podRef?.name ?? item.name ?? key) : key;
    return numbersOf(item, `${path}.${name}`);
  });
}

async function answersOf(node: StatsNode): Promise<Answers> {
  const series = seriesOf(await textOf(node, '/metrics/cadvisor'));
  return {
    series,
    cadvisor: byKey(series),
    resource: byKey(seriesOf(await textOf(node, '/metrics/resource'))),
    summary: new Map(numbersOf(JSON.parse(await textOf(node, '/stats/summary')))),
  };
}

const PAGE = 4096;
const FEW_PAGES = 4 * PAGE;
/**
 * The kernel charges ahead: each CPU may hold 64 pages for a cgroup, and gives them back some time, so that the use of one that only waits falls. Each
 * kubelet's number is compared with the kernel's of its time; the two kubelets may be so far apart for each of the six cgroups with processes.
 */
const CHARGED_AHEAD = 64 * PAGE * availableParallelism() * 6;

const isClose = (a: number, b: number) => Math.abs(a - b) <= CLOSE * Math.max(Math.abs(a), Math.abs(b));

/** What is of the kubelet itself or of the node with all that runs on it, of this moment, or known to be another number in the reference. */
const OTHERWISE: readonly RegExp[] = [
  /"id":"\/(?:kubelet)?"/,
  /^(?:node_|container_last_seen|machine_|resource_scrape_error)/,
  /^\.node\./,
  /usageNanoCores$/,
];

function differences(ours: ReadonlyMap<string, number>, theirs: ReadonlyMap<string, number>): readonly string[] {
  const keys = new Set([...ours.keys(), ...theirs.keys()]);
  return [...keys].flatMap((key) => {
    const [a, b] = [ours.get(key), theirs.get(key)];
    if (a === undefined || b === undefined) return [`${key}: ours ${a}, theirs ${b}`];
    // A network is never quite still: each kubelet's number is compared with the kernel's of its time.
    const hasGrown = /network/.test(key) && a >= b;
    // The kernel gives up a page of cache here and there meanwhile.
    const spare = /memory_(?:usage|working_set)_bytes|memory\.(?:usage|workingSet|available)Bytes/.test(key)
      ? CHARGED_AHEAD
      : FEW_PAGES;
    const isFewPages = /memory/.test(key) && Math.abs(a - b) <= spare;
    const isExpected = isClose(a, b) || hasGrown || isFewPages || OTHERWISE.some((one) => one.test(key));
    return isExpected ? [] : [`${key}: ours ${a}, theirs ${b}`];
  });
}

const allDifferences = (ours: Answers, theirs: Answers): readonly string[] =>
  (['cadvisor', 'resource', 'summary'] as const)
    .flatMap((page) => differences(ours[page], theirs[page]).map((line) => `${page}: ${line}`))
    .filter((line) => !/^summary: \.node\.systemContainers\.kubelet\./.test(line));

/** The files of cgroups with what `/metrics/cadvisor` makes of them. */
const FILES: readonly (readonly [string, string, string, RegExp, number])[] = [
  ['container_cpu_usage_seconds_total', 'cpuacct', 'cpuacct.usage', /^(\d+)$/m, 1e9],
  ['container_cpu_user_seconds_total', 'cpuacct', 'cpuacct.stat', /^user (\d+)$/m, 100],
  ['container_memory_usage_bytes', 'memory', 'memory.usage_in_bytes', /^(\d+)$/m, 1],
  ['container_memory_max_usage_bytes', 'memory', 'memory.max_usage_in_bytes', /^(\d+)$/m, 1],
  ['container_memory_cache', 'memory', 'memory.stat', /^total_cache (\d+)$/m, 1],
  ['container_memory_rss', 'memory', 'memory.stat', /^total_rss (\d+)$/m, 1],
  ['container_cpu_cfs_throttled_seconds_total', 'cpu', 'cpu.stat', /^throttled_time (\d+)$/m, 1e9],
  ['container_spec_memory_limit_bytes', 'memory', 'memory.limit_in_bytes', /^(\d+)$/m, 1],
];

function isWhatTheKernelSays({ place }: StatsNode, { series }: Answers): readonly string[] {
  const cgroup = place.node.world.cgroup;
  const read = (controller: string, path: string, file: string) =>
    readFileSync(`/sys/fs/cgroup/${controller}/${cgroup}${path}/${file}`, 'utf8');
  return series.flatMap(({ name, labels, value }) => {
    const id = labels['id'] ?? '';
    if (!id.startsWith('/kubepods')) return [];
    if (name === 'container_processes') {
      const processes = read('cpu', id, 'cgroup.procs').trim().split('\n').filter(Boolean).length;
      return processes === value ? [] : [`${name} of ${id}: ${value}, not ${processes}`];
    }
    const [, controller = '', file = '', pattern = /^$/, unit = 1] = FILES.find((one) => one[0] === name) ?? [];
    if (controller === '') return [];
    const text = pattern.exec(read(controller, id, file))?.[1];
    // No limit is a very large number in the file, and 0 in the metric.
    const said = text === undefined ? 0 : Number(text) > 2 ** 62 ? 0 : Number(text) / unit;
    return isClose(said, value) ? [] : [`${name} of ${id}: ${value}, not ${said}`];
  });
}

/** By the name of the metric, as `ip -s` prints it for a process in the pod's network. */
function trafficOf(pid: string, device: string): ReadonlyMap<string, number> {
  const argv = ['-t', pid, '-n', 'ip', '-s', '-j', 'link', 'show', device];
  const [{ stats64: said }] = JSON.parse(execFileSync('nsenter', argv, { encoding: 'utf8' }));
  return new Map([
    ['container_network_receive_bytes_total', said.rx.bytes],
    ['container_network_receive_packets_total', said.rx.packets],
    ['container_network_transmit_bytes_total', said.tx.bytes],
    ['container_network_transmit_packets_total', said.tx.packets],
  ]);
}

function isWhatIpSays({ place }: StatsNode, { series }: Answers): readonly string[] {
  const { cgroup } = place.node.world;
  const ofPods = series.filter(({ name, labels }) => name.startsWith('container_network_') && labels['pod'] !== '');
  return [...Map.groupBy(ofPods, ({ labels }) => labels['id'] ?? '')].flatMap(([id, all]) => {
    const [pid = ''] = readFileSync(`/sys/fs/cgroup/cpu/${cgroup}${id}/cgroup.procs`, 'utf8').split('\n');
    const said = trafficOf(pid, all[0]?.labels['interface'] ?? '');
    return all.flatMap(({ name, value }) => {
      const number = said.get(name) ?? value;
      return isClose(number, value) ? [] : [`${name} of ${id}: ${value}, not ${number}`];
    });
  });
}

function isWhatDfSays({ place }: StatsNode, { summary }: Answers): void {
  const { bsize, blocks, bavail } = statfsSync(place.node.kubeletDirectory);
  assert.equal(summary.get('.node.fs.capacityBytes'), bsize * blocks);
  assert.ok(isClose(summary.get('.node.fs.availableBytes') ?? 0, bsize * bavail));
}

test('numbers of the same pods are those of the reference, of the kernel and of its tools', async (t) => {
  const node = await statsNodeOf(t, 'reference', startPods);
  const { kubelet } = node.place.node;
  // The reference reads now and then, and volumes later still.
  const theirs = await until(
    'the reference has the last numbers of all',
    async () => {
      const answers = await answersOf(node);
      const cgroups = answers.series.filter(({ name }) => name === 'container_processes').length;
      const isMeasured = LATE.every((path) => (answers.summary.get(`.pods.${path}.usedBytes`) ?? 0) > 0);
      const wrong = [...isWhatTheKernelSays(node, answers), ...isWhatIpSays(node, answers)];
      return cgroups === 12 && isMeasured && wrong.length === 0 ? answers : undefined;
    },
    PATIENCE_MS,
  );
  await kubelet.stop();
  await kubelet.start({ binary: OUR_KUBELET, flags: [] });
  let found: readonly string[] = [];
  await until(
    'all numbers are the same',
    async () => {
      const ours = await answersOf(node);
      found = [...isWhatTheKernelSays(node, ours), ...isWhatIpSays(node, ours), ...allDifferences(ours, theirs)];
      return found.length === 0 ? true : undefined;
    },
    PATIENCE_MS / 2,
  ).catch(() => assert.deepEqual(found, []));
  isWhatDfSays(node, await answersOf(node));
});
