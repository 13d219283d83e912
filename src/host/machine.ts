/** Facts about this machine that decide whether a kubelet may start on it. */
import { existsSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { parseCpuSet } from '../api/cpu-set.ts';
import { describeError } from '../base/errors.ts';

const CGROUP2_MAGIC = 0x63677270;

/** 2 where the unified hierarchy is what is mounted at the usual place; a hybrid layout counts as 1. */
export function cgroupVersion(mountPoint = '/sys/fs/cgroup'): 1 | 2 {
  return statfsSync(mountPoint).type === CGROUP2_MAGIC ? 2 : 1;
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
  interfaceFolder = '/sys/kernel/security/apparmor',
  parameter = '/sys/module/apparmor/parameters/enabled',
): boolean {
  return existsSync(interfaceFolder) && existsSync(parameter) && readFileSync(parameter, 'utf8').startsWith('Y');
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
