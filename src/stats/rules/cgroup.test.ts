/** The files of cgroups of both generations, as kernels wrote them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cgroupV1 } from './cgroup-v1.ts';
import { cgroupV2 } from './cgroup-v2.ts';
import type { CgroupReader, ReadFile } from './sample.ts';

type Files = Readonly<Record<string, string>>;

const reading =
  (files: Files): ReadFile =>
  (_controller, file) =>
    files[file];

/** A container with limits under containerd 2.4, kernel 6.18. */
const V1: Files = {
  'cgroup.clone_children': '311\n',
  'cpuacct.usage': '2529533417\n',
  'cpuacct.stat': 'user 243\nsystem 9\n',
  'cpu.stat': 'nr_periods 131\nnr_throttled 114\nthrottled_time 6069122786\nnr_bursts 2\nburst_time 5000\n',
  'cpu.shares': '102\n',
  'cpu.cfs_period_us': '100000\n',
  'cpu.cfs_quota_us': '20000\n',
  'memory.usage_in_bytes': '356352\n',
  'memory.max_usage_in_bytes': '4067328\n',
  'memory.failcnt': '3\n',
  'memory.kmem.usage_in_bytes': '172032\n',
  'memory.limit_in_bytes': '33554432\n',
  'memory.memsw.limit_in_bytes': '33554432\n',
  'memory.soft_limit_in_bytes': '9223372036854771712\n',
  'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
  'memory.stat':
    'cache 106496\nrss 65536\nmapped_file 0\nswap 0\npgfault 1179\npgmajfault 2\ninactive_file 102400\nactive_file 4096\n' +
    'hierarchical_memory_limit 33554432\ntotal_cache 106496\ntotal_rss 65536\ntotal_mapped_file 8192\ntotal_swap 0\n' +
    'total_pgfault 1179\ntotal_pgmajfault 2\ntotal_inactive_file 102400\ntotal_active_file 4096\n',
  'pids.current': '1\n',
  'pids.max': 'max\n',
  'blkio.bfq.io_service_bytes_recursive': 'Total 0\n',
  'blkio.throttle.io_service_bytes_recursive':
    '254:0 Read 4096\n254:0 Write 8192\n254:0 Sync 12288\n254:0 Async 0\n254:0 Discard 0\n254:0 Total 12288\nTotal 12288\n',
  'blkio.throttle.io_serviced_recursive': '254:0 Read 1\n254:0 Write 2\n254:0 Total 3\nTotal 3\n',
};

const V2: Files = {
  'cgroup.clone_children': '311\n',
  'cpu.stat':
    'usage_usec 2529533\nuser_usec 2430000\nsystem_usec 99533\nnice_usec 0\nnr_periods 131\nnr_throttled 114\n' +
    'throttled_usec 6069122\nnr_bursts 2\nburst_usec 5\n',
  'cpu.weight': '4\n',
  'cpu.max': '20000 100000\n',
  'cpu.pressure': 'some avg10=1.00 avg60=0.00 avg300=0.00 total=55\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=44\n',
  'memory.current': '356352\n',
  'memory.peak': '4067328\n',
  'memory.max': '33554432\n',
  'memory.min': '0\n',
  'memory.swap.current': '4096\n',
  'memory.swap.max': 'max\n',
  'memory.events.local': 'low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\noom_group_kill 0\n',
  'memory.stat':
    'anon 65536\nfile 106496\nkernel 172032\nfile_mapped 8192\ninactive_file 102400\nactive_file 4096\npgfault 1179\npgmajfault 2\n',
  'pids.current': '1\n',
  'pids.max': '100\n',
  'io.stat': '254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n8:16 \n',
};

const memoryOf = (reader: CgroupReader, read: ReadFile) => reader.memory(read, reader.spec(read));

describe('a cgroup of the first generation', () => {
  const read = reading(V1);
  it('CPU time, throttling and bursts', () => {
    const { pressure: _, ...cpu } = cgroupV1.cpu(read, cgroupV1.spec(read)) ?? assert.fail();
    assert.deepEqual(cpu, {
      usage: 2529533417,
      user: 2_430_000_000,
      system: 90_000_000,
      periods: 131,
      throttledPeriods: 114,
      throttled: 6069122786,
      burstPeriods: 2,
      burst: 5000,
    });
    assert.equal(cgroupV1.cpuUsage(read), 2529533417);
  });
  it('memory, of which the inactive page cache is no working set', () => {
    const memory = cgroupV1.memory(read, cgroupV1.spec(read));
    assert.equal(memory?.workingSet, 356352 - 102400);
    assert.deepEqual(
      [
        memory?.rss,
        memory?.cache,
        memory?.mappedFile,
        memory?.peak,
        memory?.failures,
        memory?.kernel,
        memory?.oomKills,
      ],
      [65536, 106496, 8192, 4067328, 3, 172032, 1],
    );
  });
  it('reads no counts of limits that it does not have', () => {
    const files = { ...V1, 'cpu.cfs_quota_us': '-1\n', 'memory.limit_in_bytes': '9223372036854771712\n' };
    const spec = cgroupV1.spec(reading(files));
    const reads: string[] = [];
    const noting: ReadFile = (controller, file) => {
      reads.push(file);
      return reading(files)(controller, file);
    };
    assert.equal(cgroupV1.cpu(noting, spec)?.periods, 0);
    assert.equal(cgroupV1.memory(noting, spec)?.failures, 0);
    assert.ok(!reads.includes('cpu.stat') && !reads.includes('memory.failcnt'), reads.join(' '));
  });
  it('disks: the first file that names one counts', () => {
    const io = cgroupV1.io(read);
    const operations = { Read: 4096, Write: 8192, Sync: 12288, Async: 0, Discard: 0, Total: 12288 };
    assert.deepEqual(io?.bytes, [{ major: 254, minor: 0, operations }]);
    assert.deepEqual(io?.serviced[0]?.operations, { Read: 1, Write: 2, Total: 3 });
  });
  it('tasks and limits', () => {
    assert.equal(cgroupV1.tasks(read), 1);
    assert.deepEqual(cgroupV1.spec(read), {
      cpu: { shares: 102, period: 100000, quota: 20000 },
      memory: { limit: 33554432, swapLimit: 33554432, reservation: Number.POSITIVE_INFINITY },
      tasks: 0,
    });
    assert.equal(cgroupV1.spec(reading({ ...V1, 'cpu.cfs_quota_us': '-1\n' })).cpu?.quota, undefined);
  });
});

describe('a cgroup of the second generation', () => {
  const read = reading(V2);
  it('gives the same numbers for the same load', () => {
    const [one, two] = [memoryOf(cgroupV1, reading(V1)), memoryOf(cgroupV2, read)];
    assert.deepEqual({ ...two, swap: 0 }, one);
    assert.equal(two?.swap, 4096);
    assert.deepEqual(cgroupV2.io(read)?.bytes, [{ major: 254, minor: 0, operations: { Read: 4096, Write: 8192 } }]);
    assert.equal(cgroupV2.tasks(read), 1);
  });
  it('CPU time in microseconds, and pressure', () => {
    const cpu = cgroupV2.cpu(read, cgroupV2.spec(read));
    assert.deepEqual(
      [cpu?.usage, cpu?.user, cpu?.throttled, cpu?.burst, cpu?.pressure.some.total],
      [2_529_533_000, 2_430_000_000, 6_069_122_000, 5000, 55],
    );
    assert.equal(cgroupV2.cpuUsage(read), 2_529_533_000);
  });
  it('limits in the words of the first: shares, no quota, no limit', () => {
    assert.deepEqual(cgroupV2.spec(read), {
      cpu: { shares: 80, period: 100000, quota: 20000 },
      memory: { limit: 33554432, swapLimit: Number.POSITIVE_INFINITY, reservation: 0 },
      tasks: 100,
    });
    assert.equal(cgroupV2.spec(reading({ ...V2, 'cpu.max': 'max 100000\n' })).cpu?.quota, undefined);
  });
  it('the root, which has no files of its own use or limits', () => {
    const root = reading({ 'cpu.stat': V2['cpu.stat'] ?? '', 'memory.stat': V2['memory.stat'] ?? '', 'io.stat': '' });
    assert.equal(memoryOf(cgroupV2, root)?.usage, 65536 + 106496);
    assert.deepEqual(cgroupV2.spec(root), {
      cpu: { shares: 0, period: 0, quota: undefined },
      memory: undefined,
      tasks: 0,
    });
  });
});

describe('files that are cut short, empty, full of garbage or gone', () => {
  for (const [name, reader, files] of [
    ['first', cgroupV1, V1],
    ['second', cgroupV2, V2],
  ] as const) {
    it(`never throw, and cost only what is in them: ${name} generation`, () => {
      const everything = (read: ReadFile) => [
        reader.cpu(read, reader.spec(read)),
        memoryOf(reader, read),
        reader.io(read),
        reader.tasks(read),
        reader.spec(read),
      ];
      for (const file of Object.keys(files)) {
        for (const text of ['', '\0\0\0', 'nr_periods', files[file]?.slice(0, -4) ?? '', '-5\n', '1e999\n']) {
          const found = everything(reading({ ...files, [file]: text }));
          assert.ok(found.filter((part) => part !== undefined).length >= 3, `${file} = ${JSON.stringify(text)}`);
          assert.ok(
            everyNumber(found).every((number) => !Number.isNaN(number)),
            `${file} = ${JSON.stringify(text)}`,
          );
        }
      }
      readsNothing(reader);
    });
  }
});

function readsNothing(reader: CgroupReader): void {
  const nothing: ReadFile = () => undefined;
  const { cpu, memory, io, tasks, cpuUsage } = reader;
  for (const read of [cpu, memory]) assert.equal(read(nothing, reader.spec(nothing)), undefined);
  for (const read of [io, tasks, cpuUsage]) assert.equal(read(nothing), undefined);
}

function everyNumber(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(everyNumber) : [];
}
