/**
 * What the kernel logs when it kills a process because memory is short. A full report is dozens of lines; the kernel writes ten of
 * them in five seconds at most. The line that names the killed process is always written.
 */

export interface KernelRecord {
  /** Counts up since the machine booted. */
  readonly sequence: number;
  readonly text: string;
}

export interface Kill {
  readonly sequence: number;
  readonly pid: number;
  readonly process: string;
  /** The memory cgroup of the killed process; undefined where the kernel left it out. Always from the machine's root. */
  readonly cgroup: string | undefined;
  /** The cgroup whose limit was reached; undefined where the kernel left it out, and where the machine was out of memory. */
  readonly limitedCgroup: string | undefined;
  /** Of that cgroup. */
  readonly limitBytes: number | undefined;
  /** The machine was out of memory, not a cgroup. */
  readonly isGlobal: boolean;
}

/** What is known of the report that is being read. */
export interface Report {
  readonly limitBytes?: number;
  readonly cgroup?: string;
  readonly limitedCgroup?: string;
  /** The process that the report is about; undefined where the lines did not say yet. */
  readonly victim?: number;
  /** All processes of this cgroup are killed together (`memory.oom.group`). */
  readonly group?: string;
  readonly killed: readonly number[];
}

export const NO_REPORT: Report = { killed: [] };

const KIB = 1024;
const HEAD = /^(\d{1,5}),(\d{1,16}),\d+,[^;]*;(.*)/;
/** Records of programs have a number here, too: anyone with the right to write to the log could report kills. */
const FACILITY_BITS = 3;

/** Undefined where it is no record of the kernel itself. */
export function parseKernelRecord(raw: string): KernelRecord | undefined {
  const [, priority, sequence, text = ''] = HEAD.exec(raw) ?? [];
  if (priority === undefined || Number(priority) >> FACILITY_BITS !== 0) return undefined;
  return { sequence: Number(sequence), text };
}

/** Of any record, also of one that a program wrote. */
export function sequenceOf(raw: string): number | undefined {
  const sequence = /^\d{1,5},(\d{1,16}),/.exec(raw)?.[1];
  return sequence === undefined ? undefined : Number(sequence);
}

const BEGIN = /invoked oom-killer: /;
const LIMIT = /^memory: usage \d+kB, limit (\d{1,15})kB, failcnt \d+$/;
/** A process chooses its own name, of 15 characters: what stands behind it is the kernel's. */
const DETAILS =
  /^oom-kill:constraint=\w+,.*?(?:,oom_memcg=(.*?)|,global_oom),task_memcg=(.*?),task=.*,pid=(\d+),uid=\d+$/;
/** Before Linux 5.0. */
const OLDER_DETAILS = /^Task in (.*) killed as a result of limit of (.*)$/;
const GROUP = /^Tasks in (.*) are going to be killed due to memory\.oom\.group set$/;
const KILLED = /^(?:(Memory cgroup out of memory|Out of memory)[^:]*: )?Killed process (\d+) \((.*)\)[, ]/;

/** The report after one more record, and the kill that it reports. */
export function readKillLine(
  report: Report,
  { sequence, text }: KernelRecord,
): { readonly report: Report; readonly kill?: Kill } {
  if (BEGIN.test(text)) return { report: NO_REPORT };
  const limit = LIMIT.exec(text)?.[1];
  if (limit !== undefined) return { report: { ...report, limitBytes: Number(limit) * KIB } };
  const details = DETAILS.exec(text);
  if (details !== null) {
    const [, limitedCgroup, cgroup = '', pid] = details;
    const limited = limitedCgroup === undefined ? {} : { limitedCgroup };
    return { report: { ...report, cgroup, victim: Number(pid), ...limited } };
  }
  const older = OLDER_DETAILS.exec(text);
  if (older !== null) return { report: { ...report, cgroup: older[1] ?? '', limitedCgroup: older[2] ?? '' } };
  const group = GROUP.exec(text)?.[1];
  if (group !== undefined) return { report: { ...report, group } };
  const killed = KILLED.exec(text);
  return killed === null ? { report } : readKill(report, killed, sequence);
}

function readKill(report: Report, [, cause, id = '', process = '']: RegExpExecArray, sequence: number) {
  const pid = Number(id);
  // The first process of a group is named twice.
  if (report.killed.includes(pid)) return { report };
  const isOfReport = report.group !== undefined || report.victim === pid || isOlder(report);
  const { limitedCgroup, limitBytes, group, killed } = isOfReport ? report : NO_REPORT;
  const isGlobal = cause === undefined ? limitedCgroup === undefined : cause === 'Out of memory';
  // A group can hold cgroups below it; what the kernel says of the others is the group.
  const cgroup = isOfReport ? (report.victim === pid ? report.cgroup : (group ?? report.cgroup)) : undefined;
  const kill: Kill = { sequence, pid, process, cgroup, limitedCgroup, limitBytes, isGlobal };
  return { report: { ...(isOfReport ? report : NO_REPORT), killed: [...killed, pid] }, kill };
}

/** The lines of kernels before 5.0 name the process only at the end. */
const isOlder = ({ victim, cgroup, killed }: Report) =>
  victim === undefined && cgroup !== undefined && killed.length === 0;
