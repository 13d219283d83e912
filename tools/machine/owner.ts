/** Whether the process that made something still lives, also when its pid was given to another one since. */
import { readFileSync } from 'node:fs';

export interface Owner {
  readonly pid: number;
  /** Clock ticks since boot at which the process started. */
  readonly startTime: string;
  readonly bootId: string;
}

export function ownerOf(pid: number): Owner | undefined {
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime, bootId: bootId() };
}

export function isAlive(owner: Owner): boolean {
  return owner.bootId === bootId() && startTimeOf(owner.pid) === owner.startTime;
}

/** A dead process that no one has waited for counts as gone. */
export function parseStartTime(stat: string): string | undefined {
  // The command name is in brackets and may itself hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  return state === 'Z' || state === 'X' ? undefined : fields[19];
}

function startTimeOf(pid: number): string | undefined {
  try {
    return parseStartTime(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // No such process: there is no other reason why root can't read it.
    return undefined;
  }
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
