/** Volumes when things go wrong: mounts of others in the way, a file system that hangs, a kubelet that is killed in any phase. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ContainerState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { idles, type ProxiedNode, proxiedNode } from './better-support.ts';
import { type PodNode, runs, until } from './pod-support.ts';
import { finished, isGone, mountsIn, podDirectory, readLog } from './volumes-support.ts';

const FUSE_SERVER = resolve(import.meta.dirname, 'fuse-main.ts');
const quick = { terminationGracePeriodSeconds: 1 };

test('volumes and faults', { timeout: 600_000 }, async (t) => {
  const place = await proxiedNode(t);
  await t.test('what others have mounted into a volume is never deleted', (st) => dataLoss(st, place));
  await t.test('a volume that is in use is taken away when it is free', (st) => busy(st, place));
  await t.test('an attacker who exchanges directories for links sees nothing of the node', (st) => attack(st, place));
  await t.test('a file system that hangs holds up no one else', (st) => hung(st, place));
  await t.test('200 volumes on a node', (st) => many(st, place));
  await t.test('killed in each phase, the kubelet finds its way', (st) => killed(st, place));
  await t.test('huge pages', (st) => hugePages(st, place));
  await t.test('a volume that fills the disk gives it back', (st) => full(st, place));
  assert.deepEqual(await mountsIn(place, '/volumes/'), []);
  assert.deepEqual(await readdir(join(place.node.kubeletDirectory, 'pods')), []);
});

async function dataLoss(_: TestContext, place: PodNode): Promise<void> {
  const { node } = place;
  const precious = join(node.world.directory, 'precious');
  await mkdir(join(precious, 'deep'), { recursive: true });
  await writeFile(join(precious, 'deep/data'), 'years of work');
  const volumeMounts = [
    { name: 'e', mountPath: '/e' },
    { name: 'm', mountPath: '/m' },
  ];
  const file = await place.write('loss', {
    ...quick,
    containers: [
      runs('c', 'mkdir -p /e/a/b /e/c /m/a; echo done; trap "exit 0" TERM; sleep 1000 & wait', { volumeMounts }),
    ],
    volumes: [
      { name: 'e', emptyDir: {} },
      { name: 'm', emptyDir: { medium: 'Memory' } },
    ],
  });
  await readLog(place, 'loss', 'c', 'done');
  const directory = await podDirectory(place, 'loss');
  const inside = directory.replace(node.kubeletDirectory, '/var/lib/kubelet');
  const e = `${inside}/volumes/kubernetes.io~empty-dir/e`;
  // One in plain sight, one below a mount that hides it, one on the tmpfs, one where the kubelet keeps its own notes.
  const script = `mount --bind "$1" "$2/a/b"; mount --bind "$1" "$2/c"; mount -t tmpfs hides "$2/c"; mount --bind "$1" "$3/volumes/kubernetes.io~empty-dir/m/a"; mkdir "$3/plugins/x"; mount --bind "$1" "$3/plugins/x"`;
  const mounted = await node.exec(['sh', '-ec', script, 'sh', precious, e, inside]);
  assert.equal(mounted.code, 0, mounted.stderr);
  await rm(file);
  await place.gone('loss');
  await until('the kubelet has tried, and says why it does not', async () =>
    /can't be removed: .*mounted/.test(await readFile(node.kubelet.logFile, 'utf8')) ? true : undefined,
  );
  await delay(1000);
  assert.equal(await readFile(join(precious, 'deep/data'), 'utf8'), 'years of work');
  assert.equal(await isGone(directory), undefined, 'the directory waits');
  const unmount = `for p in "$1/a/b" "$1/c" "$2/volumes/kubernetes.io~empty-dir/m/a" "$2/plugins/x"; do while umount "$p" 2>/dev/null; do :; done; done`;
  const freed = await node.exec(['sh', '-c', unmount, 'sh', e, inside]);
  assert.equal(freed.code, 0, freed.stderr);
  await until('the directory is gone', () => isGone(directory));
  assert.equal(await readFile(join(precious, 'deep/data'), 'utf8'), 'years of work');
}

async function busy(_: TestContext, place: PodNode): Promise<void> {
  const { node } = place;
  const file = await place.write('busy', {
    ...quick,
    containers: [idles('c', { volumeMounts: [{ name: 'm', mountPath: '/m' }] })],
    volumes: [{ name: 'm', emptyDir: { medium: 'Memory' } }],
  });
  await place.running('busy', 'c');
  const directory = await podDirectory(place, 'busy');
  const inside = directory.replace(node.kubeletDirectory, '/var/lib/kubelet');
  const user = await node.start({
    name: 'user',
    argv: ['sh', '-c', `cd ${inside}/volumes/kubernetes.io~empty-dir/m && echo is inside && exec sleep 1000`],
  });
  await user.waitForLog(/is inside/, 120_000);
  await rm(file);
  await place.gone('busy');
  await until('the kubelet says why', async () => {
    const log = await readFile(node.kubelet.logFile, 'utf8');
    return /umount2 .*\/m: resource busy or locked/.test(log) ? true : undefined;
  });
  assert.equal((await mountsIn(place, '/empty-dir/m')).length, (await mountsIn(place, '~empty-dir/m')).length - 1);
  user.kill('SIGKILL');
  await until('the directory is gone', () => isGone(directory));
}

async function attack(_: TestContext, place: PodNode): Promise<void> {
  const { node } = place;
  const shared = join(node.world.directory, 'shared');
  const secret = join(node.world.directory, 'node secret');
  await mkdir(join(shared, 'swap'), { recursive: true });
  await mkdir(secret);
  await writeFile(join(secret, 'word'), 'outside');
  await writeFile(join(shared, 'swap/word'), 'inside');
  const volumes = [{ name: 'h', hostPath: { path: shared } }];
  // Up to the directory itself, and to the node's secret by its whole name: links that a container can make.
  const swap = `cd /h; ln -s "${secret}" link; echo ready; while true; do mv -T swap spare; mv -T link swap; mv -T swap link; mv -T spare swap; done`;
  const attackers = await place.write('attacker', {
    ...quick,
    containers: [runs('c', swap, { volumeMounts: [{ name: 'h', mountPath: '/h' }] })],
    volumes,
  });
  await readLog(place, 'attacker', 'c', 'ready');
  const victims = Array.from({ length: 12 }, (_unused, index) => `victim${index}`);
  const look = 'cat /v/word /v/*/word 2>/dev/null; ls /v; echo " seen"; trap "exit 0" TERM; sleep 1000 & wait';
  const files = await Promise.all(
    victims.map((name, index) =>
      place.write(name, {
        ...quick,
        containers: [
          runs('c', look, {
            volumeMounts: [{ name: 'h', mountPath: '/v', subPath: index % 2 === 0 ? 'swap' : `swap/made${index}` }],
          }),
        ],
        volumes,
      }),
    ),
  );
  const outcomes = await Promise.all(
    victims.map(async (name) => {
      const seen = await until(`${name} runs or is refused`, async () => {
        const [container] = await place.containers(name, 'c');
        if (container !== undefined) return await readLog(place, name, 'c', 'seen');
        return (await place.events(name)).find((event) => /failed to prepare subPath/.test(event));
      });
      return seen;
    }),
  );
  for (const outcome of outcomes) assert.doesNotMatch(outcome, /outside/);
  assert.ok(outcomes.some((outcome) => /inside|made|seen/.test(outcome)));
  assert.deepEqual(await readdir(secret), ['word'], 'nothing was made outside');
  await Promise.all([
    finished(place, 'attacker', attackers),
    ...victims.map((name, index) => finished(place, name, files[index] ?? '')),
  ]);
  assert.deepEqual(await readdir(secret), ['word']);
}

/** A pod with volumes of its own comes and goes. */
async function live(place: PodNode, name: string): Promise<void> {
  const file = await place.write(name, {
    ...quick,
    containers: [idles('c', { volumeMounts: [{ name: 'm', mountPath: '/m' }] })],
    volumes: [
      { name: 'm', emptyDir: { medium: 'Memory' } },
      { name: 'e', emptyDir: {} },
    ],
  });
  await place.running(name, 'c');
  const directory = await podDirectory(place, name);
  await rm(file);
  await until(`${directory} is gone`, () => isGone(directory));
}

/** More than the threads that Node has for file operations: if each stuck pod held one, nothing would go on. */
const STUCK = 6;

async function hung(_: TestContext, place: PodNode): Promise<void> {
  const { node } = place;
  const far = join(node.world.directory, 'far');
  await mkdir(far);
  const argv = [process.execPath, '--disable-warning=ExperimentalWarning', FUSE_SERVER, far];
  const server = await node.start({ name: 'fuse', argv });
  await until('the file system is mounted', async () =>
    (await node.exec(['cat', `${far}/file`])).stdout === 'from afar\n' ? true : undefined,
  );
  const spec = (more: object, type?: string) => ({
    ...quick,
    containers: [idles('c', { volumeMounts: [{ name: 'h', mountPath: '/h', ...more }] })],
    volumes: [{ name: 'h', hostPath: { path: far, ...(type === undefined ? {} : { type }) } }],
  });
  const requests = [spec({}, 'Directory'), spec({ subPath: 'file' }), spec({})];
  const before = await place.write('reads', spec({ subPath: 'file' }, 'Directory'));
  await place.running('reads', 'c');
  const readsDirectory = await podDirectory(place, 'reads');
  server.kill('SIGSTOP');
  const stuck = Array.from({ length: STUCK }, (_unused, index) => `stuck${index}`);
  const files = await Promise.all(stuck.map((name, index) => place.write(name, requests[index % 3] ?? {})));
  for (const name of ['beside1', 'beside2']) await live(place, name);
  for (const name of stuck) assert.equal((await place.sandboxes(name)).length, 0, `${name} waits for its volume`);
  // Those that wait can be removed.
  for (const file of files.slice(1)) await rm(file);
  await live(place, 'beside3');
  assert.equal((await node.kubelet.healthz()).status, 200);
  // A pod whose mount hangs goes all the same.
  await rm(before);
  await until(`${readsDirectory} is gone`, () => isGone(readsDirectory));
  server.kill('SIGCONT');
  await place.running('stuck0', 'c');
  await finished(place, 'stuck0', join(node.manifestsDirectory, 'stuck0.yaml'));
  server.kill('SIGKILL');
  await node.exec(['umount', '-l', far]);
}

async function many(t: TestContext, place: PodNode): Promise<void> {
  const pods = Array.from({ length: 10 }, (_, index) => `many${index}`);
  const names = Array.from({ length: 20 }, (_, index) => `v${index}`);
  const volumes = names.map((name, index) => ({
    name,
    emptyDir: index < 10 ? { medium: 'Memory', sizeLimit: '1Mi' } : {},
  }));
  const volumeMounts = names.map((name) => ({ name, mountPath: `/${name}` }));
  const began = performance.now();
  const files = await Promise.all(
    pods.map((name) => place.write(name, { ...quick, containers: [idles('c', { volumeMounts })], volumes })),
  );
  await Promise.all(pods.map((name) => place.running(name, 'c')));
  t.diagnostic(`10 pods with 20 volumes each run after ${(performance.now() - began).toFixed(0)} ms`);
  assert.equal((await mountsIn(place, '~empty-dir/v')).length, 100);
  await Promise.all(pods.map((name, index) => finished(place, name, files[index] ?? '')));
  assert.equal((await mountsIn(place, '~empty-dir/v')).length, 0);
}

/** The calls to the runtime around which a pod with volumes begins, and those around which it ends. */
const BEGINNINGS = ['RunPodSandbox', 'CreateContainer', 'StartContainer'] as const;
const ENDINGS = ['StopContainer', 'StopPodSandbox', 'RemovePodSandbox'] as const;

/** In each phase: the kubelet waits for the answer to a call when it is killed, and the runtime has never seen that call. */
async function killed(_: TestContext, place: ProxiedNode): Promise<void> {
  for (const [round, beginning] of BEGINNINGS.entries()) {
    const ending = ENDINGS[round] ?? 'StopContainer';
    const name = `killed${round}`;
    const mounts = {
      volumeMounts: [
        { name: 'm', mountPath: '/m' },
        { name: 'e', mountPath: '/e', subPath: 'a/b' },
      ],
    };
    const spec = {
      ...quick,
      containers: [runs('c', `trap 'exit 0' TERM; echo x > /m/f; echo x > /e/f; echo done; sleep 1000 & wait`, mounts)],
      volumes: [
        { name: 'm', emptyDir: { medium: 'Memory' } },
        { name: 'e', emptyDir: {} },
      ],
    };
    const [file = ''] = await Promise.all([place.write(name, spec), killedDuring(place, beginning)]);
    // Whichever attempt: containerd gives up a start whose caller is gone.
    await until(`${name} runs`, async () => {
      const [newest] = await place.containers(name, 'c');
      return newest?.state === ContainerState.CONTAINER_RUNNING ? true : undefined;
    });
    await readLog(place, name, 'c', 'done');
    const directory = await podDirectory(place, name);
    assert.equal((await mountsIn(place, '~empty-dir/m rw')).length, 1, 'mounted once');
    await Promise.all([rm(file), killedDuring(place, ending)]);
    await place.gone(name);
    await until(`${directory} is gone`, () => isGone(directory));
  }
  assert.deepEqual(await mountsIn(place, '/volume'), []);
}

/** Kills the kubelet while it waits for such a call, and starts it again. */
async function killedDuring({ node, proxy }: ProxiedNode, call: string): Promise<void> {
  const before = proxy.calls().length;
  const isIt = ({ path }: { readonly path: string }) => path.endsWith(`/${call}`);
  proxy.hold(isIt);
  await until(`${call} is asked for`, () => (proxy.calls().slice(before).some(isIt) ? true : undefined));
  await node.kubelet.kill('SIGKILL');
  proxy.release();
  await node.kubelet.start({ config: { containerRuntimeEndpoint: proxy.endpoint } });
}

const HUGE_PAGES = '/proc/sys/vm/nr_hugepages';
const PAGES = 4;

/** The machine's own number of huge pages is put back, whatever happens. */
async function hugePages(t: TestContext, place: ProxiedNode): Promise<void> {
  const { node, proxy } = place;
  const restart = async () => {
    await node.kubelet.stop();
    await node.kubelet.start({ config: { containerRuntimeEndpoint: proxy.endpoint } });
  };
  const before = (await readFile(HUGE_PAGES, 'utf8').catch(() => '')).trim();
  t.after(async () => {
    if (before !== '') await writeFile(HUGE_PAGES, before);
  });
  const resources = { limits: { 'hugepages-2Mi': `${2 * PAGES}Mi`, memory: '32Mi', cpu: '100m' } };
  const volumeMounts = ['any', 'named'].map((name) => ({ name, mountPath: `/${name}` }));
  // Files there can't be written, only given pages.
  const script = `grep hugetlbfs /proc/self/mountinfo; fallocate -l 2M /any/f && fallocate -l 4M /named/f; echo "given $?"
    fallocate -l 1G /any/g; echo "too much $?"; trap "exit 0" TERM; sleep 1000 & wait`;
  const spec = {
    ...quick,
    containers: [runs('c', script, { resources, volumeMounts })],
    volumes: [
      { name: 'any', emptyDir: { medium: 'HugePages' } },
      { name: 'named', emptyDir: { medium: 'HugePages-2Mi' } },
    ],
  };
  if (before === '0') {
    const refused = await place.write('no-huge', spec);
    await place.untilEvent('no-huge', /UnexpectedAdmissionError: .*hugepages-2Mi/);
    await finished(place, 'no-huge', refused);
  }
  if (before !== '') await writeFile(HUGE_PAGES, String(Number(before) + PAGES));
  const reserved = Number((await readFile(HUGE_PAGES, 'utf8').catch(() => '0')).trim()) - Number(before);
  if (reserved < PAGES) {
    // The mount itself is proven in src/volumes/directories.test.ts, without any page.
    t.diagnostic(`NOT PROVEN HERE: this machine gave ${reserved} of ${PAGES} huge pages, so no pod can have any`);
    return;
  }
  await restart();
  const file = await place.write('huge', spec);
  const log = await readLog(place, 'huge', 'c', 'too much');
  for (const name of ['any', 'named']) {
    assert.match(log, new RegExp(` /${name} rw,relatime .*- hugetlbfs nodev rw,pagesize=2M`));
  }
  assert.match(log, /given 0/);
  assert.doesNotMatch(log, /too much 0/);
  assert.equal((await mountsIn(place, '- hugetlbfs ')).length, 2);
  await finished(place, 'huge', file);
  assert.equal((await mountsIn(place, '- hugetlbfs ')).length, 0);
  await writeFile(HUGE_PAGES, before);
  await restart();
}

async function full(_: TestContext, place: PodNode): Promise<void> {
  const { node } = place;
  const directory = join(node.world.directory, 'small disk');
  await node.exec(['sh', '-ec', 'mkdir "$1" && mount -t tmpfs -o size=4m tmpfs "$1"', 'sh', directory]);
  await node.kubelet.stop();
  await node.kubelet.start({ flags: ['-v=2', `--root-dir=${directory}`] });
  const volumes = [{ name: 'e', emptyDir: { sizeLimit: '1Mi' } }];
  const volumeMounts = [{ name: 'e', mountPath: '/e' }];
  const script = 'dd if=/dev/zero of=/e/f bs=64k 2>&1; echo done; trap "exit 0" TERM; sleep 1000 & wait';
  const filler = await place.write('filler', { ...quick, containers: [runs('c', script, { volumeMounts })], volumes });
  assert.match(await readLog(place, 'filler', 'c', 'done'), /No space left on device/);
  const next = await place.write('next', { ...quick, containers: [idles('c', { volumeMounts })], volumes });
  await place.untilEvent('next', /no space left on device/);
  await rm(filler);
  await place.gone('filler');
  await place.running('next', 'c');
  await rm(next);
  await place.gone('next');
  await node.kubelet.stop();
  await node.kubelet.start({ flags: ['-v=2'] });
}
