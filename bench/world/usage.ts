/** What the parts of a node use while no one disturbs them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LabNode } from '../../tests/lab/lab.ts';
import { processesIn } from '../../tools/machine/cgroup-trees.ts';
import type { Figure, Values } from '../measure.ts';
import { countCalls, readRuntimeCalls } from './runtime-calls.ts';

/** Over a period: share of one processor in percent, memory at its end, calls a minute. */
export interface Usage {
  readonly kubeletCpu: number;
  /** containerd's process alone. */
  readonly containerdCpu: number;
  /** containerd with its shims, and every runc that they started and waited for. */
  readonly runtimeCpu: number;
  readonly kubeletMemory: number;
  readonly callsAMinute: (method?: string) => number;
}

export const IDLE_FIGURES = {
  kubeletCpu: { text: 'idle: CPU of the kubelet', unit: '%' },
  containerdCpu: { text: 'idle: CPU of containerd', unit: '%' },
  memory: { text: 'idle: resident memory', unit: 'MB' },
  calls: { text: 'idle: runtime calls', unit: '/min' },
} as const satisfies Record<string, Figure>;

export const idleValues = (usage: Usage): Values<keyof typeof IDLE_FIGURES> => ({
  kubeletCpu: usage.kubeletCpu,
  containerdCpu: usage.containerdCpu,
  memory: usage.kubeletMemory,
  calls: usage.callsAMinute(),
});

interface Reading {
  readonly at: number;
  readonly kubeletSeconds: number;
  readonly containerdSeconds: number;
  readonly runtimeSeconds: number;
}

/** Nothing else may be asked of the node meanwhile. */
export async function watchUsage(node: LabNode, periodMs: number): Promise<Usage> {
  // containerd works for its own metrics too, so they are asked for outside of the period.
  const callsBefore = await readRuntimeCalls(node);
  const before = await read(node);
  await delay(periodMs);
  const after = await read(node);
  const callsAfter = await readRuntimeCalls(node);
  const seconds = (after.at - before.at) / 1000;
  const percent = (name: 'kubeletSeconds' | 'containerdSeconds' | 'runtimeSeconds') =>
    (100 * (after[name] - before[name])) / seconds;
  return {
    kubeletCpu: percent('kubeletSeconds'),
    containerdCpu: percent('containerdSeconds'),
    runtimeCpu: percent('runtimeSeconds'),
    kubeletMemory: await residentMegabytes(node, 'kubelet'),
    callsAMinute: (method) => (60 * (countCalls(callsAfter, method) - countCalls(callsBefore, method))) / seconds,
  };
}

async function read(node: LabNode): Promise<Reading> {
  return {
    at: performance.now(),
    kubeletSeconds: node.kubelet.isRunning() ? await cgroupCpuSeconds(node, 'kubelet') : 0,
    containerdSeconds: parseProcessCpu(await readFile(`/proc/${node.containerd.pid}/stat`, 'utf8')),
    runtimeSeconds: await cgroupCpuSeconds(node, 'containerd'),
  };
}

/** The v2 tree counts the processor time of every group, also where v1 mounts hold the controllers. */
async function cgroupCpuSeconds(node: LabNode, part: string): Promise<number> {
  const path = join(node.world.hierarchies.unified, node.world.cgroup, part, 'cpu.stat');
  return parseCgroupCpu(await readFile(path, 'utf8'));
}

export function parseCgroupCpu(cpuStat: string): number {
  const microseconds = /^usage_usec (\d+)$/m.exec(cpuStat)?.[1];
  if (microseconds === undefined) throw new Error(`no usage_usec in cpu.stat: ${cpuStat}`);
  return Number(microseconds) / 1e6;
}

/** A tick of /proc is 10 ms on every Linux that matters. */
const TICKS_A_SECOND = 100;
const USER_TIME = 11;
const SYSTEM_TIME = 12;

/** User and system time of one process from its /proc/PID/stat, in seconds. Its name may hold spaces and brackets. */
export function parseProcessCpu(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME]);
  if (!Number.isFinite(ticks)) throw new Error(`not a line of /proc/PID/stat: ${stat}`);
  return ticks / TICKS_A_SECOND;
}

/** The kubelet together with whatever it has started. */
async function residentMegabytes(node: LabNode, part: string): Promise<number> {
  const pids = await processesIn(node.world.hierarchies, join(node.world.cgroup, part));
  const sizes = await Promise.all(pids.map(async (pid) => parseResident(await readIfThere(`/proc/${pid}/status`))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** VmRSS in megabytes; a process that has just ended holds nothing. */
export function parseResident(status: string): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return Number(kilobytes ?? 0) / 1024;
}

/** Between the list of the processes and this look, one of them may end. */
const readIfThere = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
