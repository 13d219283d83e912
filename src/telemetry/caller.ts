/**
 * Which source line wrote a log line. It is asked only for lines that are really written, and costs a stack of one frame (a few
 * microseconds) instead of a source map held in memory: the build puts the few places of the bundle that log into one table.
 */
export interface Caller {
  readonly file: string;
  readonly line: number;
}

/** Finds the caller of `callee`, the function at the border between the log and its user. */
export type FindCaller = (callee: (...args: never[]) => unknown) => Caller;

const UNKNOWN: Caller = { file: 'unknown', line: 0 };
const FRAME = /(?:file:\/\/)?([^\s(]+):(\d+):(\d+)\)?$/;

/** `table` is the text that `tools/build.ts` makes, one `bundleLine:sourceFile:sourceLine` each; none when the sources run as they are. */
export function createCallerFinder(table: string | undefined): FindCaller {
  const bundled = table === undefined ? undefined : parseTable(table);
  return (callee) => {
    const frame = topFrame(callee);
    if (frame === undefined) return UNKNOWN;
    return bundled === undefined ? frame : (bundled.get(frame.line) ?? frame);
  };
}

function topFrame(callee: (...args: never[]) => unknown): Caller | undefined {
  const limit = Error.stackTraceLimit;
  const holder: { stack?: string } = {};
  Error.stackTraceLimit = 1;
  Error.captureStackTrace(holder, callee);
  // The text is made when it is first read, so the limit goes back only after that.
  const stack = holder.stack ?? '';
  Error.stackTraceLimit = limit;
  const match = FRAME.exec(stack);
  return match === null ? undefined : { file: match[1] ?? 'unknown', line: Number(match[2]) };
}

function parseTable(table: string): ReadonlyMap<number, Caller> {
  const callers = new Map<number, Caller>();
  for (const row of table.split('\n')) {
    const [bundleLine, file, line] = row.split(':');
    if (file !== undefined && line !== undefined) callers.set(Number(bundleLine), { file, line: Number(line) });
  }
  return callers;
}
