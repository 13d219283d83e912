/** What a node can run out of: space, room for pods, kinds of volumes. Clear events, and other pods unharmed. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { idles } from './better-support.ts';
import { type PodNode, podNode, until } from './pod-support.ts';

const FULL = /no space left on device/;

const FILL = `
dd if=/dev/zero of="$1/ballast-$$" bs=4k 2>/dev/null
n=0
while touch "$1/ballast-$$-$n" 2>/dev/null; do n=$((n + 1)); done
`;

/** Takes what is left of a small file system of the world: its space, and its files. Answers how to make room again. */
async function fill({ node }: PodNode, directory: string): Promise<() => Promise<void>> {
  // Again, where the kubelet gave back what it had used for a moment.
  await until('the file system is full', async () => {
    await node.exec(['sh', '-c', FILL, 'sh', directory]);
    const { stdout } = await node.exec(['df', '--output=avail,iavail', directory]);
    return /\s0\s+0\s*$/.test(stdout) ? true : undefined;
  });
  return async () => {
    await node.exec(['sh', '-c', 'rm "$1"/ballast*', 'sh', directory]);
  };
}

for (const what of ['kubelet', 'pod logs'] as const) {
  test(`a full disk (${what}): new pods wait and say why, old ones live on, and all is well when there is room`, async (t) => {
    const place = await podNode(t, { kubelet: 'none' });
    const { node } = place;
    const directory = join(node.world.directory, 'small disk');
    const mounted = await node.exec([
      'sh',
      '-ec',
      'mkdir -p "$1" && mount -t tmpfs -o size=2m,nr_inodes=300 tmpfs "$1"',
      'sh',
      directory,
    ]);
    assert.equal(mounted.code, 0, mounted.stderr);
    await node.kubelet.start(
      what === 'kubelet' ? { flags: ['-v=2', `--root-dir=${directory}`] } : { config: { podLogsDir: directory } },
    );
    await place.write('before', { containers: [idles('c')] });
    const { id } = await place.running('before', 'c');
    const makeRoom = await fill(place, directory);
    const probe = { exec: { command: ['true'] }, periodSeconds: 1 };
    await place.write('after', { containers: [idles('c', { readinessProbe: probe })] });
    await place.untilEvent('after', FULL);
    assert.equal((await node.kubelet.healthz()).status, 200);
    assert.equal((await place.running('before', 'c')).id, id);
    await makeRoom();
    await place.running('after', 'c');
    assert.equal((await place.running('before', 'c')).id, id);
    assert.ok(node.kubelet.isRunning());
  });
}

test('a volume of a kind that no one knows here: its pod waits and says why, the others run', async (t) => {
  const place = await podNode(t);
  const volumeMounts = [{ name: 'v', mountPath: '/v' }];
  const kinds = [
    { nfs: { server: '192.0.2.99', path: '/x' } },
    { iscsi: { targetPortal: '192.0.2.99', iqn: 'iqn.2001-04.com.example:x', lun: 0 } },
    { hostPath: { path: '/no/such/path', type: 'Directory' } },
  ];
  for (const [index, kind] of kinds.entries()) {
    const [name = ''] = Object.keys(kind);
    await place.write(`with${index}`, {
      containers: [idles('c', { volumeMounts })],
      volumes: [{ name: 'v', ...kind }],
    });
    const event = await place.untilEvent(`with${index}`, /^FailedMount: /);
    assert.match(event, /MountVolume.SetUp failed for volume \\"v\\" : /, name);
    assert.match(event, name === 'hostPath' ? /no\/such\/path/ : new RegExp(name), 'the event names what is wrong');
    assert.deepEqual(await place.sandboxes(`with${index}`), [], 'nothing of it was started');
  }
  await place.write('good', { containers: [idles('c')] });
  await place.running('good', 'c');
});

const MANY = 10_000;
const ROOM = 3;
/** About a second on a machine that has time. Far more than a busy machine needs: the test is about answers that do not come. */
const ANSWERED_WITHIN_MS = 60_000;

test('a file with ten thousand pods: the kubelet answers all the time, and takes as many as it may', async (t) => {
  const place = await podNode(t, { config: { maxPods: ROOM } });
  const { node } = place;
  const pod = (index: number) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `many-${index}` },
    spec: { terminationGracePeriodSeconds: 1, containers: [idles('c')] },
  });
  const items = Array.from({ length: MANY }, (_, index) => pod(index));
  const began = performance.now();
  // YAML documents take longer to read than a List in JSON: the harder case.
  const text = items.map((item) => `---\n${JSON.stringify(item)}\n`).join('');
  await writeFile(join(node.manifestsDirectory, 'many.yaml'), text);

  const slowest = { ms: 0 };
  const watching = new AbortController();
  const watched = watchHealth(place, slowest, watching.signal);
  const alive = async () => (await place.cri.sandboxes.list(undefined, AbortSignal.timeout(30_000))).length;
  await until('as many run as may', async () => ((await alive()) >= ROOM ? true : undefined), 120_000);
  t.diagnostic(`the first ${ROOM} ran after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  await until(
    'the last one was turned away',
    async () => ((await place.events(`many-${MANY - 1}`)).length > 0 ? true : undefined),
    200_000,
  );
  t.diagnostic(`all were judged after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  watching.abort();
  await watched;
  t.diagnostic(`the slowest answer of /healthz took ${slowest.ms.toFixed(0)} ms`);
  assert.ok(slowest.ms < ANSWERED_WITHIN_MS, `/healthz took ${slowest.ms} ms`);
  assert.equal(await alive(), ROOM);
});

async function watchHealth({ node }: PodNode, slowest: { ms: number }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const asked = performance.now();
    assert.equal((await node.kubelet.healthz('/healthz/ping')).status, 200);
    slowest.ms = Math.max(slowest.ms, performance.now() - asked);
    await delay(50);
  }
}
