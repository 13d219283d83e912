/**
 * Finds background loops that the supervisor (`src/base/supervise.ts`) does not keep running: loops that go on until a signal aborts,
 * or for ever. One that throws there ends for good, and no one hears of it but the log.
 */
export interface LooseLoop {
  /** From 1. */
  readonly line: number;
  readonly code: string;
}

/** `while (!signal.aborted)`, `while (true)`, `for (;;)`, `for (…; !signal.aborted; …)`. */
const ENDLESS =
  /\bwhile \((?:true|[^\n]*\baborted\b[^\n]*)\)|\bfor \((?:;;|[^;\n]*;[^;\n]*\baborted\b[^;\n]*;[^\n]*)\)/g;

export function looseLoops(code: string): readonly LooseLoop[] {
  return Array.from(code.matchAll(ENDLESS), (match) => ({
    line: code.slice(0, match.index).split('\n').length,
    code: match[0],
  }));
}

/** The names of the loops that a file has the supervisor run: there must be one for each. */
export function loopNames(code: string): readonly string[] {
  const names = Array.from(
    code.matchAll(/(?:supervisor\.run\(|const loop(?:: Loop)? =)\s*\{\s*name: '([^']+)'/g),
    (match) => match[1] ?? '',
  );
  const runs = code.split('supervisor.run(').length - 1;
  if (names.length !== runs) throw new Error(`${runs} loops, but ${names.length} names: ${names.join(', ')}`);
  return names;
}
