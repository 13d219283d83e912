/** One guest with a kernel of its own: slices, statistics and kills on a real cgroup v2 with pressure figures, and a machine that is out of memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busyboxImage, IMAGE_PACKAGES, pauseImage } from '../../../tools/machine/images.ts';
import { makeImage } from '../../../tools/machine/oci/image.ts';
import { ensurePackages } from '../../../tools/machine/packages.ts';
import { type Series, seriesOf } from '../../node/stats-support.ts';
import {
  loadTree,
  RECORDED_CONFIG,
  RECORDED_PATHS,
  RECORDED_PODS,
  RECORDED_UNITS,
  RESERVED_SLICES,
  RESERVED_UNITS,
} from '../../recorded/systemd/node.ts';
import { type CgroupTree, parseTree, treeScript } from '../../recorded/systemd/tree.ts';
import { lab } from '../lab.ts';
import type { Guest } from './guest.ts';
import { container, pod } from './pods.ts';

const PORT = 'http://127.0.0.1:10255';
const WAIT = "trap 'exit 0' TERM; while :; do sleep 1000 & wait $!; done";
const LIMIT = 32 * 1024 * 1024;
/** An emulated processor on a machine that others use, too. */
const SLOW = { timeoutMs: 600_000 };

const write = (name: string, spec: object) =>
  `cat > /etc/kubernetes/manifests/${name}.json <<'POD'\n${JSON.stringify(pod(name, spec))}\nPOD\n`;
const untilLogged = (name: string, count: number) =>
  `until [ $(grep -ls up /var/log/pods/default_${name}-*/*/0.log | wc -l) = ${count} ]; do sleep 0.5; done`;
const untilEvent = (text: string) => `until journalctl --unit kubelet | grep '${text}'; do sleep 0.5; done`;

function find(series: readonly Series[], name: string, containerName: string): Series {
  const found = series.find((one) => one.name === name && one.labels['container'] === containerName);
  return found ?? assert.fail(`no ${name} of ${containerName}`);
}

/** As the reference was recorded: what is reserved has slices of its own, and what pods request is protected. */
const PROTECTING = {
  ...RECORDED_CONFIG,
  featureGates: { MemoryQoS: true },
  memoryReservationPolicy: 'TieredReservation',
};
const writeReserved = Object.entries(RESERVED_UNITS)
  .map(([path, text]) => `printf '${text.replaceAll('\n', '\\n')}' > /etc/${path}\n`)
  .join('');

/** The scopes of containers are the runtime's, and how much the node has depends on the guest's kernel. */
function comparable({ files, units }: CgroupTree): CgroupTree {
  const ours = Object.fromEntries(Object.entries(files).filter(([path]) => !path.includes('.scope')));
  const { 'memory.max': memory, 'pids.max': pids } = files['/kubepods.slice'] ?? {};
  const text = JSON.stringify({ files: ours, units });
  return JSON.parse(text.replaceAll(`"${memory}"`, '"memory of pods"').replaceAll(`"${pids}"`, '"processes of pods"'));
}

const RECORDED = comparable(loadTree('v2'));
const BURSTABLE = '/kubepods.slice/kubepods-burstable.slice';
/** The weights of the classes follow the pods a moment later. */
const untilWeighed = `until [ "$(cat /sys/fs/cgroup${BURSTABLE}/cpu.weight)" = ${RECORDED.files[BURSTABLE]?.['cpu.weight']} ]; do sleep 0.5; done`;
const untilNoSlices = `until [ -z "$(find /sys/fs/cgroup -type d -name 'kubepods-*pod*')" ] && [ -z "$(systemctl list-units --all --plain --no-legend 'kubepods-*pod*.slice')" ]; do sleep 2; done`;

/** With programs that wait: the emulated processor has enough to do. */
const waiting = (spec: object) => {
  const { containers } = spec as { containers: readonly object[] };
  return { ...spec, containers: containers.map((one) => ({ ...one, command: ['sh', '-c', WAIT] })) };
};

async function makesTheRecordedSlices(guest: Guest): Promise<void> {
  const pods = Object.entries(RECORDED_PODS).map(([name, spec]) => write(name, waiting(spec)));
  // With its first scope the slice of a pod is as it should be.
  const inUse = `$(find /sys/fs/cgroup/kubepods.slice -name '*.scope' -printf '%h\\n' | sort -u | wc -l)`;
  await guest.runOk(`${pods.join('')}until [ ${inUse} = ${pods.length} ]; do sleep 2; done`, SLOW);
  const script = `${untilWeighed}; curl --silent --fail ${PORT}/pods; echo; echo ===; grep MemTotal /proc/meminfo; echo ===; curl --silent --fail ${PORT}/metrics | grep ^kubelet_memory_qos; echo ===; ${treeScript(RECORDED_PATHS, RECORDED_UNITS)}`;
  const [list = '', total = '', metrics = '', tree = ''] = (await guest.runOk(script, SLOW)).split('===\n');
  const { items } = JSON.parse(list) as { items: readonly { metadata: { name: string; uid: string } }[] };
  const uids = items.map(({ metadata: { name, uid } }) => [uid, `UID.${name.replace(/-guest$/, '')}`] as const);
  const made = parseTree(tree, new Map(uids));
  assert.deepEqual(comparable(made), RECORDED);
  const bytes = Number(/(\d+) kB/.exec(total)?.[1]) * 1024 - 384 * 2 ** 20;
  assert.equal(Number(made.files['/kubepods.slice']?.['memory.max']), bytes, 'all memory but what is reserved');
  const low = Number(made.files[BURSTABLE]?.['memory.low']);
  const min = Number(made.files['/kubepods.slice']?.['memory.min']) - low;
  assert.deepEqual(
    seriesOf(metrics).map(({ name, value }) => [name.replace('kubelet_memory_qos_node_memory_', ''), value]),
    [
      ['low_bytes', low],
      ['min_bytes', min],
    ],
  );
  await guest.runOk(`rm /etc/kubernetes/manifests/*; ${untilNoSlices}`, SLOW);
}

async function readsTheKernelsFiles(guest: Guest): Promise<void> {
  const limits = { cpu: '300m', memory: String(LIMIT) };
  const containers = [
    container('idle', `head -c 4000000 /dev/zero > /dev/shm/x; echo up; ${WAIT}`, limits),
    container('busy', 'echo up; while :; do :; done', { cpu: '200m', memory: String(LIMIT) }),
  ];
  // A volume in memory: the guest's kernel is too old to keep it from its swap.
  const volumes = [{ name: 'm', emptyDir: { medium: 'Memory' } }];
  await guest.runOk(`${write('two', { containers, volumes })}${untilLogged('two', 2)}`, SLOW);
  assert.match(await guest.runOk(untilEvent('PossibleMemoryBackedVolumesOnDisk'), SLOW), /kind="Node" type="Warning"/);
  const series = seriesOf(await guest.runOk(`curl --silent --fail ${PORT}/metrics/cadvisor`, SLOW));
  const at = (name: string) => `/sys/fs/cgroup${find(series, 'container_memory_usage_bytes', name).labels['id']}`;
  assert.equal(find(series, 'container_spec_memory_limit_bytes', 'idle').value, LIMIT);
  assert.deepEqual(
    [find(series, 'container_spec_cpu_quota', 'busy').value, find(series, 'container_spec_cpu_period', 'busy').value],
    [20_000, 100_000],
  );
  // Before, during and after, in one go: each command costs the guest a second.
  const script = `cd ${at('busy')}; cat cpu.stat; echo ===; curl --silent --fail ${PORT}/metrics/cadvisor; echo ===; cat cpu.stat; echo ===; cat ${at('idle')}/memory.current ${at('idle')}/memory.stat`;
  const [before = '', text = '', after = '', memory = ''] = (await guest.runOk(script, SLOW)).split('===\n');
  const usage = (stat: string) => Number(/^usage_usec (\d+)$/m.exec(stat)?.[1]) / 1e6;
  const now = seriesOf(text);
  const { value: cpu } = find(now, 'container_cpu_usage_seconds_total', 'busy');
  assert.ok(usage(before) <= cpu && cpu <= usage(after), `${usage(before)} <= ${cpu} <= ${usage(after)}`);
  assert.ok(find(now, 'container_cpu_cfs_throttled_periods_total', 'busy').value > 0);
  const [current = ''] = memory.split('\n');
  assert.equal(find(now, 'container_memory_usage_bytes', 'idle').value, Number(current));
  const inactive = Number(/^inactive_file (\d+)$/m.exec(memory)?.[1]);
  assert.equal(find(now, 'container_memory_working_set_bytes', 'idle').value, Number(current) - inactive);
  assert.ok(
    find(now, 'container_pressure_cpu_waiting_seconds_total', 'busy').value > 0,
    'pressure of a throttled container',
  );
}

async function summarizesPressure(guest: Guest): Promise<void> {
  const summary = JSON.parse(await guest.runOk(`curl --silent --fail ${PORT}/stats/summary`, SLOW));
  const { node, pods } = summary;
  assert.ok(node.cpu.usageNanoCores > 0 && node.memory.workingSetBytes > 0 && node.cpu.psi.some.total > 0);
  const two = pods.find((one: { podRef: { name: string } }) => one.podRef.name.startsWith('two-'));
  const busy = two.containers.find(({ name }: { name: string }) => name === 'busy');
  assert.ok(busy.cpu.usageNanoCores > 0 && busy.cpu.psi.some.total > 0, JSON.stringify(busy.cpu));
}

/** On cgroup v2 all processes of a container are killed together: each is reported. */
async function reportsGroupsAndTheMachine(guest: Guest): Promise<void> {
  const eat = 'dd if=/dev/zero of=/dev/null bs=64M count=1';
  const eater = container('c', `echo up; sleep 500 & ${eat}; ${WAIT}`, { memory: String(LIMIT) });
  const seen = await guest.runOk(
    `${write('eater', { containers: [eater] })}${untilEvent('reason="OOMKilled".*Process dd')}; ${untilEvent('reason="OOMKilled".*Process sh')}; journalctl --unit kubelet | grep 'reason="OOMKilled"'`,
    SLOW,
  );
  assert.match(
    seen,
    /Process dd \(pid \d+\) in container c was killed: the (?:pod|container) reached its memory limit of 32Mi/,
  );
  const pids = new Set([...seen.matchAll(/Process \w+ \(pid (\d+)\)/g)].map(([, pid]) => pid));
  // With its first process the rest of a container ends by itself, before its turn comes.
  assert.ok(pids.size >= 2 && /Process sh /.test(seen), `the shell and dd: ${seen}`);
  const large = container('c', 'echo up; sleep 1; dd if=/dev/zero of=/dev/null bs=4000M count=1; sleep 1000');
  const node = await guest.runOk(
    `${write('large', { containers: [large] })}${untilEvent('reason="SystemOOM"')} | head -1`,
    SLOW,
  );
  assert.match(node, /kind="Node".*System OOM encountered, victim process: dd, pid: \d+/);
  const onPod = await guest.runOk(`${untilEvent('ran out of memory')} | head -1`, SLOW);
  assert.match(onPod, /Process dd \(pid \d+\) in container c was killed: the node ran out of memory/);
}

test('cgroup v2', async (t) => {
  await ensurePackages(IMAGE_PACKAGES, console.error);
  const images = [makeImage(await pauseImage()), makeImage(await busyboxImage())];
  await using guest = await lab.guest({ test: t, images });
  await guest.startContainerd();
  const config = { cgroupDriver: 'systemd', readOnlyPort: 10255 };
  await guest.installKubelet({ config: { ...config, ...PROTECTING } });
  await guest.runOk(`${writeReserved}systemctl daemon-reload; systemctl start ${RESERVED_SLICES.join(' ')}`);
  await guest.startKubelet();
  await t.test('slices are those that the reference makes, and go with their pods', () =>
    makesTheRecordedSlices(guest),
  );
  // Without what is reserved: the machine is out of memory before its pods are.
  await guest.runOk('systemctl stop kubelet', SLOW);
  await guest.installKubelet({ config: { ...config, failSwapOn: false } });
  await guest.runOk('fallocate -l 8M /swap; chmod 600 /swap; mkswap /swap; swapon /swap');
  await guest.startKubelet();
  await t.test('statistics are those of the kernel', () => readsTheKernelsFiles(guest));
  await t.test('statistics have pressure in the summary', () => summarizesPressure(guest));
  await t.test('kills of groups and of the machine are reported', () => reportsGroupsAndTheMachine(guest));
});
