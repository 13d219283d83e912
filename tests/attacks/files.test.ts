/** Pods that put pipes, devices, links and endless files where the kubelet looks. Each must harm only itself. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Pod } from '../../src/api/pod.ts';
import type { ContainerStatus } from '../../src/api/pod-status.ts';
import { type PodNode, podNode, runs, stays, until } from '../node/pod-support.ts';
import { kubeletClient } from '../node/streams-support.ts';
import { finished, podDirectory } from '../node/volumes-support.ts';

const MESSAGE = '/dev/termination-log';
const volumes = [{ name: 'v', emptyDir: {} }];

async function statusOf({ node }: PodNode, pod: string, container: string): Promise<ContainerStatus | undefined> {
  const { items } = JSON.parse((await kubeletClient(node).request('/pods')).text()) as { items: readonly Pod[] };
  const found = items.find(({ metadata }) => metadata.name === `${pod}-${node.nodeName}`);
  return found?.status?.containerStatuses?.find(({ name }) => name === container);
}

/** What the kubelet tells of the end of a container. */
async function messageOf(place: PodNode, pod: string, container: string): Promise<string> {
  const ended = await until(`${pod}/${container} is reported as ended`, async () => {
    const state = (await statusOf(place, pod, container))?.state.terminated;
    return state === undefined ? undefined : { message: state.message ?? '' };
  });
  return ended.message;
}

/** The kubelet can still do all that needs files. */
async function isUnharmed(place: PodNode, name: string): Promise<void> {
  const mounts = [{ name: 'v', mountPath: '/v' }];
  const manifest = await place.write(name, { volumes, containers: [stays('c', { volumeMounts: mounts })] });
  await place.running(name, 'c');
  assert.equal((await place.node.kubelet.healthz()).status, 200);
  await finished(place, name, manifest);
}

async function mountsAtTheMessage(place: PodNode): Promise<void> {
  const make = `mkfifo /v/pipe; mknod /v/device c 240 77; ln -s /etc/passwd /v/link; echo of-volume > /v/file`;
  const initContainers = [runs('make', make, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })];
  // More pipes than the kubelet has threads for files.
  const kinds = ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'device', 'file'];
  const containers = kinds.map((subPath, index) =>
    runs(`${subPath}-${index}`, `echo own-words > ${MESSAGE}; exit 1`, {
      volumeMounts: [{ name: 'v', mountPath: MESSAGE, subPath }],
    }),
  );
  const manifest = await place.write('words', { restartPolicy: 'Never', volumes, initContainers, containers });
  for (const { name } of containers) assert.equal(await messageOf(place, 'words', name), 'own-words\n', name);
  await isUnharmed(place, 'after-words');
  await finished(place, 'words', manifest);
}

async function replacesLogs(place: PodNode): Promise<void> {
  const hostLogs = [{ name: 'v', hostPath: { path: '/var/log/pods' } }];
  const volumeMounts = [{ name: 'v', mountPath: '/logs' }];
  const replace = (name: string, make: string) => {
    const script = `cd /logs/default_logs-*/${name}; echo a word; rm 0.log; ${make}; exit 1`;
    return runs(name, script, { volumeMounts, terminationMessagePolicy: 'FallbackToLogsOnError' });
  };
  const pipes = [1, 2, 3, 4, 5].map((number) => replace(`pipe-${number}`, 'mkfifo 0.log'));
  const record = '2026-01-01T00:00:00.000000000Z stdout F real';
  const containers = [
    ...pipes,
    replace('link', 'ln -s /etc/passwd 0.log'),
    replace('device', 'mknod 0.log c 240 77'),
    replace('no-records', `cat /etc/passwd > 0.log; echo '${record}' >> 0.log; cat /etc/passwd >> 0.log`),
  ];
  const manifest = await place.write('logs', { restartPolicy: 'Never', volumes: hostLogs, containers });
  for (const { name } of containers.slice(0, -1)) {
    assert.match(await messageOf(place, 'logs', name), /0\.log is not a regular file$/, name);
  }
  assert.equal(await messageOf(place, 'logs', 'no-records'), 'real\n');
  const kubelet = kubeletClient(place.node);
  for (const { name } of containers) {
    const url = `/containerLogs/default/logs-${place.node.nodeName}/${name}`;
    const text = await kubelet.request(url).then(
      (answer) => answer.text(),
      () => 'the connection was closed',
    );
    assert.doesNotMatch(text, /root:/, name);
  }
  await isUnharmed(place, 'after-logs');
  await finished(place, 'logs', manifest);
  const left = () => readdir(place.node.podLogsDirectory);
  await until('nothing is left of the logs', async () => ((await left()).length === 0 ? true : undefined));
}

const mostMemory = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

async function growsItsHostsFile(place: PodNode): Promise<void> {
  const script = `[ -e /v/seen ] && { grep -c localhost /etc/hosts > ${MESSAGE}; exec sleep 1000; }
touch /v/seen; dd if=/dev/zero of=/etc/hosts bs=1 count=1 seek=1900000000; sync; exit 1`;
  const spec = {
    terminationGracePeriodSeconds: 1,
    volumes,
    containers: [runs('c', script, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
  };
  const before = mostMemory(place.node.kubelet.pid);
  const manifest = await place.write('hosts', spec);
  const { mounts } = await place.running('hosts', 'c', 1);
  const hosts = mounts.find(({ containerPath }) => containerPath === '/etc/hosts')?.hostPath ?? '';
  const text = readFileSync(join(place.node.kubeletDirectory, hosts.slice('/var/lib/kubelet/'.length)), 'utf8');
  assert.match(text, /localhost/);
  const grown = mostMemory(place.node.kubelet.pid) - before;
  assert.ok(grown < 300, `${grown} MiB more than before`);
  await finished(place, 'hosts', manifest);
}

/** Names that `tree-remove` could use, names that are no text, more names than one reading has, and more levels than a path. */
const HOSTILE_TREE = `
cd /v
n=0; while [ $n -lt 30 ]; do mkdir -p "..removed-$n/full"; n=$((n + 1)); done
printf '\\377\\n' > no-text; name=$(printf 'x\\377\\201'); mkdir "$name"; echo x > "$name/$name"; mkdir "$(printf 'a\\nb')"
mkdir flat; cd flat; seq 1 20000 | xargs touch; cd ..
mkfifo pipe; mknod device c 240 77; ln -s / root; ln -s .. up
echo x > fixed; mkdir closed; echo x > closed/x
n=0; while [ $n -lt 1500 ]; do mkdir d side; cd d; n=$((n + 1)); done
echo made; sleep 1000`;

async function makesAVolumeThatStays(place: PodNode): Promise<void> {
  const container = {
    ...runs('c', `trap 'exit 0' TERM; ${HOSTILE_TREE} & wait`),
    volumeMounts: [{ name: 'v', mountPath: '/v' }],
  };
  const manifest = await place.write('tree', { terminationGracePeriodSeconds: 1, volumes, containers: [container] });
  await place.running('tree', 'c');
  await until(
    'the tree is made',
    async () => ((await logOf(place, 'tree')).includes('made') ? true : undefined),
    120_000,
  );
  assert.equal(await logOf(place, 'tree'), 'made\n');
  const directory = await podDirectory(place, 'tree');
  // As a container with CAP_LINUX_IMMUTABLE would.
  const volume = join(directory, 'volumes/kubernetes.io~empty-dir/v');
  const fixed = ['fixed', 'closed/x', 'closed'].map((name) => join(volume, name));
  for (const path of fixed) execFileSync('chattr', ['+i', path]);
  try {
    const removed = finished(place, 'tree', manifest, directory);
    await isUnharmed(place, 'beside');
    await removed;
  } finally {
    // Where they stay, the world could not be removed either.
    for (const path of fixed.filter((one) => existsSync(one))) execFileSync('chattr', ['-i', path]);
  }
}

async function logOf({ node }: PodNode, pod: string): Promise<string> {
  return (await kubeletClient(node).request(`/containerLogs/default/${pod}-${node.nodeName}/c`)).text();
}

test('hostile files', async (t) => {
  const place = await podNode(t);
  await t.test('what a pod mounts at the path of its termination message is not opened', () =>
    mountsAtTheMessage(place),
  );
  await t.test('logs that are links or pipes are neither reported nor given', () => replacesLogs(place));
  await t.test('a hosts file of gigabytes is not read', () => growsItsHostsFile(place));
  await t.test('a volume that was made to stay is removed, and others meanwhile', () => makesAVolumeThatStays(place));
});
