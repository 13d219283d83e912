/** `--vmodule`: a verbosity of their own for modules whose name matches a pattern. */
export interface ModuleLevel {
  readonly filePattern: string;
  readonly verbosity: number;
}

/**
 * The verbosity that the first matching pattern gives to a module such as `pods/worker`, or undefined where none matches.
 * A pattern with a slash is compared with the whole name, any other with its last part.
 */
export function moduleVerbosity(modules: readonly ModuleLevel[], module: string): number | undefined {
  const last = module.slice(module.lastIndexOf('/') + 1);
  return modules.find(({ filePattern }) => matches(filePattern, filePattern.includes('/') ? module : last))?.verbosity;
}

/** File name patterns: `*`, `?` and `[a-z]`, none of them crossing a slash. A broken pattern matches nothing. */
function matches(pattern: string, name: string): boolean {
  let source = '';
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charAt(i);
    if (char === '*') source += '[^/]*';
    else if (char === '?') source += '[^/]';
    else if (char === '[') {
      const end = pattern.indexOf(']', i + 2);
      if (end < 0) return false;
      const inside = pattern.slice(i + 1, end);
      if (hasBackwardRange(inside)) return false;
      source += bracket(inside);
      i = end;
    } else source += RegExp.escape(char);
  }
  return new RegExp(`^${source}$`, 's').test(name);
}

function hasBackwardRange(inside: string): boolean {
  return [...inside.matchAll(/(.)-(.)/gs)].some(([, from = '', to = '']) => from > to);
}

function bracket(inside: string): string {
  const negated = inside.startsWith('^') || inside.startsWith('!');
  const characters = (negated ? inside.slice(1) : inside).replace(/[\\\]^]/g, '\\$&');
  return `[${negated ? '^' : ''}${characters}]`;
}
