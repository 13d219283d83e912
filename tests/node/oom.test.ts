/** Processes that the kernel kills because memory is short: each is reported once on its pod, and counted over restarts. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { type PodNode, podNode, runs, until } from './pod-support.ts';
import { seriesOf } from './stats-support.ts';
import { kubeletClient } from './streams-support.ts';

const CONFIG = {
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
};
const LIMITED = { resources: { limits: { memory: '16Mi' } } };
/** A child that needs four times the limit. */
const EAT = 'dd if=/dev/zero of=/dev/null bs=64M count=1 2>/dev/null';
const WAIT = 'while :; do sleep 1000 & wait $!; done';
/** Eats when the test puts a number into the file: so many times. */
const EAT_ON_REQUEST = `while :; do n=$(cat /eat/n 2>/dev/null || echo 0); rm -f /eat/n; while [ $n -gt 0 ]; do ${EAT}; n=$((n-1)); done; sleep 0.1; done`;

const kills = async (place: PodNode, pod: string) =>
  (await place.events(pod)).filter((event) => event.startsWith('OOMKilled: '));
const pidsOf = (events: readonly string[]) => events.map((event) => Number(/\(pid (\d+)\)/.exec(event)?.[1]));

async function counted(place: PodNode, pod: string, container: string): Promise<number | undefined> {
  const answer = await kubeletClient(place.node).request('/metrics/cadvisor');
  const found = seriesOf(answer.text()).filter(
    ({ name, labels }) =>
      name === 'container_oom_events_total' &&
      labels['pod'] === `${pod}-${place.node.nodeName}` &&
      labels['container'] === container,
  );
  assert.ok(found.length <= 1, `${found.length} series of ${pod}/${container}`);
  return found[0]?.value;
}

/** The counter follows the event, or comes before it. */
const untilCounted = (place: PodNode, pod: string, container: string, least: number) =>
  until(`${least} kills of ${pod}/${container} are counted`, async () => {
    const value = await counted(place, pod, container);
    return value !== undefined && value >= least ? value : undefined;
  });

const untilKills = (place: PodNode, pod: string, count: number) =>
  until(`${count} kills in ${pod}`, async () => {
    const found = await kills(place, pod);
    return found.length >= count ? found : undefined;
  });

async function reportsChildrenAndMainProcesses(place: PodNode): Promise<void> {
  // Beside a container without a limit the pod has none either: the container's is reached.
  await place.write('child', {
    containers: [runs('c', `${EAT}; echo still here; ${WAIT}`, LIMITED), runs('free', WAIT)],
  });
  const [event = ''] = await untilKills(place, 'child', 1);
  assert.match(
    event,
    /^OOMKilled: "Process dd \(pid \d+\) in container c was killed: the container reached its memory limit of 16Mi"$/,
  );
  await place.running('child', 'c');
  assert.equal(await untilCounted(place, 'child', 'c', 1), 1);

  await place.write('main', { restartPolicy: 'Never', containers: [runs('c', `exec ${EAT}`, LIMITED)] });
  const [ofMain = ''] = await untilKills(place, 'main', 1);
  assert.match(
    ofMain,
    /Process dd \(pid \d+\) in container c was killed: the (?:pod|container) reached its memory limit/,
  );
  await place.untilEvent('main', /OOMKilled/);
  // It outlives the container.
  assert.equal(await untilCounted(place, 'main', 'c', 1), 1);
}

async function countsOverRestarts(place: PodNode): Promise<void> {
  await place.write('again', { containers: [runs('c', `sleep 0.3; exec ${EAT}`, LIMITED)] });
  await untilKills(place, 'again', 2);
  const total = await untilCounted(place, 'again', 'c', 2);
  const events = await kills(place, 'again');
  assert.ok(total <= events.length, `${total} counted, ${events.length} reported`);
  const named = pidsOf(events).filter((pid) => !Number.isNaN(pid));
  assert.equal(new Set(named).size, named.length, 'each kill once');
}

/** More than the kernel reports in full, and the counters of cgroups that stay. */
async function losesNothingInABurst(place: PodNode): Promise<void> {
  const burst = 20;
  const loop = `i=0; while [ $i -lt ${burst} ]; do ${EAT}; i=$((i+1)); done; echo done; ${WAIT}`;
  await place.write('burst', { containers: [runs('c', loop, LIMITED), runs('free', WAIT)] });
  await until('all kills are counted', async () => ((await counted(place, 'burst', 'c')) === burst ? true : undefined));
  const events = await untilKills(place, 'burst', burst);
  // What comes late would come now: a kill waits for its details for ten seconds at most.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  assert.equal((await kills(place, 'burst')).length, burst);
  const named = pidsOf(events).filter((pid) => !Number.isNaN(pid));
  assert.equal(new Set(named).size, named.length, 'no process is named twice');
  assert.ok(named.length >= 5, `${named.length} of ${burst} named`);
}

async function savedKills(place: PodNode, uid: string, count: number): Promise<true | undefined> {
  const text = await readFile(`${place.node.kubeletDirectory}/oom_watcher_state`, 'utf8');
  return text.includes(`["${uid}","c",${count}]`) ? true : undefined;
}

async function remembersOverKubeletRestarts(place: PodNode): Promise<void> {
  await place.write('asked', {
    volumes: [{ name: 'eat', emptyDir: {} }],
    containers: [
      runs('c', EAT_ON_REQUEST, { ...LIMITED, volumeMounts: [{ name: 'eat', mountPath: '/eat' }] }),
      runs('free', WAIT),
    ],
  });
  const { labels } = await place.running('asked', 'c');
  const volume = `${place.node.kubeletDirectory}/pods/${labels['io.kubernetes.pod.uid']}/volumes/kubernetes.io~empty-dir/eat`;
  const eat = (times: number) => writeFile(`${volume}/n`, String(times));
  await eat(2);
  const before = await untilKills(place, 'asked', 2);
  // The state is written a moment after the event: a kubelet that is killed in between reports again rather than never.
  await until('both kills are in the state file', () => savedKills(place, labels['io.kubernetes.pod.uid'] ?? '', 2));
  await place.node.kubelet.kill();
  await eat(1);
  const procs = () =>
    readFile(`${volume}/n`, 'utf8').then(
      () => undefined,
      () => true,
    );
  await until('it eats while there is no kubelet', procs);
  await place.node.kubelet.start();
  const events = await untilKills(place, 'asked', 3);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.equal((await kills(place, 'asked')).length, 3, 'nothing is reported again');
  assert.deepEqual(pidsOf(events).slice(0, 2), pidsOf(before));
  assert.equal(new Set(pidsOf(events)).size, 3);
  assert.equal(await untilCounted(place, 'asked', 'c', 3), 3);
}

/** The world's own cgroup stands for the machine: a kubelet in it has no more memory than that. */
async function reportsTheNode(place: PodNode): Promise<void> {
  const file = `/sys/fs/cgroup/memory/${place.node.world.cgroup}/memory.limit_in_bytes`;
  await place.write('large', {
    volumes: [{ name: 'eat', emptyDir: {} }],
    containers: [
      runs('c', 'until [ -e /eat/now ]; do sleep 0.1; done; dd if=/dev/zero of=/dev/null bs=800M count=1; sleep 1000', {
        volumeMounts: [{ name: 'eat', mountPath: '/eat' }],
      }),
    ],
  });
  const { labels } = await place.running('large', 'c');
  const volume = `${place.node.kubeletDirectory}/pods/${labels['io.kubernetes.pod.uid']}/volumes/kubernetes.io~empty-dir/eat`;
  // The kernel takes no limit below what is in use.
  await writeFile(file, String(500 * 1024 * 1024));
  await writeFile(`${volume}/now`, '');
  const [event = ''] = await untilKills(place, 'large', 1);
  assert.match(event, /Process dd \(pid \d+\) in container c was killed: the node ran out of memory/);
  const pid = pidsOf([event])[0];
  const line = await until('the event of the node', async () => {
    const log = await readFile(place.node.kubelet.logFile, 'utf8');
    return log.split('\n').find((one) => one.includes('reason="SystemOOM"') && one.includes(`pid: ${pid}`));
  });
  assert.match(line, /kind="Node".*message="System OOM encountered, victim process: dd, pid: \d+"/);
}

test('processes killed for lack of memory', async (t) => {
  const place = await podNode(t, { config: CONFIG });
  await t.test('are reported, main process or child', () => reportsChildrenAndMainProcesses(place));
  await t.test('are counted over restarts of the container', () => countsOverRestarts(place));
  await t.test('are not lost in a burst', () => losesNothingInABurst(place));
  await t.test('are reported once over restarts of the kubelet', () => remembersOverKubeletRestarts(place));
  await t.test('are those of the node where its memory is short', () => reportsTheNode(place));
});
