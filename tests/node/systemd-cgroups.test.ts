/** The cgroup driver systemd on a node whose process 1 is systemd: slices as the reference makes them, and pods that are held to them. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ContainerState } from '../../src/wire/gen/cri-runtime-v1.ts';
import type { CgroupDriver } from '../lab/system/machine.ts';
import { createSystemNode, type SystemNode } from '../lab/system/node.ts';
import {
  loadTree,
  RECORDED_CONFIG,
  RECORDED_PODS,
  RESERVED_SCRIPT,
  RESERVED_SLICES,
  RESERVED_UNITS,
  readTree,
} from '../recorded/systemd/node.ts';
import type { CgroupTree } from '../recorded/systemd/tree.ts';
import { until } from './pod-support.ts';

const never = new AbortController().signal;
const WAIT_MS = 120_000;

async function podUid({ cri, nodeName }: SystemNode, pod: string): Promise<string> {
  const labelSelector = { 'io.kubernetes.pod.name': `${pod}-${nodeName}` };
  return await until(
    `${pod} runs`,
    async () => {
      const all = await cri.containers.list({ labelSelector }, never);
      const running = all.find(({ state }) => state === ContainerState.CONTAINER_RUNNING);
      return running?.labels['io.kubernetes.pod.uid'];
    },
    WAIT_MS,
  );
}

/** What the node has depends on the machine: its limit of memory and processes is compared as what is missing from the whole. */
function machineless(tree: CgroupTree): CgroupTree {
  const text = JSON.stringify(tree);
  const { files } = tree;
  const memory = files['/kubepods.slice']?.['memory.limit_in_bytes'] ?? '';
  const pids = files['/kubepods.slice']?.['pids.max'] ?? '';
  const cpus = files['/kubepods.slice']?.['cpuset.cpus'] ?? '';
  const shares = files['/kubepods.slice']?.['cpu.shares'] ?? '';
  const replaced = [memory, pids, cpus, shares].reduce(
    (all, value, at) => all.replaceAll(`"${value}"`, `"machine ${at}"`),
    text,
  );
  return JSON.parse(replaced) as CgroupTree;
}

test('slices have the names, properties and values that the reference gives them, and go with their pods', async () => {
  await using node = await createSystemNode(process.env, {
    kubelet: 'ours',
    cgroupDriver: 'systemd',
    config: { ...RECORDED_CONFIG, cgroupDriver: 'cgroupfs' }, // the runtime's word counts
    etc: RESERVED_UNITS,
    units: RESERVED_SLICES,
  });
  await node.sh(RESERVED_SCRIPT);
  const removals: (() => Promise<void>)[] = [];
  for (const [name, spec] of Object.entries(RECORDED_PODS)) removals.push(await node.writePod(name, spec));
  await node.startKubelet();
  const recorded = machineless(loadTree('v1'));
  // The weights of the classes follow the pods, the limit of all pods comes a moment after the first.
  await until(
    'the tree is the recorded one',
    async () => {
      const tree = machineless(await readTree(node));
      return tree.files['/kubepods.slice/kubepods-burstable.slice']?.['cpu.shares'] === '225' ? true : undefined;
    },
    WAIT_MS,
  );
  const total = Number(/^MemTotal:\s+(\d+) kB$/m.exec(await readFile('/proc/meminfo', 'utf8'))?.[1]) * 1024;
  const tree = await readTree(node);
  assert.equal(tree.files['/kubepods.slice']?.['memory.limit_in_bytes'], String(total - 384 * 2 ** 20));
  assert.deepEqual(machineless(tree), recorded);

  // systemd and the bus are restarted while pods go: neither stops the kubelet, and nothing is left.
  await node.sh('systemctl daemon-reexec');
  for (const remove of removals.slice(0, 2)) await remove();
  await node.sh('systemctl restart dbus');
  for (const remove of removals.slice(2)) await remove();
  await node.sh('systemctl daemon-reexec');
  await until(
    'the slices of pods are gone',
    async () => {
      const left = await node.sh(
        `systemctl list-units --all --plain --no-legend 'kubepods-*pod*.slice'; find /sys/fs/cgroup -type d -name 'kubepods-*pod*'`,
      );
      return left.trim() === '' ? true : undefined;
    },
    WAIT_MS,
  );
  await node.writePod('again', RECORDED_PODS['guaranteed'] ?? {});
  const uid = await podUid(node, 'again');
  const slice = `kubepods-pod${uid.replaceAll('-', '_')}.slice`;
  assert.match(await node.sh(`systemctl show -p MemoryLimit ${slice}`), /=50331648\n/);
  assert.equal((await node.sh('systemctl show -P NRestarts kubelet')).trim(), '0');
});

const burn = 'while true; do :; done';
const busy = (name: string, script: string, resources: object) => ({
  containers: [{ name, image: 'lab.local/busybox:1', command: ['sh', '-c', script], resources }],
});
const limits = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });

for (const cgroupDriver of ['cgroupfs', 'systemd'] as const satisfies readonly CgroupDriver[]) {
  test(`${cgroupDriver}: a pod is throttled at its quota, killed at its limit, and can't take another pod's share`, async () => {
    await using node = await createSystemNode(process.env, { kubelet: 'ours', cgroupDriver });
    await node.startKubelet();
    // Each of its containers could use the whole pod's part: only the pod's own cgroup holds them together.
    const hungry = { name: 'b', image: 'lab.local/busybox:1', command: ['sh', '-c', `${burn} & ${burn}`] };
    await node.writePod('throttled', {
      containers: [{ ...hungry, name: 'a' }, hungry],
      resources: limits('200m', '64Mi'),
    });
    await node.writePod('greedy', busy('c', `${burn} & ${burn} & ${burn}`, { requests: { cpu: '10m' } }));
    await node.writePod('entitled', busy('c', `${burn} & ${burn} & ${burn}`, { requests: { cpu: '900m' } }));
    await node.writePod('eater', {
      ...busy('c', 'sleep 1; tail /dev/zero', limits('100m', '32Mi')),
      restartPolicy: 'Never',
    });
    const directory = async (pod: string, parent: 'Guaranteed' | 'burstable') => {
      const uid = await podUid(node, pod);
      const inSlices = `/kubepods.slice/${parent === 'Guaranteed' ? '' : 'kubepods-burstable.slice/'}kubepods-${parent === 'Guaranteed' ? '' : 'burstable-'}pod${uid.replaceAll('-', '_')}.slice`;
      return cgroupDriver === 'systemd'
        ? inSlices
        : `/kubepods/${parent === 'Guaranteed' ? '' : 'burstable/'}pod${uid}`;
    };
    const [throttled, greedy, entitled] = [
      await directory('throttled', 'Guaranteed'),
      await directory('greedy', 'burstable'),
      await directory('entitled', 'burstable'),
    ];
    // At one moment, as far as a machine under load has such a thing.
    const files = [throttled, greedy, entitled].map((path) => `/sys/fs/cgroup/cpuacct${path}/cpuacct.usage`);
    const measure = async () => {
      const said = (await node.sh(`read up rest < /proc/uptime; cat ${files.join(' ')}; echo $up`)).trim().split('\n');
      const [ofThrottled = 0, ofGreedy = 0, ofEntitled = 0, up = 0] = said.map(Number);
      return { at: up * 1000, throttled: ofThrottled / 1e6, greedy: ofGreedy / 1e6, entitled: ofEntitled / 1e6 };
    };
    const before = await measure();
    await node.sh('sleep 4');
    const after = await measure();
    const used = (pod: 'throttled' | 'greedy' | 'entitled') => after[pod] - before[pod];
    const share = used('throttled') / (after.at - before.at);
    assert.ok(share < 0.3, `the throttled pod used ${share} of a processor`);
    assert.match(await node.sh(`grep nr_throttled /sys/fs/cgroup/cpu${throttled}/cpu.stat`), / [1-9]/);
    // Far more by its weight; other work on the machine brings the two closer.
    assert.ok(used('entitled') > 2 * used('greedy'), `entitled ${used('entitled')} ms, greedy ${used('greedy')} ms`);

    await until(
      'the eater is killed',
      async () => {
        const [one] = await node.cri.containers.list(
          { labelSelector: { 'io.kubernetes.pod.name': 'eater-node' } },
          never,
        );
        const status = one && (await node.cri.containers.status(one.id, {}, never))?.status;
        return status?.reason === 'OOMKilled' && status.exitCode === 137 ? true : undefined;
      },
      WAIT_MS,
    );
  });
}

test('the kubelet and processes without a cgroup of their own move to where the configuration says', async () => {
  await using node = await createSystemNode(process.env, {
    kubelet: 'ours',
    cgroupDriver: 'cgroupfs',
    config: { kubeletCgroups: '/own/kubelet', systemCgroups: '/own/system', cgroupRoot: '/own' },
  });
  const hierarchies = '/sys/fs/cgroup/*/cgroup.procs';
  await node.sh(
    'for hierarchy in /sys/fs/cgroup/*/; do if [ -f $hierarchy/cgroup.procs ]; then mkdir -p $hierarchy/own; fi; done',
  );
  for (const file of ['cpuset.cpus', 'cpuset.mems'])
    await node.sh(`cat /sys/fs/cgroup/cpuset/${file} > /sys/fs/cgroup/cpuset/own/${file}`);
  // It has no cgroup of its own, as processes of a machine without services.
  const stray = (
    await node.sh(`setsid sleep 1000 > /dev/null 2>&1 & for file in ${hierarchies}; do echo $! > $file; done; echo $!`)
  ).trim();
  await node.startKubelet();
  const cgroupOf = async (pid: string) => {
    const lines = (await node.sh(`cat /proc/${pid}/cgroup`)).trim().split('\n');
    return [...new Set(lines.map((line) => line.split(':').slice(2).join(':')))];
  };
  const kubelet = (await node.sh('systemctl show -P MainPID kubelet')).trim();
  await until(
    'the kubelet has moved',
    async () => ((await cgroupOf(kubelet)).join() === '/own/kubelet' ? true : undefined),
    WAIT_MS,
  );
  await until(
    'the stray has moved',
    async () => ((await cgroupOf(stray)).join() === '/own/system' ? true : undefined),
    WAIT_MS,
  );
  assert.match(await node.sh('systemctl is-active dbus containerd'), /^active\nactive\n$/);
  assert.match(
    await node.sh('cat /proc/$(systemctl show -P MainPID containerd)/cgroup'),
    /name=systemd:\/system.slice\/containerd.service\n/,
  );
  assert.equal((await node.sh('[ -d /sys/fs/cgroup/memory/own/kubepods/burstable ] && echo there')).trim(), 'there');
});

/** Inside, because logind wants to know which of its own processes asks. */
test('logind hands out an inhibitor lock as a file descriptor, and systemd answers without a bus', async () => {
  await using node = await createSystemNode(process.env, {
    kubelet: 'ours',
    cgroupDriver: 'systemd',
    units: ['systemd-logind.service'],
  });
  const host = join(import.meta.dirname, '..', '..', 'src', 'host');
  const program = join(node.system.directory, 'inhibit.ts');
  await writeFile(
    program,
    `import { closeSync } from 'node:fs';
     import { execFileSync } from 'node:child_process';
     import { createSystemClock } from ${JSON.stringify(join(host, '..', 'base', 'clock.ts'))};
     import { createBus } from ${JSON.stringify(join(host, 'dbus', 'bus.ts'))};
     import { createOpenStream } from ${JSON.stringify(join(host, 'dbus', 'stream.ts'))};
     import { createSystemd } from ${JSON.stringify(join(host, 'dbus', 'systemd.ts'))};
     import { createReadiness } from ${JSON.stringify(join(host, 'event-loop.ts'))};
     import { createSyscalls } from ${JSON.stringify(join(host, 'syscalls.ts'))};
     const never = new AbortController().signal;
     const keepAlive = setInterval(() => undefined, 1000);
     const clock = createSystemClock();
     const open = createOpenStream(createSyscalls(), createReadiness());
     const busAt = (path, isBus) => createBus({ clock, open, uid: 0 }, [{ path, isBus }]);
     const locks = () => execFileSync('systemd-inhibit', ['--list', '--no-legend', '--no-pager'], { encoding: 'utf8' });
     const name = 'org.freedesktop.login1';
     const { fds: [lock] } = await busAt('/run/dbus/system_bus_socket', true).call({ destination: name, path: '/org/freedesktop/login1',
       interface: name + '.Manager', member: 'Inhibit', signature: 'ssss', body: ['shutdown', 'kubelet', 'pods end first', 'delay'] }, never);
     const held = locks();
     closeSync(lock);
     let released = locks();
     for (let tries = 0; tries < 200 && released.includes('kubelet'); tries += 1) {
       await clock.sleep(50, never);
       released = locks();
     }
     const version = await createSystemd(clock, busAt('/run/systemd/private', false)).version(never);
     console.log(JSON.stringify({ held: held.includes('pods end first'), released: !released.includes('kubelet'), version }));
     clearInterval(keepAlive);
     process.exit(0);`,
  );
  const node26 = `${process.execPath} --disable-warning=ExperimentalWarning ${program}`;
  const { held, released, version } = JSON.parse(await node.sh(node26)) as Record<string, unknown>;
  assert.deepEqual({ held, released }, { held: true, released: true });
  assert.match(await node.sh('systemctl --version'), new RegExp(`^systemd ${version} `));
});
