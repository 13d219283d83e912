/** Structured values of a log line. An `err` among them is written first, with its causes. */
export type LogValues = Readonly<Record<string, unknown>>;

/**
 * The log as every part sees it. Messages are short fixed sentences; what varies goes into the values, so that a line can be
 * searched for and, in JSON, be read by a program.
 */
export interface Logger {
  info(message: string, values?: LogValues): void;
  warn(message: string, values?: LogValues): void;
  error(message: string, values?: LogValues): void;
  /** The logger itself where lines of this level are written, else undefined: `log.v(4)?.info(…)` costs nothing when off. */
  v(level: number): Logger | undefined;
  /** The same log with these values on every line. */
  with(values: LogValues): Logger;
  /** The same log for one module, such as `pods/worker`: what `--vmodule` patterns are matched against. */
  named(module: string): Logger;
}

/** A log that no one reads, for embedders that need none. */
export function createSilentLogger(): Logger {
  const nothing = () => undefined;
  const logger: Logger = {
    info: nothing,
    warn: nothing,
    error: nothing,
    v: nothing,
    with: () => logger,
    named: () => logger,
  };
  return logger;
}
