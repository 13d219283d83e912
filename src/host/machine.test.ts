import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  appArmorEnabled,
  cgroupVersion,
  limitsSwap,
  memoryBytes,
  numaNodes,
  onlineCpus,
  parseSwapAreas,
  setOwnOomScore,
  swapAreas,
} from './machine.ts';
import { raiseOpenFiles } from './open-files.ts';
import { createSyscalls, type ResourceLimit, type Syscalls, systemError } from './syscalls.ts';

const directory = mkdtempSync(join(tmpdir(), 'machine-'));
after(() => rmSync(directory, { recursive: true }));
const fileWith = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};

describe('swap areas', () => {
  const heading = 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n';
  for (const [what, text, areas] of [
    ['an empty table', heading, []],
    ['a partition', `${heading}/dev/sda2                               partition\t8388604\t0\t-2\n`, ['/dev/sda2']],
    ['several', `${heading}/swapfile file\t1\t0\t-2\n/dev/zram0 partition\t1\t0\t100\n`, ['/swapfile', '/dev/zram0']],
    ['nothing at all', '', []],
  ] as const) {
    it(`are read from ${what}`, () => assert.deepEqual(parseSwapAreas(text), areas));
  }
  it('are none where the kernel knows no swap', () => assert.deepEqual(swapAreas(join(directory, 'missing')), []));
});

describe('a limit of swap', () => {
  const tree = (name: string, ...files: readonly string[]): string => {
    for (const file of files) {
      mkdirSync(join(directory, name, file, '..'), { recursive: true });
      writeFileSync(join(directory, name, file), '');
    }
    return join(directory, name);
  };
  const v1 = tree('v1', 'memory/memory.memsw.limit_in_bytes');
  const v1Without = tree('v1-without', 'memory/memory.limit_in_bytes');
  const v2 = tree('v2', 'system.slice/kubelet.service/memory.swap.max', 'memory.stat');
  const inService = fileWith('in-service', '0::/system.slice/kubelet.service\n');
  const inRoot = fileWith('in-root', '0::/\n');
  const hybrid = fileWith('hybrid', '4:memory:/a\n0::/\n');
  for (const [what, version, root, own, expected] of [
    ['v1 with swap accounting', 1, v1, hybrid, true],
    ['v1 without', 1, v1Without, hybrid, false],
    ['v2', 2, v2, inService, true],
    ['the root of v2, which has none of its own', 2, v2, inRoot, false],
    ['v2 without swap accounting', 2, v1, inService, false],
  ] as const) {
    it(`in ${what}`, () => assert.equal(limitsSwap(version, root, own), expected));
  }
});

describe('machine facts', () => {
  it('are lists of numbers, with an answer where the kernel has none', () => {
    assert.deepEqual(onlineCpus(fileWith('cpus', '0-2,5\n')), [0, 1, 2, 5]);
    assert.deepEqual(numaNodes(fileWith('nodes', '0-1\n')), [0, 1]);
    assert.deepEqual(numaNodes(join(directory, 'missing')), [0]);
    assert.ok(onlineCpus(join(directory, 'missing')).length > 0);
  });

  it('are plausible here', () => {
    assert.ok(onlineCpus().length > 0 && numaNodes().length > 0 && memoryBytes() > 2n ** 26n);
    // The same question, asked of the mount table.
    const unified = /^cgroup2 \/sys\/fs\/cgroup cgroup2 /m.test(readFileSync('/proc/mounts', 'utf8'));
    assert.equal(cgroupVersion(), unified ? 2 : 1);
    assert.equal(cgroupVersion(directory), 1);
  });
});

describe('own place for the out-of-memory killer', () => {
  it('is written', () => {
    const file = fileWith('oom', '0\n');
    assert.equal(setOwnOomScore(-999, file), undefined);
    assert.equal(readFileSync(file, 'utf8'), '-999');
  });
  it('is a reason, not a failure, where it cannot be', () => {
    assert.match(setOwnOomScore(5, join(directory, 'no', 'file')) ?? '', /ENOENT/);
  });
});

describe('open files', () => {
  /** The kernel's rule: only the privileged raise the hard limit. */
  const kernel = (hard: bigint, privileged: boolean) => {
    let limit: ResourceLimit = { soft: 1024n, hard };
    const syscalls: Pick<Syscalls, 'openFilesLimit' | 'setOpenFilesLimit'> = {
      openFilesLimit: () => limit,
      setOpenFilesLimit: (next) => {
        if (next.hard > limit.hard && !privileged) throw systemError(1, 'setrlimit', 'open files');
        limit = next;
      },
    };
    return { syscalls, limit: () => limit };
  };

  for (const [what, hard, privileged, request, soft] of [
    ['the request where it is allowed', 20_000n, true, 1_000_000n, 1_000_000n],
    ['the hard limit where it is not', 20_000n, false, 1_000_000n, 20_000n],
    ['the request below the hard limit', 20_000n, false, 10_000n, 10_000n],
  ] as const) {
    it(`become ${what}`, () => {
      const { syscalls, limit } = kernel(hard, privileged);
      const outcome = raiseOpenFiles(syscalls, request);
      assert.equal(limit().soft, soft);
      assert.equal(outcome.limit, soft);
      assert.equal(outcome.shortfall === undefined, soft === request);
      if (soft !== request) assert.match(outcome.shortfall ?? '', /hard limit is 20000.*EPERM/);
    });
  }

  it('are read from the real kernel', () => {
    const { soft, hard } = createSyscalls().openFilesLimit();
    const [, softText, hardText] =
      /^Max open files\s+(\d+)\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    assert.deepEqual([String(soft), String(hard)], [softText, hardText]);
  });
});

describe('system calls', () => {
  it('fail with a coded error that names call, thing and cause', () => {
    const syscalls = createSyscalls();
    assert.throws(() => syscalls.tryLock(9999), /flock descriptor 9999: .*\(EBADF\)/);
    assert.throws(() => syscalls.inotifyRemove(9999, 1), /inotify_rm_watch watch 1: .*EBADF/);
    assert.throws(() => syscalls.sendNow(9999, Buffer.from('x')), /send descriptor 9999: .*EBADF/);
  });
});

describe('AppArmor', () => {
  it('needs both its interface and its switch', () => {
    const [on, off] = [fileWith('enabled-y', 'Y\n'), fileWith('enabled-n', 'N\n')];
    assert.equal(appArmorEnabled(directory, on), true);
    assert.equal(appArmorEnabled(directory, off), false);
    assert.equal(appArmorEnabled(directory, join(directory, 'nowhere')), false);
    assert.equal(appArmorEnabled(join(directory, 'nowhere'), on), false);
  });
});
