/** Volumes of static pods on a real runtime: what is on the node, what a container sees, and what is left after. */
import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type PodNode, podNode, runs, stays, until } from './pod-support.ts';
import { RUNTIMES } from './runtimes.ts';
import { finished, mountsIn, podDirectory, readLog } from './volumes-support.ts';

const permissions = async (path: string): Promise<string> => {
  const { mode, uid, gid } = await lstat(path);
  return `${(mode & 0o7777).toString(8)} ${uid}:${gid}`;
};

for (const runtime of RUNTIMES) {
  test(`volumes on ${runtime}`, async (t) => {
    const place = await podNode(t, { runtime });
    await t.test('emptyDir: disk, memory with its size, fsGroup', (st) => emptyDirs(st, place));
    await t.test('hostPath: every type, two pods on one', (st) => hostPaths(st, place));
    await t.test('subPath and subPathExpr', (st) => subPaths(st, place));
    await t.test('read-only and shared between containers', (st) => shared(st, place));
    await t.test('a failed mount is told and tried again', (st) => failing(st, place));
    await t.test('mounts that come later: propagation', (st) => propagation(st, place));
    if (runtime !== 'containerd-2.4') return;
    await t.test('read-only all the way down', (st) => readOnlyBelow(st, place));
    await t.test('users of its own: files belong to root on both sides', (st) => ownUsers(st, place));
    await t.test('a container that starts again gets what its subPath is now', (st) => restarted(st, place));
  });
}

async function emptyDirs(_: TestContext, place: PodNode): Promise<void> {
  const script = `cat /proc/self/mountinfo; for d in /e /m /s; do stat -c '%n %a %u:%g' $d; echo hello > $d/f; done; df -k /m | tail -1; echo done; trap "exit 0" TERM; sleep 1000 & wait`;
  const mounts = ['e', 'm', 's'].map((name) => ({ name, mountPath: `/${name}` }));
  const file = await place.write('empty', {
    securityContext: { fsGroup: 3000 },
    terminationGracePeriodSeconds: 1,
    containers: [runs('c', script, { volumeMounts: mounts, resources: { limits: { memory: '64Mi', cpu: '1' } } })],
    volumes: [
      { name: 'e', emptyDir: {} },
      { name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } },
      { name: 's', emptyDir: { medium: 'Memory' } },
    ],
  });
  await place.running('empty', 'c');
  const log = await readLog(place, 'empty', 'c', 'done');
  assert.match(log, /\/e 2777 0:3000/);
  assert.match(log, /\/m 3777 0:3000/);
  assert.match(log, / \/m rw,relatime .* tmpfs tmpfs rw,size=8192k,/);
  assert.match(log, / \/s rw,relatime .* tmpfs tmpfs rw,size=65536k,/, 'as much as the pod may have');
  const directory = await podDirectory(place, 'empty');
  const volumes = join(directory, 'volumes/kubernetes.io~empty-dir');
  assert.equal(await permissions(volumes), '755 0:0');
  assert.equal(await permissions(join(volumes, 'e')), '2777 0:3000');
  assert.equal(await readFile(join(volumes, 'e/f'), 'utf8'), 'hello\n');
  for (const name of ['e', 'm', 's']) {
    assert.equal(await permissions(join(directory, 'plugins/kubernetes.io~empty-dir', name, 'ready')), '644 0:0');
  }
  assert.equal((await mountsIn(place, 'empty-dir/')).length, 2);
  await finished(place, 'empty', file, directory);
  assert.equal((await mountsIn(place, 'empty-dir/')).length, 0);
}

async function hostPaths(_: TestContext, place: PodNode): Promise<void> {
  const root = join(place.node.world.directory, 'host paths');
  await mkdir(join(root, 'there'), { recursive: true });
  await writeFile(join(root, 'file'), 'old');
  const good = {
    none: { path: join(root, 'there') },
    dir: { path: join(root, 'there'), type: 'Directory' },
    make: { path: join(root, 'a/b'), type: 'DirectoryOrCreate' },
    file: { path: join(root, 'file'), type: 'File' },
    touch: { path: join(root, 'new'), type: 'FileOrCreate' },
    char: { path: '/dev/null', type: 'CharDevice' },
    sock: { path: place.node.runtimeSocket.replace(/^unix:\/\//, ''), type: 'Socket' },
  };
  const names = Object.keys(good);
  const spec = (word: string) => ({
    terminationGracePeriodSeconds: 1,
    containers: [
      runs(
        'c',
        `echo ${word} >> /none/words; until [ $(wc -l < /none/words) = 2 ]; do sleep 0.05; done; echo done; trap "exit 0" TERM; sleep 1000 & wait`,
        {
          volumeMounts: names.map((name) => ({ name, mountPath: `/${name}` })),
        },
      ),
    ],
    volumes: Object.entries(good).map(([name, hostPath]) => ({ name, hostPath })),
  });
  const files = [await place.write('host1', spec('one')), await place.write('host2', spec('two'))];
  for (const pod of ['host1', 'host2']) await readLog(place, pod, 'c', 'done');
  assert.equal(await permissions(join(root, 'a/b')), '755 0:0');
  assert.equal(await permissions(join(root, 'new')), '644 0:0');
  const bad = [
    ['Directory', 'file', 'is not a directory'],
    ['File', 'there', 'is not a file'],
    ['Socket', 'file', 'is not a socket file'],
    ['CharDevice', 'file', 'is not a character device'],
    ['BlockDevice', 'missing', 'is not a block device'],
    ['Directory', 'missing', 'is not a directory'],
  ];
  const waiting = await Promise.all(
    bad.map(async ([type, name, text], index) => {
      const hostPath = { path: join(root, name ?? ''), type };
      const written = await place.write(`bad${index}`, {
        containers: [stays('c')],
        volumes: [{ name: 'v', hostPath }],
      });
      await place.untilEvent(`bad${index}`, new RegExp(`FailedMount.*SetUp failed for volume .*"v.*${text}`));
      return written;
    }),
  );
  await Promise.all([
    finished(place, 'host1', files[0] ?? ''),
    finished(place, 'host2', files[1] ?? ''),
    ...waiting.map((written, index) => finished(place, `bad${index}`, written)),
  ]);
  assert.equal(
    await readFile(join(root, 'there/words'), 'utf8').then((text) => text.split('\n').length),
    3,
    'it stays',
  );
}

async function subPaths(_: TestContext, place: PodNode): Promise<void> {
  const root = join(place.node.world.directory, 'sub');
  await mkdir(join(root, 'conf'), { recursive: true });
  await writeFile(join(root, 'conf/app.conf'), 'a=1\n');
  const script = `cat /proc/self/mountinfo | grep -E ' /(a|b|f) '; cat /f; echo 1 > /a/x; echo done; trap "exit 0" TERM; sleep 1000 & wait`;
  const file = await place.write('sub', {
    terminationGracePeriodSeconds: 1,
    containers: [
      runs('c', script, {
        env: [{ name: 'WHO', value: 'me' }],
        volumeMounts: [
          { name: 'e', mountPath: '/a', subPath: 'x/y' },
          { name: 'e', mountPath: '/b', subPathExpr: 'u-$(WHO)' },
          { name: 'h', mountPath: '/f', subPath: 'conf/app.conf', readOnly: true },
        ],
      }),
    ],
    volumes: [
      { name: 'e', emptyDir: {} },
      { name: 'h', hostPath: { path: root } },
    ],
  });
  const log = await readLog(place, 'sub', 'c', 'done');
  assert.match(log, /a=1/);
  assert.match(log, /kubernetes.io~empty-dir\/e\/x\/y \/a rw/);
  assert.match(log, /kubernetes.io~empty-dir\/e\/u-me \/b rw/);
  assert.match(log, /sub\/conf\/app.conf \/f ro/);
  const directory = await podDirectory(place, 'sub');
  const e = join(directory, 'volumes/kubernetes.io~empty-dir/e');
  for (const name of ['x', 'x/y', 'u-me']) assert.equal(await permissions(join(e, name)), '777 0:0', name);
  for (const name of ['', 'e', 'e/c', 'h', 'h/c']) {
    assert.equal(await permissions(join(directory, 'volume-subpaths', name)), '750 0:0', name);
  }
  assert.equal((await mountsIn(place, 'volume-subpaths/')).length, 3);
  await finished(place, 'sub', file, directory);
  assert.equal((await mountsIn(place, 'volume-subpaths/')).length, 0);
  assert.equal(await readFile(join(root, 'conf/app.conf'), 'utf8'), 'a=1\n', 'the node keeps its file');
}

async function shared(_: TestContext, place: PodNode): Promise<void> {
  const volumeMounts = [{ name: 'e', mountPath: '/e' }];
  const file = await place.write('shared', {
    terminationGracePeriodSeconds: 1,
    initContainers: [runs('i', 'echo first > /e/word', { volumeMounts })],
    containers: [
      runs('w', 'cat /e/word; echo second >> /e/word; echo done; trap "exit 0" TERM; sleep 1000 & wait', {
        volumeMounts,
      }),
      runs(
        'r',
        'until grep -q second /e/word; do sleep 0.05; done; touch /e/no 2>&1; echo done; trap "exit 0" TERM; sleep 1000 & wait',
        {
          volumeMounts: [{ name: 'e', mountPath: '/e', readOnly: true }],
        },
      ),
    ],
    volumes: [{ name: 'e', emptyDir: {} }],
  });
  assert.match(await readLog(place, 'shared', 'w', 'done'), /first/);
  assert.match(await readLog(place, 'shared', 'r', 'done'), /Read-only file system/);
  await finished(place, 'shared', file);
}

async function failing(_: TestContext, place: PodNode): Promise<void> {
  const path = join(place.node.world.directory, 'comes later');
  const file = await place.write('late', {
    terminationGracePeriodSeconds: 1,
    containers: [stays('c', { volumeMounts: [{ name: 'h', mountPath: '/h' }] })],
    volumes: [{ name: 'h', hostPath: { path, type: 'Directory' } }],
  });
  await until('told at least three times', async () => {
    const events = (await place.events('late')).filter((event) => event.startsWith('FailedMount'));
    return events.length > 0 ? events : undefined;
  });
  await mkdir(path);
  await place.running('late', 'c');
  await finished(place, 'late', file);
  assert.deepEqual(await readdir(path), [], 'the path of the node is left as it is');
}

async function propagation(_: TestContext, place: PodNode): Promise<void> {
  const { node } = place;
  const root = join(node.world.directory, 'propagates');
  const prepared = await node.exec([
    'sh',
    '-ec',
    'mkdir -p "$1/in" "$1/out" && mount --bind "$1" "$1" && mount --make-shared "$1"',
    'sh',
    root,
  ]);
  assert.equal(prepared.code, 0, prepared.stderr);
  const script = `mount -t tmpfs made /both/out && echo hi > /both/out/word; until [ -e /down/in/word ]; do sleep 0.05; done; ls /none/in; echo done; trap 'umount /both/out; exit 0' TERM; sleep 1000 & wait`;
  const file = await place.write('spread', {
    terminationGracePeriodSeconds: 5,
    containers: [
      runs('c', script, {
        securityContext: { privileged: true },
        volumeMounts: [
          { name: 'h', mountPath: '/both', mountPropagation: 'Bidirectional' },
          { name: 'h', mountPath: '/down', mountPropagation: 'HostToContainer' },
          { name: 'h', mountPath: '/none' },
        ],
      }),
    ],
    volumes: [{ name: 'h', hostPath: { path: root } }],
  });
  await until('the container has mounted something', async () => {
    const { stdout } = await node.exec(['cat', `${root}/out/word`]);
    return stdout === 'hi\n' ? true : undefined;
  });
  await node.exec(['sh', '-ec', 'mount -t tmpfs later "$1/in"; touch "$1/in/word"', 'sh', root]);
  const log = await readLog(place, 'spread', 'c', 'done');
  assert.doesNotMatch(log, /stdout F word/, 'a private mount sees nothing of it');
  await finished(place, 'spread', file);
  await node.exec(['umount', '-R', root]);
}

async function readOnlyBelow(_: TestContext, place: PodNode): Promise<void> {
  const { node } = place;
  const root = join(node.world.directory, 'read only');
  await node.exec(['sh', '-ec', 'mkdir -p "$1/sub"; mount -t tmpfs below "$1/sub"', 'sh', root]);
  const mount = (name: string, more: object) => ({ name: 'h', mountPath: `/${name}`, readOnly: true, ...more });
  const file = await place.write('rro', {
    terminationGracePeriodSeconds: 1,
    containers: [
      runs(
        'c',
        'for d in plain deep; do touch /$d/f /$d/sub/$d 2>&1; done; echo done; trap "exit 0" TERM; sleep 1000 & wait',
        {
          volumeMounts: [mount('plain', {}), mount('deep', { recursiveReadOnly: 'Enabled' })],
        },
      ),
    ],
    volumes: [{ name: 'h', hostPath: { path: root } }],
  });
  const log = await readLog(place, 'rro', 'c', 'done');
  assert.match(log, /\/plain\/f: Read-only/);
  assert.match(log, /\/deep\/f: Read-only/);
  assert.match(log, /\/deep\/sub\/deep: Read-only/);
  const { stdout } = await node.exec(['ls', `${root}/sub`]);
  assert.equal(stdout, 'plain\n', 'without it, only the first mount is');
  await finished(place, 'rro', file);
  await node.exec(['umount', `${root}/sub`]);
}

async function ownUsers(_: TestContext, place: PodNode): Promise<void> {
  const host = join(place.node.world.directory, 'of the node');
  await mkdir(host);
  await writeFile(join(host, 'word'), 'of root\n', { mode: 0o600 });
  const script = `cat /proc/self/uid_map; for d in /e /m /s /h; do echo x > $d/f; stat -c '%n %u:%g' $d $d/f; done
    cat /h/word /d/name; stat -Lc '%n %a %u:%g' /d/name; touch /d/f 2>&1; echo done; trap "exit 0" TERM; sleep 1000 & wait`;
  const file = await place.write('users', {
    hostUsers: false,
    terminationGracePeriodSeconds: 1,
    securityContext: { fsGroup: 3000 },
    containers: [
      runs('c', script, {
        volumeMounts: [
          { name: 'e', mountPath: '/e' },
          { name: 'm', mountPath: '/m' },
          { name: 'e', mountPath: '/s', subPath: 'sub' },
          { name: 'h', mountPath: '/h' },
          { name: 'd', mountPath: '/d' },
        ],
      }),
    ],
    volumes: [
      { name: 'e', emptyDir: {} },
      { name: 'm', emptyDir: { medium: 'Memory' } },
      { name: 'h', hostPath: { path: host, type: 'Directory' } },
      { name: 'd', downwardAPI: { items: [{ path: 'name', mode: 0o400, fieldRef: { fieldPath: 'metadata.name' } }] } },
    ],
  });
  const log = await readLog(place, 'users', 'c', 'done');
  assert.match(log, / 0 +[1-9]\d{4,} +65536/, 'root inside is somebody else outside');
  for (const name of ['/e', '/m', '/s']) {
    assert.match(log, new RegExp(`${name} 0:3000`), log);
    assert.match(log, new RegExp(`${name}/f 0:3000`), log);
  }
  assert.match(log, /of root/, 'a path of the node is mapped too');
  assert.match(log, /\/h\/f 0:0/);
  assert.match(log, /users-/);
  assert.match(log, /\/d\/name 440 0:3000/);
  assert.match(log, /\/d\/f: Read-only file system/);
  const directory = await podDirectory(place, 'users');
  const e = join(directory, 'volumes/kubernetes.io~empty-dir/e');
  assert.equal(await permissions(join(e, 'f')), '644 0:3000');
  assert.equal(await permissions(join(e, 'sub/f')), '644 0:3000');
  assert.equal(await permissions(join(host, 'f')), '644 0:0');
  await finished(place, 'users', file, directory);
}

async function restarted(_: TestContext, place: PodNode): Promise<void> {
  const root = join(place.node.world.directory, 'changes');
  await mkdir(join(root, 'v1'), { recursive: true });
  await mkdir(join(root, 'v2'));
  for (const name of ['v1', 'v2']) await writeFile(join(root, name, 'word'), `${name} here\n`);
  await symlink('v1', join(root, '..data'));
  await symlink('..data/word', join(root, 'word'));
  const file = await place.write('again', {
    terminationGracePeriodSeconds: 1,
    containers: [
      runs(
        'c',
        'cat /word; [ -e /h/go ] && { echo done; trap "exit 0" TERM; sleep 1000 & wait; }; until [ -e /h/go ]; do sleep 0.05; done',
        {
          volumeMounts: [
            { name: 'h', mountPath: '/word', subPath: 'word' },
            { name: 'h', mountPath: '/h' },
          ],
        },
      ),
    ],
    volumes: [{ name: 'h', hostPath: { path: root } }],
  });
  await readLog(place, 'again', 'c', 'v1 here');
  await symlink('v2', join(root, '..new'));
  await rename(join(root, '..new'), join(root, '..data'));
  await writeFile(join(root, 'go'), '');
  assert.match(await readLog(place, 'again', 'c', 'done'), /v2 here/);
  await until('the old one is gone', async () =>
    (await mountsIn(place, 'volume-subpaths/')).length === 1 ? true : undefined,
  );
  await finished(place, 'again', file);
}
