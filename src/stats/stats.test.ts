/** Statistics over cgroup files in memory: who is read when, and what a cgroup or file that fails costs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Logger } from '../base/logger.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import { TEST_MACHINE } from '../model/machine-testing.ts';
import { cgroupV2 } from './rules/cgroup-v2.ts';
import { EVERYTHING, type Selection } from './rules/selection.ts';
import type { StatsPod } from './rules/targets.ts';
import { createStats, type StatsDeps } from './stats.ts';

const never = new AbortController().signal;

const pod = (name: string): StatsPod => ({
  uid: name,
  name,
  namespace: 'default',
  cgroup: `/kubepods/pod${name}`,
  sandbox: { id: `${name}-box`, createdAt: 1_000_000, cgroup: `/kubepods/pod${name}/box` },
  containers: [
    { id: `${name}-c`, name: 'c', image: 'busybox', createdAt: 2_000_000, cgroup: `/kubepods/pod${name}/c` },
  ],
});

const PATHS = [
  '',
  '/kubepods',
  ...['a', 'b'].flatMap((name) => ['', '/box', '/c'].map((one) => `/kubepods/pod${name}${one}`)),
];

function cgroupFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const path of PATHS) {
    files.set(`/cg${path}/cpu.stat`, 'usage_usec 1000000\nuser_usec 600000\nsystem_usec 400000\n');
    files.set(`/cg${path}/memory.stat`, 'anon 10\nfile 20\ninactive_file 5\n');
    files.set(`/cg${path}/memory.current`, '40\n');
    files.set(`/cg${path}/memory.max`, 'max\n');
    files.set(`/cg${path}/cgroup.procs`, '7\n');
    files.set(`/cg${path}/io.stat`, '');
  }
  files.set('/proc/7/net/dev', '  eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n');
  return files;
}

interface Faults {
  readonly broken?: (path: string) => boolean;
  readonly runtimeIsAway?: boolean;
  readonly runtimeStats?: StatsDeps['runtimeStats'];
  /** Every cgroup uses half a core. */
  readonly isBusy?: boolean;
  readonly selection?: Selection;
  readonly kills?: number;
  readonly ended?: ReturnType<StatsDeps['ended']>;
  readonly loopFault?: (loop: string) => void;
}

function setUp(more: Faults = {}) {
  const clock = createManualClock(100_000_000);
  const files = cgroupFiles();
  const reads: string[] = [];
  const open = new Set<string>();
  const warnings: string[] = [];
  const silent = createSilentLogger();
  const log: Logger = { ...silent, named: () => log, warn: (message) => void warnings.push(message) };
  const deps: StatsDeps = {
    clock,
    log,
    supervisor: createTestSupervisor(clock, more.loopFault === undefined ? {} : { beforeRound: more.loopFault }),
    kernelFiles: (onFailure) => {
      const read = (path: string) => {
        reads.push(path);
        if (more.broken?.(path)) onFailure(path, new Error('EIO'));
        if (more.isBusy && path.endsWith('/cpu.stat')) return `usage_usec ${clock.mono() * 500}\n`;
        return more.broken?.(path) ? undefined : files.get(path);
      };
      return {
        read,
        open: (path) => {
          if (!files.has(path)) return undefined;
          open.add(path);
          return { read: () => read(path), close: () => void open.delete(path) };
        },
        modifiedAt: () => 3_000_000,
        openFiles: function* () {
          yield;
          return { files: 4, sockets: 1 };
        },
      };
    },
    places: {
      reader: cgroupV2,
      directory: (path) => (path === '/' ? '/cg' : `/cg${path}`),
      directories: (path) => [`/cg${path}`],
    },
    pods: () => [pod('a'), pod('b')],
    groups: () => ({ pods: '/kubepods', classes: [], system: {} }),
    storage: {
      writableLayers: () => Promise.reject(new Error('the runtime is away')),
      images: () => Promise.resolve(undefined),
      imagePlaces: () => Promise.resolve({ images: undefined, layers: undefined }),
      measureVolumes: () => Promise.resolve(),
      measureLayer: (id) => Promise.resolve(id.includes('a') ? { bytes: 77, inodes: 7 } : undefined),
      fileSystem: () =>
        Promise.resolve({
          device: 1,
          capacityBytes: 100,
          freeBytes: 60,
          availableBytes: 50,
          inodes: 10,
          inodesFree: 4,
        }),
      filesUse: () => Promise.resolve({ bytes: 4096, inodes: 1 }),
      volumes: () => [],
      tasks: () => ({ limit: 32768, current: 100 }),
    },
    runtimeStats: more.runtimeStats,
    machine: TEST_MACHINE,
    mounts: () => [{ device: '8:0', point: '/', type: 'ext4', source: '/dev/sda' }],
    oomKills: () => more.kills ?? 0,
    ended: () => more.ended ?? [],
    memoryAvailable: () => 700,
    sandboxImage: () => (more.runtimeIsAway ? Promise.reject(new Error('unavailable')) : Promise.resolve('pause')),
  };
  const stats = createStats(deps, {
    nodeName: 'node',
    housekeepingMs: 10_000,
    machine: { memory: 1000, swap: 0, bootedAt: 1000 },
    paths: { root: '/', logs: ({ name }) => `/logs/${name}`, hostsFile: ({ name }) => `/hosts/${name}` },
    podsDirectory: '/pods',
    selection: more.selection ?? EVERYTHING,
    withoutCache: false,
  });
  return { clock, files, reads, open, warnings, stats };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

const cadvisorText = async ({ stats }: ReturnType<typeof setUp>) =>
  (await Array.fromAsync(stats.cadvisorMetrics(never))).join('');

/** The summary, with the wait before a first rate. */
async function summaryOf({ clock, stats }: ReturnType<typeof setUp>, query = '') {
  const answer = stats.summary(new URLSearchParams(query), never);
  await settle();
  await clock.advance(250);
  return (await answer) as Summary;
}

interface Summary {
  readonly node: { readonly cpu: { readonly usageNanoCores: number }; readonly fs?: { readonly usedBytes: number } };
  readonly pods: readonly {
    readonly podRef: { readonly name: string };
    readonly containers: readonly { readonly cpu: object; readonly rootfs?: object; readonly logs?: object }[];
  }[];
}

describe('statistics', () => {
  it('read nothing that no one asks for, and stop some time after the last request', async () => {
    const world = setUp({ isBusy: true });
    const stop = new AbortController();
    world.stats.start(stop.signal);
    await world.clock.advance(600_000);
    assert.equal(world.reads.length, 0);
    await summaryOf(world);
    world.reads.length = 0;
    for (let pass = 0; pass < 14; pass += 1) {
      await world.clock.advance(10_000);
      await settle();
    }
    const perPass = PATHS.length;
    assert.ok(world.reads.length >= 12 * perPass && world.reads.length <= 13 * perPass, `${world.reads.length} reads`);
    assert.ok(world.reads.every((path) => path.endsWith('/cpu.stat')));
    world.reads.length = 0;
    await world.clock.advance(600_000);
    await settle();
    assert.equal(world.reads.length, 0);
    stop.abort('stopped');
    await world.stats.stop?.();
  });

  it('keep files open while someone asks, and none of a cgroup that is gone', async () => {
    const world = setUp();
    const stop = new AbortController();
    world.stats.start(stop.signal);
    await world.stats.resourceMetrics(never);
    const ofPod = (name: string) => [...world.open].filter((path) => path.includes(`/pod${name}/`)).length;
    assert.ok(ofPod('a') >= 6 && ofPod('b') === ofPod('a'), [...world.open].join());
    for (const path of world.files.keys()) if (path.startsWith('/cg/kubepods/poda')) world.files.delete(path);
    await world.stats.resourceMetrics(never);
    assert.deepEqual([ofPod('a'), ofPod('b') > 0], [0, true]);
    for (let pass = 0; pass < 14; pass += 1) {
      await world.clock.advance(10_000);
      await settle();
    }
    assert.equal(world.open.size, 0);
    await world.stats.resourceMetrics(never);
    assert.ok(world.open.size > 0);
    stop.abort('stopped');
    await world.stats.stop?.();
    assert.equal(world.open.size, 0);
  });

  it('of what does nothing are read seldom', async () => {
    const world = setUp();
    const stop = new AbortController();
    world.stats.start(stop.signal);
    await summaryOf(world);
    world.reads.length = 0;
    for (let pass = 0; pass < 12; pass += 1) {
      await world.clock.advance(10_000);
      await settle();
    }
    assert.ok(world.reads.length <= 4 * PATHS.length && world.reads.length > 0, `${world.reads.length} reads`);
    stop.abort('stopped');
    await world.stats.stop?.();
  });

  it('go on after a pass that has thrown', async () => {
    const world = setUp({ isBusy: true, loopFault: throwOnce('statistics') });
    const stop = new AbortController();
    world.stats.start(stop.signal);
    await summaryOf(world);
    world.reads.length = 0;
    for (let pass = 0; pass < 3; pass += 1) {
      await world.clock.advance(10_000);
      await settle();
    }
    assert.ok(world.reads.length >= 2 * PATHS.length, `${world.reads.length} reads`);
    stop.abort('stopped');
    await world.stats.stop?.();
  });

  it('have a rate in the first answer, from a second reading shortly after', async () => {
    const world = setUp();
    const answer = world.stats.summary(new URLSearchParams(), never);
    await settle();
    for (const path of PATHS) world.files.set(`/cg${path}/cpu.stat`, 'usage_usec 1125000\n');
    await world.clock.advance(250);
    const { node } = (await answer) as Summary;
    assert.equal(node.cpu.usageNanoCores, 500_000_000);
  });

  it('go on without a pod that ended in between', async () => {
    const world = setUp();
    const first = await summaryOf(world);
    assert.deepEqual(
      first.pods.map(({ podRef }) => podRef.name),
      ['a', 'b'],
    );
    for (const path of world.files.keys()) if (path.startsWith('/cg/kubepods/poda')) world.files.delete(path);
    const second = await summaryOf(world);
    assert.deepEqual(
      second.pods.map(({ containers }) => containers.length),
      [0, 1],
    );
    const text = await cadvisorText(world);
    assert.doesNotMatch(text, /pod="a"/);
    assert.match(text, /container_memory_working_set_bytes\{container="c",id="\/kubepods\/podb\/c",image="busybox"/);
    assert.deepEqual(
      world.warnings.filter((line) => !line.startsWith('Failed to read')),
      [],
    );
  });

  it('tell of what fails at most once a minute, and keep all other numbers', async () => {
    const world = setUp({ broken: (path) => path.includes('poda/c/memory') });
    for (let round = 0; round < 20; round += 1) await world.stats.resourceMetrics(never);
    assert.deepEqual(world.warnings, ['Failed to read statistics']);
    const text = await world.stats.resourceMetrics(never);
    assert.match(text, /container_cpu_usage_seconds_total\{container="c",namespace="default",pod="a"\} 1 /);
    assert.doesNotMatch(text, /container_memory_working_set_bytes\{container="c",namespace="default",pod="a"\}/);
    assert.match(text, /container_memory_working_set_bytes\{container="c",namespace="default",pod="b"\} 35 /);
    await world.clock.advance(61_000);
    await world.stats.resourceMetrics(never);
    assert.equal(world.warnings.length, 2);
  });

  it('of cgroups come without the runtime, too', async () => {
    const away = await cadvisorText(setUp({ runtimeIsAway: true }));
    const here = await cadvisorText(setUp());
    assert.match(here, /container_threads\{container="",id="\/kubepods\/poda\/box",image="pause",name="a-box"/);
    assert.equal(away, here.replaceAll('image="pause"', 'image=""'));
  });

  it('come from the runtime where it is asked, and from cgroups for what it does not report', async () => {
    const cpu = { timestamp: 0n, usageCoreNanoSeconds: { value: 9e9 }, usageNanoCores: undefined, psi: undefined };
    const attributes = { id: 'a-c', metadata: undefined, labels: {}, annotations: {} };
    const container = { attributes, cpu, memory: undefined, writableLayer: undefined, swap: undefined, io: undefined };
    const none = { memory: undefined, network: undefined, process: undefined, io: undefined };
    const world = setUp({
      runtimeStats: {
        pods: () =>
          Promise.resolve([
            { attributes: { ...attributes, id: 'a-box' }, linux: { ...none, cpu, containers: [container] } },
          ]),
        descriptors: () => Promise.resolve([{ name: 'container_x', help: 'X.', labelKeys: [] }]),
        metrics: () => Promise.resolve([]),
      },
    });
    const text = await world.stats.resourceMetrics(never);
    assert.match(text, /^pod_cpu_usage_seconds_total\{namespace="default",pod="a"\} 9 /m);
    assert.match(text, /^pod_cpu_usage_seconds_total\{namespace="default",pod="b"\} 1 /m);
    assert.deepEqual(
      world.reads.filter((path) => path.startsWith('/cg/kubepods/poda')),
      [],
    );
    const metrics = await cadvisorText(world);
    assert.match(metrics, /^machine_cpu_cores/m);
    assert.doesNotMatch(metrics, /^container_cpu/m);
    assert.deepEqual(world.warnings, []);
  });

  it('come from cgroups while the runtime that should report them fails', async () => {
    const fails = () => Promise.reject(new Error('unimplemented'));
    const world = setUp({ runtimeStats: { pods: fails, descriptors: fails, metrics: fails } });
    const without = setUp();
    assert.equal(await cadvisorText(world), await cadvisorText(without));
    assert.equal(await world.stats.resourceMetrics(never), await without.stats.resourceMetrics(never));
    assert.deepEqual(await summaryOf(world), await summaryOf(without));
    assert.deepEqual(world.warnings, ['Failed to read statistics']);
  });

  it('of disks come without what the runtime does not answer, and not at all where only CPU and memory are asked for', async () => {
    const world = setUp();
    const whole = await summaryOf(world);
    assert.equal(whole.node.fs?.usedBytes, 40);
    assert.deepEqual(
      [whole.pods[0]?.containers[0]?.rootfs, whole.pods[0]?.containers[0]?.logs === undefined],
      [undefined, false],
    );
    const less = await summaryOf(world, 'only_cpu_and_memory=true');
    assert.deepEqual(Object.keys(less.pods[0]?.containers[0] ?? {}), ['name', 'startTime', 'cpu', 'memory', 'swap']);
    assert.equal(less.node.fs, undefined);
  });

  it('of pods for decisions about pressure have the number of their processes', async () => {
    const { stats, files, reads } = setUp();
    files.set('/cg/kubepods/podb/c/cgroup.procs', '7\n8\n9\n');
    const found = await stats.usage.pods(new AbortController().signal);
    assert.deepEqual(
      [...found.values()].map(({ processes }) => processes),
      [1, 3],
    );
    assert.ok(!reads.some((path) => path.startsWith('/proc/')), 'nothing of single processes is read for it');
  });

  it('are a quarter in the lean profile, and no process is looked at for them', async () => {
    const lines = async (selection: Selection) => {
      const world = setUp({ selection });
      const text = await cadvisorText(world);
      assert.equal(
        world.reads.some((path) => path.endsWith('/pids.current')),
        selection.profile === 'full',
      );
      return text.split('\n').filter((line) => line.startsWith('container_')).length;
    };
    const [full, lean] = [await lines(EVERYTHING), await lines({ ...EVERYTHING, profile: 'lean' })];
    assert.ok(lean * 4 <= full && lean > 20, `${lean} of ${full}`);
  });

  it('of killed processes go on after a restart of their container and stay after its end', async () => {
    const ended = { id: 'old', container: 'd', image: 'busybox', cgroup: '/kubepods/poda/old', oomKills: 2 };
    const world = setUp({ kills: 3, ended: [{ ...ended, pod: { uid: 'a', name: 'a', namespace: 'default' } }] });
    const text = await cadvisorText(world);
    const counts = text.split('\n').filter((line) => /^container_oom_events_total\{container="[cd]"/.test(line));
    assert.deepEqual(
      counts.map((line) => line.replace(/ \d+$/, '').replace(/\{.*pod=/, ' ')),
      ['container_oom_events_total "a"} 3', 'container_oom_events_total "b"} 3', 'container_oom_events_total "a"} 2'],
    );
    assert.equal(text.split('\n').filter((line) => line.includes('name="old"')).length, 1);
  });
});
