/**
 * How much state a function keeps for the functions inside it. Reads formatted code by its indentation: the formatter decides where a body
 * begins and ends, so no parser is needed.
 */
export interface StatefulFunction {
  /** The line on which its body begins, counted from 1. */
  readonly line: number;
  readonly variables: readonly string[];
}

const OPENS_FUNCTION = /(?:=>|\)(?:: [^=]+)?) \{$/;
const CONTROL = /^(?:\} )?(?:if|for|while|switch|else|catch|try|do|with)\b/;
/** What can change: a variable, and a collection that is filled later. */
const MUTABLE = /^let (\w+)|^const (\w+)(?:: [^=]+)? = (?:new (?:Map|Set|WeakMap)\b|\[\];)/;

const indentOf = (line: string): number => line.length - line.trimStart().length;

export function statefulFunctions(code: string): readonly StatefulFunction[] {
  const found: { line: number; indent: number; variables: string[]; hasInner: boolean }[] = [];
  const open: typeof found = [];
  code.split('\n').forEach((line, index) => {
    const text = line.trim();
    if (text === '') return;
    const indent = indentOf(line);
    while (open.length > 0 && indent <= (open.at(-1)?.indent ?? 0)) open.pop();
    const inside = open.at(-1);
    const name = MUTABLE.exec(text);
    if (inside !== undefined && name !== null && indent === inside.indent + 2) {
      inside.variables.push(name[1] ?? name[2] ?? '');
    }
    if (OPENS_FUNCTION.test(text) && !CONTROL.test(text)) {
      for (const outer of open) outer.hasInner = true;
      const one = { line: index + 1, indent, variables: [], hasInner: false };
      open.push(one);
      found.push(one);
    } else if (inside !== undefined && text.includes('=>')) inside.hasInner = true;
  });
  return found.filter(({ hasInner }) => hasInner).map(({ line, variables }) => ({ line, variables }));
}
