/** Statistics on a real node: the same families, labels and fields as the reference answered for these pods, and the kernel's numbers. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { never, runs, stays, until } from './pod-support.ts';
import {
  FROM_RUNTIME,
  familyTable,
  type Series,
  type StatsNode,
  seriesOf,
  shapeOf,
  statsNode,
  textOf,
} from './stats-support.ts';

const recorded = (file: string) =>
  readFileSync(join(import.meta.dirname, '../recorded/stats', file), 'utf8')
    .trimEnd()
    .split('\n');

/** Lines that only one side has, and why that is meant. */
const MEANT: readonly { readonly line: RegExp; readonly why: string }[] = [
  {
    line: /^\+ \.node\.systemContainers\[kubelet\]/,
    why: 'the reference shows its own cgroup only where kubeletCgroups names it; here the process is counted where it is',
  },
];

function assertSame(ours: readonly string[], theirs: readonly string[], what: string): void {
  const [a, b] = [new Set(ours), new Set(theirs)];
  const differences = [
    ...[...a].filter((x) => !b.has(x)).map((x) => `+ ${x}`),
    ...[...b].filter((x) => !a.has(x)).map((x) => `- ${x}`),
  ];
  const unexplained = differences.filter((line) => !MEANT.some((one) => one.line.test(line)));
  assert.deepEqual(unexplained, [], what);
}

async function looksLikeTheReference(node: StatsNode, prefix = ''): Promise<void> {
  const of = (file: string) => recorded(`${prefix}${file}`);
  const summary = await until('the volume is measured', async () => {
    const text = await textOf(node, '/stats/summary');
    return text.includes('"volume"') ? text : undefined;
  });
  assertSame(shapeOf(JSON.parse(summary)), of('summary.txt'), '/stats/summary');
  const less = await textOf(node, '/stats/summary?only_cpu_and_memory=true');
  assertSame(shapeOf(JSON.parse(less)), of('cpu-and-memory.txt'), 'only_cpu_and_memory');
  assertSame(familyTable(await textOf(node, '/metrics/resource')), of('resource.tsv'), '/metrics/resource');
  assertSame(familyTable(await textOf(node, '/metrics/cadvisor')), of('cadvisor.tsv'), '/metrics/cadvisor');
}

/** What the kernel says before and after lies around what the kubelet said in between. */
async function saysWhatTheKernelSays(node: StatsNode): Promise<void> {
  const { place } = node;
  const world = place.node.world.cgroup;
  const read = (controller: string, path: string, file: string) =>
    readFileSync(`/sys/fs/cgroup/${controller}/${world}${path}/${file}`, 'utf8');
  const find = (series: readonly Series[], name: string, container: string) =>
    series.find((one) => one.name === name && one.labels['container'] === container) ??
    assert.fail(`${name} ${container}`);
  const busy = find(seriesOf(await textOf(node, '/metrics/cadvisor')), 'container_spec_cpu_quota', 'busy');
  const path = busy.labels['id'] ?? '';
  const counters = () => ({
    container_cpu_usage_seconds_total: Number(read('cpuacct', path, 'cpuacct.usage')) / 1e9,
    container_cpu_cfs_periods_total: Number(/^nr_periods (\d+)$/m.exec(read('cpu', path, 'cpu.stat'))?.[1]),
    container_memory_max_usage_bytes: Number(read('memory', path, 'memory.max_usage_in_bytes')),
  });
  const before = counters();
  const series = seriesOf(await textOf(node, '/metrics/cadvisor'));
  const resource = seriesOf(await textOf(node, '/metrics/resource'));
  const after = counters();
  for (const name of Object.keys(before) as (keyof typeof before)[]) {
    const { value } = find(series, name, 'busy');
    assert.ok(before[name] <= value && value <= after[name], `${name}: ${before[name]} <= ${value} <= ${after[name]}`);
  }
  const { value: cpu } = find(resource, 'container_cpu_usage_seconds_total', 'busy');
  assert.ok(before.container_cpu_usage_seconds_total <= cpu && cpu <= after.container_cpu_usage_seconds_total);
  assert.deepEqual(
    ['container_spec_cpu_quota', 'container_spec_cpu_period', 'container_spec_memory_limit_bytes'].map(
      (name) => find(series, name, 'busy').value,
    ),
    [20_000, 100_000, 32 * 1024 * 1024],
  );
  // A container that only sleeps: nothing of its memory moves, once the kernel has settled what it had taken in advance.
  await until('the numbers of an idle container are the kernel’s', async () => {
    const page = seriesOf(await textOf(node, '/metrics/cadvisor'));
    const { value, labels } = find(page, 'container_memory_usage_bytes', 'idle');
    const usage = Number(read('memory', labels['id'] ?? '', 'memory.usage_in_bytes'));
    const stat = read('memory', labels['id'] ?? '', 'memory.stat');
    const inactive = Number(/^total_inactive_file (\d+)$/m.exec(stat)?.[1]);
    const workingSet = find(page, 'container_memory_working_set_bytes', 'idle').value;
    return value === usage && workingSet === usage - inactive ? true : undefined;
  });
}

interface CpuPart {
  readonly usageNanoCores: number;
  readonly usageCoreNanoSeconds: number;
}

interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly name: string };
    readonly containers: readonly {
      readonly name: string;
      readonly cpu: CpuPart;
      readonly rootfs?: { readonly usedBytes?: number };
    }[];
    readonly volume?: readonly { readonly usedBytes: number; readonly inodesUsed: number }[];
  }[];
}

async function countsLoadAndVolumes(node: StatsNode): Promise<void> {
  const { pods }: Summary = JSON.parse(await textOf(node, '/stats/summary'));
  const two = pods.find(({ podRef }) => podRef.name.startsWith('two-'));
  const rate = two?.containers.find(({ name }) => name === 'busy')?.cpu.usageNanoCores ?? 0;
  // It takes all that it may, a fifth of a core, or less where the machine is busy.
  assert.ok(rate > 0 && rate < 300_000_000, `${rate} nanocores`);
  const [volume] = two?.volume ?? [];
  assert.ok((volume?.usedBytes ?? 0) >= 100 * 1024 && volume?.inodesUsed === 2, JSON.stringify(volume));
}

async function servesBothPortsAndPacks({ place, kubelet }: StatsNode): Promise<void> {
  for (const path of ['/stats/summary', '/metrics/resource', '/metrics/cadvisor']) {
    const answer = await place.node.gate.request(`http://127.0.0.1:10255${path}`);
    assert.equal(answer.status, 200, path);
  }
  const packed = await kubelet.request('/metrics/cadvisor', 'GET', { 'accept-encoding': 'gzip' });
  assert.equal(packed.headers['content-encoding'], 'gzip');
}

/** The form is cAdvisor's, as `src/stats/rules/testdata/spec.json` has it; the values are those of this machine. */
async function describesTheMachine(node: StatsNode): Promise<void> {
  const spec = JSON.parse(await textOf(node, '/spec/'));
  const info = readFileSync('/proc/meminfo', 'utf8');
  const recordedSpec = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../src/stats/rules/testdata/spec.json'), 'utf8'),
  );
  assert.deepEqual(Object.keys(spec), Object.keys(recordedSpec));
  assert.equal(spec.memory_capacity, Number(/^MemTotal:\s+(\d+) kB$/m.exec(info)?.[1]) * 1024);
  assert.equal(spec.num_cores, availableParallelism());
  assert.equal(spec.boot_id, readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const threads = spec.topology.flatMap((one: { cores: readonly { thread_ids: readonly number[] }[] }) =>
    one.cores.flatMap(({ thread_ids }) => thread_ids),
  );
  assert.equal(new Set(threads).size, spec.num_cores);
  assert.ok(spec.filesystems.length > 0 && spec.filesystems.every((one: { capacity: number }) => one.capacity > 0));
  assert.ok(spec.network_devices.every(({ mtu }: { mtu: number }) => mtu > 0));
}

/** Pods end while they are read: every answer is whole, and what ended is gone from it. */
async function outlivesPods(node: StatsNode): Promise<void> {
  const { place } = node;
  const pid = place.node.kubelet.pid ?? assert.fail('no kubelet');
  await textOf(node, '/metrics/cadvisor');
  const openFiles = () => readdirSync(`/proc/${pid}/fd`).length;
  const before = openFiles();
  await rm(join(place.node.manifestsDirectory, 'sure.yaml'));
  await until('the pod is gone', async () => {
    const texts = await Promise.all(
      ['/stats/summary', '/metrics/resource', '/metrics/cadvisor'].map((path) => textOf(node, path)),
    );
    assert.match(texts[1] ?? '', /^resource_scrape_error 0$/m);
    assert.match(texts[2] ?? '', /^container_scrape_error 0$/m);
    return texts.some((text) => text.includes(`"sure-${place.node.nodeName}"`)) ? undefined : true;
  });
  await until('no descriptor is left', () => (openFiles() <= before + 2 ? true : undefined));
  assert.doesNotMatch(readFileSync(place.node.kubelet.logFile, 'utf8'), /Failed to read statistics/);
}

/** Files that hold garbage or nothing cost their own numbers alone, and one line a minute in the log at most. */
async function outlivesGarbage(node: StatsNode): Promise<void> {
  const { node: labNode } = node.place;
  await node.place.write('bad', { terminationGracePeriodSeconds: 1, containers: [runs('c', 'sleep 1000')] });
  const { id } = await node.place.running('bad', 'c');
  const container = await until('the pod is counted', async () => {
    const series = seriesOf(await textOf(node, '/metrics/cadvisor'));
    return series.find(({ labels }) => labels['name'] === id)?.labels['id'];
  });
  const garbage = join(labNode.world.directory, 'garbage');
  writeFileSync(garbage, 'total_cache x\nuser \u0000\nnr_periods 99999999999999999999999\n'.repeat(2000));
  const bad = [
    ['memory/memory.max_usage_in_bytes', garbage],
    ['memory/memory.failcnt', '/dev/null'],
    ['cpuacct/cpuacct.stat', garbage],
    ['cpu/cpu.stat', garbage],
    ['blkio/blkio.throttle.io_service_bytes_recursive', garbage],
  ].map(([name = '', source]) => ({ source, target: `/sys/fs/cgroup/${name.replace('/', `${container}/`)}` }));
  const inside = (script: string) =>
    execFileSync('nsenter', ['-t', String(labNode.kubelet.pid), '-m', 'sh', '-ec', script], { encoding: 'utf8' });
  inside(bad.map(({ source, target }) => `mount --bind ${source} ${target}`).join('\n'));
  try {
    const began = performance.now();
    let text = '';
    for (let times = 0; times < 10; times += 1) text = await textOf(node, '/metrics/cadvisor');
    const minutes = Math.floor((performance.now() - began) / 60_000);
    const series = seriesOf(text);
    const of = (name: string, which: string) => series.find((one) => one.name === name && one.labels['name'] === which);
    assert.ok((of('container_memory_usage_bytes', id)?.value ?? 0) > 0, 'the other numbers of the container');
    assert.equal(of('container_cpu_user_seconds_total', id)?.value, 0);
    assert.match(text, /^container_cpu_usage_seconds_total\{container="busy"/m);
    assert.match(text, /^container_scrape_error 0$/m);
    assert.ok(failures(node) <= 1 + minutes, `${failures(node)} lines in ${minutes} minutes`);
    JSON.parse(await textOf(node, '/stats/summary'));
  } finally {
    inside(bad.map(({ target }) => `umount ${target}`).join('\n'));
  }
}

const failures = ({ place }: StatsNode) =>
  readFileSync(place.node.kubelet.logFile, 'utf8').match(/Failed to read statistics/g)?.length ?? 0;

/** Asks for every page ten times. At most one line a minute is logged. */
async function askOften(node: StatsNode): Promise<void> {
  const [began, logged] = [performance.now(), failures(node)];
  for (let times = 0; times < 10; times += 1) {
    const metrics = await textOf(node, '/metrics/cadvisor');
    assert.match(metrics, /^container_cpu_usage_seconds_total\{container="busy"/m);
    assert.match(metrics, /^container_scrape_error 0$/m);
    assert.match(await textOf(node, '/metrics/resource'), /^resource_scrape_error 0$/m);
    JSON.parse(await textOf(node, '/stats/summary'));
  }
  const minutes = Math.floor((performance.now() - began) / 60_000);
  assert.ok(failures(node) - logged <= 1 + minutes, `${failures(node) - logged} lines in ${minutes} minutes`);
}

/** What the kubelet and the containers write to can't be written any more. */
async function outlivesReadOnlyDisk(node: StatsNode): Promise<void> {
  const { kubelet, kubeletDirectory, podLogsDirectory } = node.place.node;
  const disks = [kubeletDirectory, podLogsDirectory];
  const inside = (...lines: readonly string[]) =>
    execFileSync('nsenter', ['-t', String(kubelet.pid), '-m', 'sh', '-ec', lines.join('\n')], { stdio: 'pipe' });
  const before = familyTable(await textOf(node, '/metrics/cadvisor'));
  const shape = shapeOf(JSON.parse(await textOf(node, '/stats/summary')));
  inside(...disks.map((path) => `mount --bind ${path} ${path}; mount -o remount,bind,ro ${path}`));
  try {
    assert.throws(() => inside(`touch ${kubeletDirectory}/x`), /Read-only file system/);
    await askOften(node);
    assertSame(familyTable(await textOf(node, '/metrics/cadvisor')), before, '/metrics/cadvisor');
    assertSame(shapeOf(JSON.parse(await textOf(node, '/stats/summary'))), shape, '/stats/summary');
  } finally {
    inside(...disks.map((path) => `umount ${path}`));
  }
}

interface SandboxInfo {
  readonly pid: number;
  readonly runtimeSpec: {
    readonly linux: { readonly namespaces: readonly { readonly type: string; readonly path?: string }[] };
  };
}

/** First the network namespace of a pod has no name any more, then the process is gone by which it is read. */
async function outlivesLostNetwork(node: StatsNode): Promise<void> {
  const { place } = node;
  await place.write('lost', { terminationGracePeriodSeconds: 1, containers: [stays('c')] });
  await place.running('lost', 'c');
  const networkOf = async (id: string) =>
    seriesOf(await textOf(node, '/metrics/cadvisor')).find(
      ({ name, labels }) => name === 'container_network_receive_bytes_total' && labels['name'] === id,
    );
  const [box] = await place.sandboxes('lost');
  const id = box?.id ?? assert.fail('no sandbox');
  await until('its network is counted', () => networkOf(id));
  const { info } = (await place.cri.sandboxes.status(id, { verbose: true }, never)) ?? assert.fail('no sandbox');
  const { pid, runtimeSpec }: SandboxInfo = JSON.parse(info['info'] ?? '');
  const path = runtimeSpec.linux.namespaces.find(({ type }) => type === 'network')?.path ?? assert.fail('no network');
  execFileSync('nsenter', ['-t', String(place.node.containerd.pid), '-m', 'sh', '-ec', `umount ${path}; rm ${path}`]);
  await askOften(node);
  assert.ok((await networkOf(id)) !== undefined, 'its processes still have it');
  process.kill(pid, 'SIGKILL');
  await askOften(node);
  await until('the pod has another network', async () => {
    const [newest] = await place.sandboxes('lost');
    return newest === undefined || newest.id === id ? undefined : await networkOf(newest.id);
  });
}

test('statistics of a node with pods', async (t) => {
  const node = await statsNode(t, 'ours');
  await t.test('have the fields, families and labels of the reference', () => looksLikeTheReference(node));
  await t.test('are what the kernel says', () => saysWhatTheKernelSays(node));
  await t.test('count load and volumes', () => countsLoadAndVolumes(node));
  await t.test('are on both ports, packed where asked', () => servesBothPortsAndPacks(node));
  await t.test('describe the machine', () => describesTheMachine(node));
  await t.test('go on while pods end', () => outlivesPods(node));
  await t.test('go on where files of the kernel make no sense', () => outlivesGarbage(node));
  await t.test('go on on a disk that is read-only', () => outlivesReadOnlyDisk(node));
  await t.test('go on without the network namespace of a pod', () => outlivesLostNetwork(node));
});

/** Numbers of one moment from the runtime, and from the kernel shortly before and after. */
async function saysWhatTheRuntimeSays(node: StatsNode): Promise<void> {
  const { place } = node;
  const busy = async () => {
    const [pod] = (await place.cri.stats.sandboxes(undefined, never)).filter(
      ({ attributes }) => attributes?.metadata?.name === `two-${place.node.nodeName}`,
    );
    const found = pod?.linux?.containers.find(({ attributes }) => attributes?.metadata?.name === 'busy');
    return found?.cpu?.usageCoreNanoSeconds?.value ?? assert.fail('no statistics');
  };
  const before = await busy();
  const { pods }: Summary = JSON.parse(await textOf(node, '/stats/summary'));
  const shown = pods
    .find(({ podRef }) => podRef.name.startsWith('two-'))
    ?.containers.find(({ name }) => name === 'busy')?.cpu.usageCoreNanoSeconds;
  const after = await busy();
  assert.ok(shown !== undefined && before <= shown && shown <= after, `${before} <= ${shown} <= ${after}`);
  assert.match(await textOf(node, '/metrics'), /^kubelet_metrics_provider\{provider="cri"\} 1$/m);
}

test('statistics of a node whose runtime is asked for them', async (t) => {
  const node = await statsNode(t, 'ours', FROM_RUNTIME);
  await until('the runtime has measured rates and layers', async () => {
    const { pods }: Summary = JSON.parse(await textOf(node, '/stats/summary'));
    const containers = pods.flatMap((pod) => pod.containers);
    const isMeasured = containers.every(
      ({ cpu, rootfs }) => cpu.usageNanoCores !== undefined && rootfs?.usedBytes !== undefined,
    );
    return containers.length === 4 && isMeasured ? true : undefined;
  });
  await t.test('have the fields, families and labels of the reference', () => looksLikeTheReference(node, 'runtime-'));
  await t.test('are what the runtime says', () => saysWhatTheRuntimeSays(node));
});
