/** The log of one kubelet: levels, module patterns, format and the two streams. Lines are formatted only when they are wanted. */
import type { Clock } from '../base/clock.ts';
import type { Logger, LogValues } from '../base/logger.ts';
import type { FindCaller } from './caller.ts';
import { jsonLine, type LogEntry, type Severity, textLine } from './log-lines.ts';
import { type ModuleLevel, moduleVerbosity } from './vmodule.ts';

export interface LogLevels {
  readonly verbosity: number;
  readonly modules: readonly ModuleLevel[];
}

export interface LogSettings extends LogLevels {
  readonly format: 'text' | 'json';
  /** Info lines go to the info stream instead of the error stream. */
  readonly splitStream: boolean;
  /** Bytes of info lines that may wait for the next flush; 0 writes each at once. Only with `splitStream`. */
  readonly infoBufferSize: number;
}

/** Takes whole lines. Must neither throw nor wait. */
export interface LogStream {
  write(lines: string): void;
}

export interface LogDeps {
  readonly clock: Clock;
  readonly pid: number;
  readonly findCaller: FindCaller;
  readonly info: LogStream;
  readonly error: LogStream;
}

export interface Log {
  readonly logger: Logger;
  /** Changes verbosity and module patterns of every logger at once; format and streams stay. */
  setLevels(levels: LogLevels): void;
  /** Gives the streams what is buffered. Called at every flush interval and at exit. */
  flush(): void;
}

interface Scope {
  readonly module: string;
  readonly values: LogValues;
}

export function createLog(settings: LogSettings, deps: LogDeps): Log {
  let levels: LogLevels = settings;
  let generation = 0;
  const format = settings.format === 'json' ? jsonLine : textLine;
  const wallTime = createPreciseTime(deps.clock);
  const buffer =
    settings.splitStream && settings.infoBufferSize > 0 ? bufferStream(deps.info, settings.infoBufferSize) : undefined;
  const info = buffer ?? (settings.splitStream ? deps.info : deps.error);

  const write = (entry: LogEntry) => (entry.severity === 'I' ? info : deps.error).write(format(entry));

  const scoped = (scope: Scope): Logger => {
    let wanted = 0;
    let wantedAt = -1;
    const verbosity = (): number => {
      if (wantedAt !== generation) {
        wanted = moduleVerbosity(levels.modules, scope.module) ?? levels.verbosity;
        wantedAt = generation;
      }
      return wanted;
    };
    return leveled(scope, 0, verbosity);
  };

  const leveled = (scope: Scope, level: number, verbosity: () => number): Logger => {
    const emit = (severity: Severity, callee: (...args: never[]) => unknown, message: string, values?: LogValues) =>
      write({
        severity,
        time: wallTime(),
        pid: deps.pid,
        caller: deps.findCaller(callee),
        verbosity: level,
        message,
        values: values === undefined ? scope.values : { ...scope.values, ...values },
      });
    const logger: Logger = {
      info: (message, values) => emit('I', logger.info, message, values),
      warn: (message, values) => emit('W', logger.warn, message, values),
      error: (message, values) => emit('E', logger.error, message, values),
      v: (wanted) =>
        wanted <= verbosity() ? (wanted === level ? logger : leveled(scope, wanted, verbosity)) : undefined,
      with: (values) => scoped({ module: scope.module, values: { ...scope.values, ...values } }),
      named: (module) => scoped({ module, values: scope.values }),
    };
    return logger;
  };

  return {
    logger: scoped({ module: 'main', values: {} }),
    setLevels: (next) => {
      levels = next;
      generation += 1;
    },
    flush: () => buffer?.drain(),
  };
}

/** Holds lines back until `size` bytes would be exceeded or until the next flush; a line is never cut. */
function bufferStream(stream: LogStream, size: number): LogStream & { drain(): void } {
  let waiting: string[] = [];
  let bytes = 0;
  const drain = () => {
    if (waiting.length === 0) return;
    const lines = waiting.join('');
    waiting = [];
    bytes = 0;
    stream.write(lines);
  };
  return {
    drain,
    write: (lines) => {
      const length = Buffer.byteLength(lines);
      if (bytes + length > size) drain();
      if (length > size) {
        stream.write(lines);
        return;
      }
      waiting.push(lines);
      bytes += length;
    },
  };
}

/**
 * Wall time with fractions of a millisecond. The monotonic clock gives the fractions; the wall clock, which may be set,
 * stays the judge of the milliseconds.
 */
function createPreciseTime(clock: Clock): () => number {
  let offset = clock.now() - clock.mono();
  return () => {
    const wall = clock.now();
    const mono = clock.mono();
    const drift = mono + offset - wall;
    if (drift < 0 || drift >= 1) offset = wall - mono + Math.min(Math.max(drift, 0), 0.999);
    return mono + offset;
  };
}
