import assert from 'node:assert/strict';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger, type Logger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createHost } from '../host/host.ts';
import type { EventInput } from '../model/event.ts';
import { createSources, type SourcesConfig } from './sources.ts';

const manifest = (name: string, image = 'x:1') =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: c\n    image: ${image}\n`;

/** While a test waits. */
const TICK_MS = 20;
/** Files of this name hold no pod: that one is read shows that all before it were. */
const MARK = 'mark-';

interface Seen {
  readonly pods: readonly Pod[];
  readonly heard: boolean;
}

/** A real directory, real inotify, and everything that was published. Time passes while a test waits for a change, and only then. */
function setUp(
  t: TestContext,
  more: Partial<SourcesConfig> = {},
  beforeStart: (directory: string) => void = () => undefined,
) {
  const root = mkdtempSync(join(tmpdir(), 'kubelet-ts-file-source-'));
  const directory = join(root, 'manifests');
  mkdirSync(directory);
  beforeStart(directory);
  const host = createHost();
  const clock = createManualClock(Date.now());
  const events: EventInput[] = [];
  const lines: string[] = [];
  const seen: Seen[] = [];
  let wake: () => void = () => undefined;
  const note = (message: string, values?: object) => lines.push(`${message} ${JSON.stringify(values)}`);
  const log: Logger = { ...createSilentLogger(), warn: note, error: note, named: () => log };
  const sources = createSources(
    {
      nodeName: 'node1',
      staticPodPath: directory,
      fileCheckFrequencyMs: 20_000,
      staticPodUrl: '',
      staticPodUrlHeader: {},
      httpCheckFrequencyMs: 20_000,
      preventApiReferences: true,
      ...more,
    },
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log,
      inotify: host.files.inotify,
      record: (event) => {
        if (!event.message.includes(MARK)) events.push(event);
        wake();
      },
      onDesired: (pods, heard) => {
        seen.push({ pods, heard });
        wake();
      },
    },
  );
  const waitFor = async (what: string, isTrue: () => boolean, passes = TICK_MS) => {
    const deadline = performance.now() + 60_000;
    while (!isTrue()) {
      const left = deadline - performance.now();
      if (left <= 0) assert.fail(`${what} did not happen; last: ${JSON.stringify(images())}; log: ${lines.join('\n')}`);
      const woken = Promise.withResolvers<void>();
      wake = woken.resolve;
      const timer = setTimeout(woken.resolve, TICK_MS);
      await woken.promise;
      clearTimeout(timer);
      await clock.advance(passes);
    }
  };
  let marks = 0;
  /** Until all that was written before has been read. No time passes meanwhile. */
  const settled = async () => {
    marks += 1;
    const mark = `${MARK}${marks}.yaml`;
    writeFileSync(join(directory, mark), 'no pod');
    await waitFor('the mark', () => lines.some((line) => line.includes(mark)), 0);
  };
  const images = () =>
    Object.fromEntries((seen.at(-1)?.pods ?? []).map((pod) => [pod.metadata.name, pod.spec.containers[0]?.image]));
  const becomes = (expected: Readonly<Record<string, string>>) =>
    waitFor(`pods ${JSON.stringify(expected)}`, () => {
      const now = images();
      const names = Object.keys(now);
      return names.length === Object.keys(expected).length && names.every((name) => now[name] === expected[name]);
    });
  t.after(async () => {
    await sources.stop?.();
    host.files.inotify.close();
    rmSync(root, { recursive: true, force: true });
  });
  const start = async () => {
    await sources.start(new AbortController().signal);
    await waitFor('the first report', () => seen.some(({ heard }) => heard));
  };
  return { root, directory, events, lines, seen, start, waitFor, settled, images, becomes, sources, clock };
}

test('file source: a manifest is seen at once, changed, and gone', async (t) => {
  const { directory, start, becomes, seen, clock } = setUp(t);
  await start();
  assert.deepEqual(
    seen.map(({ pods, heard }) => [pods.length, heard]),
    [[0, true]],
  );
  const before = clock.mono();
  writeFileSync(join(directory, 'web.yaml'), manifest('web'));
  await becomes({ 'web-node1': 'x:1' });
  assert.ok(clock.mono() - before < 20_000, 'before the check interval is over');
  const first = seen.at(-1)?.pods[0]?.metadata.uid;
  writeFileSync(join(directory, 'web.yaml'), manifest('web', 'x:2'));
  await becomes({ 'web-node1': 'x:2' });
  assert.notEqual(seen.at(-1)?.pods[0]?.metadata.uid, first);
  unlinkSync(join(directory, 'web.yaml'));
  await becomes({});
});

test('file source: identity, defaults and marks', async (t) => {
  const { seen, start } = setUp(t, {}, (directory) => writeFileSync(join(directory, 'web'), manifest('web')));
  await start();
  const pod = seen.at(-1)?.pods[0];
  assert.ok(pod);
  const { uid, annotations = {} } = pod.metadata;
  assert.match(uid, /^[0-9a-f]{32}$/);
  assert.equal(annotations['kubernetes.io/config.hash'], uid);
  assert.equal(annotations['kubernetes.io/config.source'], 'file');
  assert.match(annotations['kubernetes.io/config.seen'] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
  assert.equal(pod.metadata.namespace, 'default');
  assert.equal(pod.spec.nodeName, 'node1');
  assert.deepEqual(pod.spec.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }]);
  assert.equal(pod.spec.containers[0]?.imagePullPolicy, 'IfNotPresent');
  assert.equal(pod.status?.phase, 'Pending');
});

test('file source: every visible file counts, editors leftovers do not', async (t) => {
  const names = ['a.yaml', 'b.json', 'c', 'd.manifest', 'e.yaml.bak', 'f.yaml~', 'g.orig', 'h.tmp', 'i.swp', '.hidden'];
  const { start, images } = setUp(t, {}, (directory) => {
    for (const name of names)
      writeFileSync(join(directory, name), manifest(`pod-${name.replace(/^\.|[^a-z].*$/g, '')}`));
    mkdirSync(join(directory, 'subdirectory'));
    writeFileSync(join(directory, 'subdirectory', 'z.yaml'), manifest('z'));
  });
  await start();
  assert.deepEqual(Object.keys(images()), ['pod-a-node1', 'pod-b-node1', 'pod-c-node1', 'pod-d-node1']);
});

test('file source: cp a.yaml a.yaml.bak changes nothing', async (t) => {
  const { directory, seen, events, start, settled } = setUp(t, {}, (at) =>
    writeFileSync(join(at, 'a.yaml'), manifest('a')),
  );
  await start();
  const before = seen.length;
  copyFileSync(join(directory, 'a.yaml'), join(directory, 'a.yaml.bak'));
  await settled();
  assert.equal(seen.length, before);
  assert.deepEqual(events, []);
});

test('file source: JSON, a List, a PodList and several documents in one file', async (t) => {
  const { start, images } = setUp(t, {}, (directory) => {
    const pod = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { containers: [{ name: 'c', image: 'x:1' }] },
    });
    writeFileSync(join(directory, 'one.json'), JSON.stringify(pod('json')));
    writeFileSync(
      join(directory, 'list'),
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [pod('l1'), pod('l2')] }),
    );
    const { kind, apiVersion, ...bare } = pod('p1');
    writeFileSync(join(directory, 'podlist'), JSON.stringify({ apiVersion, kind: `${kind}List`, items: [bare] }));
    writeFileSync(join(directory, 'docs.yaml'), `---\n${manifest('d1')}---\n# nothing\n---\n${manifest('d2')}...\n`);
  });
  await start();
  assert.deepEqual(Object.keys(images()).toSorted(), [
    'd1-node1',
    'd2-node1',
    'json-node1',
    'l1-node1',
    'l2-node1',
    'p1-node1',
  ]);
});

test('file source: pods of many files are published before the rest is read', async (t) => {
  const names = ['a', 'b', 'c'];
  const { seen, start } = setUp(t, {}, (at) => {
    for (const name of names) writeFileSync(join(at, `${name}.yaml`), manifest(name));
  });
  await start();
  assert.deepEqual([seen[0]?.pods.length, seen[0]?.heard], [1, false]);
  assert.deepEqual([seen.at(-1)?.pods.length, seen.at(-1)?.heard], [names.length, true]);
});

test('file source: a broken edit keeps the pod, is logged with its line and raised as an event', async (t) => {
  const { directory, seen, events, lines, start, waitFor } = setUp(t, {}, (at) => {
    writeFileSync(join(at, 'a.yaml'), manifest('a'));
    writeFileSync(join(at, 'b.yaml'), manifest('b'));
  });
  await start();
  const [before] = seen.at(-1)?.pods ?? [];
  const published = seen.length;
  writeFileSync(join(directory, 'a.yaml'), manifest('a').replace('image: x:1', 'image: [x'));
  await waitFor('an event', () => events.length > 0);
  assert.equal(events.length, 1);
  const [event] = events;
  assert.ok(event !== undefined && 'pod' in event);
  assert.deepEqual([event.pod.uid, event.type, event.reason], [before?.metadata.uid, 'Warning', 'FailedValidation']);
  assert.match(event.message, /a\.yaml:9:1: not valid YAML or JSON: .*the pod stays as it was before$/);
  assert.match(lines.join('\n'), /a\.yaml:9:1/);
  assert.equal(seen.at(-1)?.pods[0], before);
  assert.equal(seen.length, published, 'nothing was published');
  writeFileSync(join(directory, 'a.yaml'), manifest('a', 'x:2'));
  await waitFor('the repaired pod', () => seen.at(-1)?.pods[0]?.spec.containers[0]?.image === 'x:2');
});

test('file source: an invalid pod is refused with every fault and its line, the others of its file are taken', async (t) => {
  const { directory, events, lines, start, becomes, waitFor } = setUp(t, {}, (at) =>
    writeFileSync(join(at, 'a.yaml'), `${manifest('a')}---\n${manifest('b')}`),
  );
  await start();
  const wrong = manifest('b').replace('name: c', 'name: C').replace('image: x:1', 'imagePullPolicy: Soon');
  writeFileSync(join(directory, 'a.yaml'), `${manifest('a', 'x:2')}---\n${wrong}`);
  await becomes({ 'a-node1': 'x:2', 'b-node1': 'x:1' });
  await waitFor('an event', () => events.length > 0);
  const log = lines.join('\n');
  assert.match(log, /a\.yaml:16:11.*spec\.containers\[0\]\.name: Invalid value: \\"C\\"/);
  assert.match(log, /a\.yaml:16:5.*spec\.containers\[0\]\.image: Required value/);
  assert.match(log, /a\.yaml:17:22.*spec\.containers\[0\]\.imagePullPolicy: Unsupported value: \\"Soon\\"/);
});

test('file source: a bad file that never was good is raised as an event of the node', async (t) => {
  const { events, start } = setUp(t, {}, (at) =>
    writeFileSync(join(at, 'a.yaml'), 'kind: Deployment\napiVersion: v1\n'),
  );
  await start();
  assert.equal(events.length, 1);
  assert.ok(events[0] !== undefined && 'node' in events[0]);
  assert.match(events[0].message, /a\.yaml:1:7: kind: must be Pod, PodList or List; found the string "Deployment"/);
});

test('file source: unknown fields are reported and otherwise ignored', async (t) => {
  const { lines, start, images } = setUp(t, {}, (at) =>
    writeFileSync(join(at, 'a.yaml'), manifest('a').replace('spec:', 'spec:\n  hostnetwork: true')),
  );
  await start();
  assert.deepEqual(images(), { 'a-node1': 'x:1' });
  assert.match(lines.join('\n'), /a\.yaml:6:3.*spec\.hostnetwork: unknown field, not used/);
});

test('file source: what only the API server has may not be used', async (t) => {
  const { lines, start, images } = setUp(t, {}, (at) =>
    writeFileSync(join(at, 'a.yaml'), manifest('a').replace('spec:', 'spec:\n  serviceAccountName: default')),
  );
  await start();
  assert.deepEqual(images(), {});
  assert.match(lines.join('\n'), /a\.yaml:6:23.*static pods may not reference serviceaccounts/);
});

test('file source: a file is read when it is closed, however long the writing takes', async (t) => {
  const { directory, seen, start, becomes, settled } = setUp(t);
  await start();
  const text = `${manifest('slow')}---\n${manifest('second')}`;
  const file = openSync(join(directory, 'slow.yaml'), 'w');
  // Up to here it is a manifest already, only another one.
  writeSync(file, text.slice(0, text.indexOf('---')));
  await settled();
  assert.equal(seen.length, 1);
  writeSync(file, text.slice(text.indexOf('---')));
  closeSync(file);
  await becomes({ 'slow-node1': 'x:1', 'second-node1': 'x:1' });
});

test('file source: a writer that never closes is read at the check interval', async (t) => {
  const { directory, start, becomes } = setUp(t, { fileCheckFrequencyMs: 300 });
  await start();
  const file = openSync(join(directory, 'open.yaml'), 'w');
  t.after(() => closeSync(file));
  writeSync(file, manifest('open'));
  await becomes({ 'open-node1': 'x:1' });
});

test('file source: an editor that renames the old file away and writes a new one ends no pod', async (t) => {
  const { directory, seen, start, becomes, settled } = setUp(t, {}, (at) =>
    writeFileSync(join(at, 'a.yaml'), manifest('a')),
  );
  await start();
  renameSync(join(directory, 'a.yaml'), join(directory, 'a.yaml~'));
  await settled();
  writeFileSync(join(directory, 'a.yaml'), manifest('a', 'x:2'));
  unlinkSync(join(directory, 'a.yaml~'));
  await becomes({ 'a-node1': 'x:2' });
  assert.ok(seen.every(({ pods }) => pods.length === 1));
});

test('file source: a file that is deleted and written again starts its pod again, at once or later; a touched one does not', async (t) => {
  const { directory, seen, start, waitFor, settled } = setUp(t, {}, (at) =>
    writeFileSync(join(at, 'a.yaml'), manifest('a')),
  );
  const path = join(directory, 'a.yaml');
  const lives = () => {
    const all = seen.flatMap(({ pods }) => pods.map(({ metadata }) => metadata));
    assert.equal(new Set(all.map(({ uid }) => uid)).size, 1, 'one UID');
    return new Set(all.map(({ annotations }) => annotations?.['kubernetes.io/config.seen'])).size;
  };
  await start();
  unlinkSync(path);
  writeFileSync(path, manifest('a'));
  await waitFor('the second life', () => lives() === 2);
  unlinkSync(path);
  await settled();
  writeFileSync(path, manifest('a'));
  await waitFor('the third life', () => lives() === 3 && seen.at(-1)?.pods.length === 1);
  const before = seen.length;
  writeFileSync(path, `${manifest('a')}\n# a word\n`);
  await waitFor('the file is read', () => seen.length > before);
  assert.equal(lives(), 3);
  unlinkSync(path);
  writeFileSync(path, 'kind: Pod\nspec: {');
  await settled();
  assert.equal(lives(), 3, 'a broken file still stands for the pod that it described');
  assert.equal(seen.at(-1)?.pods.length, 1);
});

test('file source: a file moved over another is one change', async (t) => {
  const { root, directory, seen, start, becomes } = setUp(t, {}, (at) =>
    writeFileSync(join(at, 'a.yaml'), manifest('a')),
  );
  await start();
  writeFileSync(join(root, 'new'), manifest('a', 'x:2'));
  renameSync(join(root, 'new'), join(directory, 'a.yaml'));
  await becomes({ 'a-node1': 'x:2' });
  assert.ok(seen.every(({ pods }) => pods.length === 1));
});

test('file source: renaming a manifest restarts nothing', async (t) => {
  const { directory, seen, start, settled } = setUp(t, {}, (at) => writeFileSync(join(at, 'a.yaml'), manifest('a')));
  await start();
  const uid = seen.at(-1)?.pods[0]?.metadata.uid;
  renameSync(join(directory, 'a.yaml'), join(directory, 'z.yaml'));
  await settled();
  assert.ok(seen.every(({ pods }) => pods.length === 1 && pods[0]?.metadata.uid === uid));
});

test('file source: the first file with a name keeps it, until it is gone', async (t) => {
  const { directory, events, start, becomes, waitFor } = setUp(t, {}, (at) =>
    writeFileSync(join(at, 'b.yaml'), manifest('web')),
  );
  await start();
  writeFileSync(join(directory, 'a.yaml'), manifest('web', 'x:2'));
  await waitFor('an event', () => events.length === 1);
  assert.match(events[0]?.message ?? '', /a\.yaml due to duplicate pod name "web-node1", ignoring$/);
  await becomes({ 'web-node1': 'x:1' });
  unlinkSync(join(directory, 'b.yaml'));
  await becomes({ 'web-node1': 'x:2' });
  assert.equal(events.length, 1);
});

test('file source: 100 quick edits end in exactly the last one', async (t) => {
  const { directory, start, becomes, seen, settled } = setUp(t);
  await start();
  for (let edit = 1; edit <= 100; edit++) writeFileSync(join(directory, 'a.yaml'), manifest('a', `x:${edit}`));
  await becomes({ 'a-node1': 'x:100' });
  await settled();
  assert.equal(seen.at(-1)?.pods[0]?.spec.containers[0]?.image, 'x:100');
  for (let edit = 1; edit <= 100; edit++) {
    writeFileSync(join(directory, '.new'), manifest('a', `y:${edit}`));
    renameSync(join(directory, '.new'), join(directory, 'a.yaml'));
    if (edit % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await becomes({ 'a-node1': 'y:100' });
});

test('file source: links to files elsewhere are followed, and their changes seen', async (t) => {
  const { root, directory, start, becomes } = setUp(t, {}, (at) => {
    mkdirSync(join(at, '../store'));
    writeFileSync(join(at, '../store/a'), manifest('a'));
    symlinkSync('../store/a', join(at, 'a.yaml'));
    symlinkSync('../store/nowhere', join(at, 'b.yaml'));
  });
  await start();
  await becomes({ 'a-node1': 'x:1' });
  writeFileSync(join(root, 'store/a'), manifest('a', 'x:2'));
  await becomes({ 'a-node1': 'x:2' });
  writeFileSync(join(root, 'store/nowhere'), manifest('b'));
  await becomes({ 'a-node1': 'x:2', 'b-node1': 'x:1' });
  symlinkSync('../store/nowhere', join(directory, 'new-link'));
  renameSync(join(directory, 'new-link'), join(directory, 'a.yaml'));
  await becomes({ 'b-node1': 'x:1' });
});

test('file source: a volume whose data directory is swapped by a link', async (t) => {
  const { directory, seen, start, becomes, settled } = setUp(t, {}, (at) => {
    for (const [data, image] of [
      ['..1', 'x:1'],
      ['..2', 'x:2'],
    ] as const) {
      mkdirSync(join(at, data));
      writeFileSync(join(at, data, 'a.yaml'), manifest('a', image));
      writeFileSync(join(at, data, 'b.yaml'), manifest('b'));
    }
    symlinkSync('..1', join(at, '..data'));
    for (const name of ['a.yaml', 'b.yaml']) symlinkSync(`..data/${name}`, join(at, name));
  });
  await start();
  await becomes({ 'a-node1': 'x:1', 'b-node1': 'x:1' });
  symlinkSync('..2', join(directory, '..new'));
  renameSync(join(directory, '..new'), join(directory, '..data'));
  rmSync(join(directory, '..1'), { recursive: true });
  await becomes({ 'a-node1': 'x:2', 'b-node1': 'x:1' });
  await settled();
  const times = seen.flatMap(({ pods }) => pods.filter(({ metadata }) => metadata.name === 'b-node1'));
  assert.equal(new Set(times.map(({ metadata }) => metadata.annotations?.['kubernetes.io/config.seen'])).size, 1);
});

test('file source: hard links count as files', async (t) => {
  const { root, directory, start, becomes } = setUp(t);
  await start();
  writeFileSync(join(root, 'a'), manifest('a'));
  linkSync(join(root, 'a'), join(directory, 'a.yaml'));
  await becomes({ 'a-node1': 'x:1' });
});

test('file source: the directory may come later, go, and come back as another', async (t) => {
  const { root, directory, seen, start, becomes } = setUp(t, {}, (at) => rmSync(at, { recursive: true }));
  await start();
  assert.deepEqual(
    seen.map(({ pods, heard }) => [pods.length, heard]),
    [[0, true]],
  );
  mkdirSync(directory);
  writeFileSync(join(directory, 'a.yaml'), manifest('a'));
  await becomes({ 'a-node1': 'x:1' });
  renameSync(directory, join(root, 'old'));
  await becomes({});
  mkdirSync(directory);
  writeFileSync(join(directory, 'a.yaml'), manifest('a', 'x:2'));
  await becomes({ 'a-node1': 'x:2' });
  rmSync(directory, { recursive: true });
  await becomes({});
  mkdirSync(directory);
  writeFileSync(join(directory, 'a.yaml'), manifest('a', 'x:3'));
  await becomes({ 'a-node1': 'x:3' });
});

test('file source: several directories on the way to it may be missing', async (t) => {
  const deep = 'not/yet/there';
  const { root, start, becomes } = setUp(t);
  await start();
  const again = setUp(t, { staticPodPath: join(root, deep) });
  await again.start();
  mkdirSync(join(root, deep), { recursive: true });
  writeFileSync(join(root, deep, 'a.yaml'), manifest('a'));
  await again.becomes({ 'a-node1': 'x:1' });
  await becomes({});
});

test('file source: the path may be one file, or a link to a directory', async (t) => {
  const { root, directory, start } = setUp(t);
  await start();
  const one = setUp(t, { staticPodPath: join(root, 'one.yaml') });
  await one.start();
  writeFileSync(join(root, 'one.yaml'), manifest('one'));
  await one.becomes({ 'one-node1': 'x:1' });
  writeFileSync(join(root, 'one.yaml'), manifest('one', 'x:2'));
  await one.becomes({ 'one-node1': 'x:2' });
  symlinkSync('manifests', join(root, 'link'));
  const linked = setUp(t, { staticPodPath: join(root, 'link') });
  await linked.start();
  writeFileSync(join(directory, 'a.yaml'), manifest('a'));
  await linked.becomes({ 'a-node1': 'x:1' });
  mkdirSync(join(root, 'other'));
  symlinkSync('other', join(root, 'link.new'));
  renameSync(join(root, 'link.new'), join(root, 'link'));
  await linked.becomes({});
});

test('file source: without inotify the check interval finds changes', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'kubelet-ts-file-source-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const seen: (readonly Pod[])[] = [];
  const clock = createManualClock(Date.now());
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) {
      await clock.advance(10);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const sources = createSources(
    {
      nodeName: 'node1',
      staticPodPath: root,
      fileCheckFrequencyMs: 50,
      staticPodUrl: '',
      staticPodUrlHeader: {},
      httpCheckFrequencyMs: 50,
      preventApiReferences: true,
    },
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log: createSilentLogger(),
      inotify: {
        watch: () => {
          throw new Error('no watches left');
        },
      },
      record: () => undefined,
      onDesired: (pods) => seen.push(pods),
    },
  );
  await sources.start(new AbortController().signal);
  t.after(() => sources.stop?.());
  await until(() => seen.length > 0);
  writeFileSync(join(root, 'a.yaml'), manifest('a').slice(0, 40));
  appendFileSync(join(root, 'a.yaml'), manifest('a').slice(40));
  await until(() => seen.at(-1)?.length === 1);
  assert.deepEqual(
    seen.map((pods) => pods.length),
    [0, 1],
  );
});

test('file source: a file that is broken when the kubelet starts keeps the pods it had before', async (t) => {
  const state = mkdtempSync(join(tmpdir(), 'kubelet-ts-last-good-'));
  t.after(() => rmSync(state, { recursive: true, force: true }));
  const first = setUp(t, { stateDirectory: state }, (at) => writeFileSync(join(at, 'a.yaml'), manifest('a')));
  await first.start();
  const uid = first.seen.at(-1)?.pods[0]?.metadata.uid;
  await first.sources.stop?.();
  writeFileSync(join(first.directory, 'a.yaml'), 'kind: [');
  const second = setUp(t, { stateDirectory: state, staticPodPath: first.directory });
  await second.start();
  assert.deepEqual(
    second.seen.map(({ pods }) => pods.map((pod) => pod.metadata.uid)),
    [[uid]],
  );
  assert.equal(second.events.length, 1);
  unlinkSync(join(first.directory, 'a.yaml'));
  await second.becomes({});
  await second.sources.stop?.();
  writeFileSync(join(first.directory, 'a.yaml'), 'kind: [');
  const third = setUp(t, { stateDirectory: state, staticPodPath: first.directory });
  await third.start();
  assert.deepEqual(third.images(), {}, 'what was taken away on purpose does not come back');
});

test('file source: a file with 10,000 pods does not stop the event loop', async (t) => {
  const { directory, seen, start, waitFor } = setUp(t);
  await start();
  const items = Array.from({ length: 10_000 }, (_, at) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${at}`, labels: { app: 'many' } },
    spec: { containers: [{ name: 'c', image: 'x:1', command: ['sleep', '1000'] }] },
  }));
  // Processor time of this thread: on a busy machine the time of the wall says little.
  const spent = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let longest = 0;
  let last = spent();
  const timer = setInterval(() => {
    longest = Math.max(longest, spent() - last);
    last = spent();
  }, 5);
  t.after(() => clearInterval(timer));
  writeFileSync(join(directory, '.many'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  last = spent();
  renameSync(join(directory, '.many'), join(directory, 'many.json'));
  await waitFor('all pods', () => seen.at(-1)?.pods.length === 10_000);
  assert.ok(longest < 2000, `one turn of the event loop took ${longest} ms`);
});
