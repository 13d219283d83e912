/** The forms in which the kernel writes numbers. What has another form is undefined: never a guess, never an error. */

/** A whole number; `max` stands for no limit. */
export function parseNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const plain = digitsOf(text, 0, text.endsWith('\n') ? text.length - 1 : text.length);
  if (plain !== undefined) return plain;
  const word = text.trim();
  if (word === 'max') return Number.POSITIVE_INFINITY;
  return /^\d{1,20}$/.test(word) ? Number(word) : undefined;
}

/** Lines of a name, a blank and a number, as in `memory.stat` and `cpu.stat`. Other lines are left out. */
export function parseNamed(text = ''): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (let start = 0; start < text.length; ) {
    const newLine = text.indexOf('\n', start);
    const end = newLine === -1 ? text.length : newLine;
    const blank = text.indexOf(' ', start);
    if (blank > start && blank < end) {
      const value = digitsOf(text, blank + 1, end) ?? parseNumber(text.slice(blank + 1, end));
      if (value !== undefined) found.set(text.slice(start, blank), value);
    }
    start = end + 1;
  }
  return found;
}

/**
 * The same for a few of many names. A scrape reads this form from every cgroup, so there is one pass over the text, and nothing is made of the
 * lines that no one needs.
 */
export function chosenNumbers<N extends string>(names: readonly N[]) {
  type Chosen = Record<N, number | undefined>;
  const none = Object.fromEntries(names.map((name) => [name, undefined])) as Chosen;
  const byLength: N[][] = [];
  for (const name of names) byLength[name.length] = [...(byLength[name.length] ?? []), name];
  return (text: string): Readonly<Chosen> => {
    const found = { ...none };
    for (let start = 0; start < text.length; ) {
      const newLine = text.indexOf('\n', start);
      const end = newLine === -1 ? text.length : newLine;
      const blank = text.indexOf(' ', start);
      for (const name of byLength[blank - start] ?? []) {
        if (blank < end && text.startsWith(name, start))
          found[name] = digitsOf(text, blank + 1, end) ?? parseNumber(text.slice(blank + 1, end));
      }
      start = end + 1;
    }
    return found;
  };
}

/** As many digits as a number holds exactly. */
const MOST_DIGITS = 15;
const ZERO = 48;

/** The usual form, without a copy of the text: a scrape parses ten thousand lines. Undefined: some other form. */
function digitsOf(text: string, from: number, to: number): number | undefined {
  if (from === to || to - from > MOST_DIGITS) return undefined;
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

export interface PressureLine {
  /** Percent of the last 10, 60 and 300 seconds. */
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  /** Microseconds. */
  readonly total: number;
}

export interface Pressure {
  readonly some: PressureLine;
  readonly full: PressureLine;
}

const NO_LINE: PressureLine = { avg10: 0, avg60: 0, avg300: 0, total: 0 };
export const NO_PRESSURE: Pressure = { some: NO_LINE, full: NO_LINE };

const PRESSURE_LINE = /^(some|full) avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+) total=(\d+)$/gm;

/** `cpu.pressure` and its like. A kernel without PSI has no such file; all zero then, as in the reference. */
export function parsePressure(text: string | undefined): Pressure {
  let pressure = NO_PRESSURE;
  for (const [, kind = '', avg10, avg60, avg300, total] of (text ?? '').matchAll(PRESSURE_LINE)) {
    const line = { avg10: Number(avg10), avg60: Number(avg60), avg300: Number(avg300), total: Number(total) };
    pressure = { ...pressure, [kind]: line };
  }
  return pressure;
}

export interface InterfaceCounters {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxPackets: number;
  readonly rxErrors: number;
  readonly rxDropped: number;
  readonly txBytes: number;
  readonly txPackets: number;
  readonly txErrors: number;
  readonly txDropped: number;
}

/** What carries the traffic of other namespaces or none at all: counting it would count pods twice. */
const UNCOUNTED = /^(?:lo|veth|docker|nerdctl)/i;
const COLUMNS = 16;

/** `/proc/PID/net/dev`: two lines of heading, then one for each interface of that process's network namespace. */
export function parseInterfaces(text: string | undefined): readonly InterfaceCounters[] {
  return (text ?? '').split('\n').flatMap((line) => {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim();
    const words = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/);
    const numbers = words.map(parseNumber);
    if (name === '' || UNCOUNTED.test(name) || words.length < COLUMNS || numbers.includes(undefined)) return [];
    const at = (index: number) => numbers[index] ?? 0;
    return [
      {
        name,
        rxBytes: at(0),
        rxPackets: at(1),
        rxErrors: at(2),
        rxDropped: at(3),
        txBytes: at(8),
        txPackets: at(9),
        txErrors: at(10),
        txDropped: at(11),
      },
    ];
  });
}

/** The soft limit of open files in `/proc/PID/limits`; -1: none. */
export function parseOpenFilesLimit(text: string | undefined): number | undefined {
  const soft = /^Max open files\s+(\S+)\s+\S+\s+\S+\s*$/m.exec(text ?? '')?.[1];
  return soft === 'unlimited' ? -1 : parseNumber(soft);
}

/** Processes and threads of the machine, from `/proc/loadavg`: `0.1 0.2 0.3 2/345 6789`. */
export function parseTaskCount(text: string | undefined): number | undefined {
  return parseNumber(/^\S+ \S+ \S+ \d+\/(\d+) /.exec(text ?? '')?.[1]);
}

/** Bytes that programs can get without swapping, as the kernel estimates it, from `/proc/meminfo`. */
export function parseMemoryAvailable(text: string | undefined): number | undefined {
  const kib = parseNumber(/^MemAvailable:\s+(\d+) kB$/m.exec(text ?? '')?.[1]);
  return kib === undefined ? undefined : kib * 1024;
}

/** The process ids of `cgroup.procs`; 0 stands for a process of another PID namespace. */
export function parsePids(text: string | undefined): readonly number[] {
  return (text ?? '')
    .split('\n')
    .map(parseNumber)
    .filter((pid) => pid !== undefined);
}
