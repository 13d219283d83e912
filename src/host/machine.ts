/** Facts about this machine that decide whether a kubelet may start on it. */
import { existsSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseCpuSet } from '../api/cpu-set.ts';
import { describeError } from '../base/errors.ts';

const CGROUP2_MAGIC = 0x63677270;

/** 2 where the unified hierarchy is what is mounted at the usual place; a hybrid layout counts as 1. */
export function cgroupVersion(mountPoint = '/sys/fs/cgroup'): 1 | 2 {
  return statfsSync(mountPoint).type === CGROUP2_MAGIC ? 2 : 1;
}

/** Where the processes of a cgroup are held to a limit of swap: at the root of v1's memory controller, in each cgroup of v2 but its root. */
const SWAP_LIMIT_FILES = { 1: 'memory/memory.memsw.limit_in_bytes', 2: 'memory.swap.max' } as const;

/** Whether the kernel can limit the swap of a cgroup (CONFIG_MEMCG_SWAP, on v1 also `swapaccount`), whether or not there is swap now. */
export function limitsSwap(version: 1 | 2, mountPoint = '/sys/fs/cgroup', ownCgroups = '/proc/self/cgroup'): boolean {
  if (version === 1) return existsSync(join(mountPoint, SWAP_LIMIT_FILES[1]));
  const own = /^0::(.*)$/m.exec(readFileSync(ownCgroups, 'utf8'))?.[1] ?? '/';
  return existsSync(join(mountPoint, own, SWAP_LIMIT_FILES[2]));
}

/** The swap areas in use, empty where there are none or where the kernel knows no swap. */
export function swapAreas(table = '/proc/swaps'): readonly string[] {
  return existsSync(table) ? parseSwapAreas(readFileSync(table, 'utf8')) : [];
}

/** A heading, then one line for each area; its first word is the file or device. Compressed memory that is only a cache counts too. */
export function parseSwapAreas(text: string): readonly string[] {
  const lines = text.split('\n').slice(1);
  return lines.map((line) => line.trim().split(/\s+/)[0] ?? '').filter((name) => name !== '');
}

/** Sets this process's place in the queue of the out-of-memory killer; the reason where it is not allowed, as for any unprivileged user. */
export function setOwnOomScore(score: number, file = '/proc/self/oom_score_adj'): string | undefined {
  try {
    if (Number(readFileSync(file, 'utf8')) !== score) writeFileSync(file, String(score));
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}

/** The processors in use, by number. */
export function onlineCpus(file = '/sys/devices/system/cpu/online'): readonly number[] {
  return readNumberList(file) ?? [...Array(availableParallelism()).keys()];
}

/** The memory nodes, by number; a machine that says nothing about them has one. */
export function numaNodes(file = '/sys/devices/system/node/online'): readonly number[] {
  return readNumberList(file) ?? [0];
}

/** Whether this kernel can hold processes to AppArmor profiles. */
export function appArmorEnabled(
  interfaceDirectory = '/sys/kernel/security/apparmor',
  parameter = '/sys/module/apparmor/parameters/enabled',
): boolean {
  return existsSync(interfaceDirectory) && existsSync(parameter) && readFileSync(parameter, 'utf8').startsWith('Y');
}

export function memoryBytes(): bigint {
  return BigInt(totalmem());
}

/** The size of all swap areas together. */
export function swapBytes(table = '/proc/meminfo'): bigint {
  return BigInt(/^SwapTotal:\s+(\d+) kB$/m.exec(readFileSync(table, 'utf8'))?.[1] ?? '0') * 1024n;
}

/** A list such as `0-3,8` in a file of the kernel's; undefined where the kernel has no such file. */
function readNumberList(file: string): readonly number[] | undefined {
  if (!existsSync(file)) return undefined;
  const parsed = parseCpuSet(readFileSync(file, 'utf8').trim());
  return parsed.ok && parsed.value.length > 0 ? parsed.value : undefined;
}
