import { suggestion } from '../rules/nearest.ts';
import type { Flag } from './flag.ts';
import type { Configurable } from './target.ts';

export type CommandLine = {
  /** Each problem in one line with the flag, the value and the allowed values. */
  readonly problems: readonly string[];
  /** One for each deprecated flag that was used. */
  readonly warnings: readonly string[];
  /** Flags that set something, in the order of their first use. */
  readonly given: ReadonlyMap<string, Flag>;
  /** Applies the flags to a configuration; may be called again for another one. */
  apply(on: Configurable): Configurable;
};

type Uses = Map<Flag, string[]>;

type FlagIndex = { readonly byName: ReadonlyMap<string, Flag>; readonly byLetter: ReadonlyMap<string, Flag> };

/** Parses the arguments. Never throws: all problems are in `problems`. */
export function parseCommandLine(words: readonly string[], table: readonly Flag[]): CommandLine {
  const index = indexFlags(table);
  const uses: Uses = new Map();
  const problems: string[] = [];
  let at = 0;
  while (at < words.length) {
    const word = words[at] ?? '';
    at += 1;
    if (word === '--') {
      problems.push(...words.slice(at).map(describePositional));
      break;
    }
    const step = word.startsWith('--')
      ? readLong(word, words[at], index)
      : word.startsWith('-') && word !== '-'
        ? readShort(word, words[at], index)
        : { uses: [], problems: [describePositional(word)], ateNext: false };
    for (const [flag, text] of step.uses) uses.set(flag, [...(uses.get(flag) ?? []), text]);
    problems.push(...step.problems);
    if (step.ateNext) at += 1;
  }
  return finish(uses, problems);
}

type Step = {
  readonly uses: readonly (readonly [Flag, string])[];
  readonly problems: readonly string[];
  readonly ateNext: boolean;
};

function readLong(word: string, next: string | undefined, { byName }: FlagIndex): Step {
  const equals = word.indexOf('=');
  const written = equals < 0 ? word : word.slice(0, equals);
  const text = equals < 0 ? undefined : word.slice(equals + 1);
  const name = written.slice(2).replaceAll('_', '-');
  const flag = byName.get(name);
  if (flag === undefined) return unknown(written, suggestion(name, byName.keys(), dashed), text, next);
  return useFlag(flag, text, next);
}

/** `-v3`, `-v=3`, `-v 3`, `-h`; letters without a value can stand together. */
function readShort(word: string, next: string | undefined, { byName, byLetter }: FlagIndex): Step {
  const uses: (readonly [Flag, string])[] = [];
  for (let i = 1; i < word.length; i++) {
    const letter = word.charAt(i);
    const flag = byLetter.get(letter);
    if (flag === undefined) return { ...unknownShort(word, letter, next, byName), uses };
    const rest = word.slice(i + 1);
    if (flag.bare !== undefined && !rest.startsWith('=')) {
      uses.push([flag, flag.bare]);
      continue;
    }
    const text = rest === '' ? undefined : rest.replace(/^=/, '');
    const last = useFlag(flag, text, next);
    return { ...last, uses: [...uses, ...last.uses] };
  }
  return { uses, problems: [], ateNext: false };
}

function useFlag(flag: Flag, text: string | undefined, next: string | undefined): Step {
  const given = text ?? flag.bare;
  if (given !== undefined) return { uses: [[flag, given]], problems: [], ateNext: false };
  if (next !== undefined) return { uses: [[flag, next]], problems: [], ateNext: true };
  return { uses: [], problems: [`flag ${dashed(flag.name)} needs a value (${flag.label})`], ateNext: false };
}

function unknownShort(word: string, letter: string, next: string | undefined, byName: ReadonlyMap<string, Flag>): Step {
  const [name = ''] = word.slice(1).replaceAll('_', '-').split('=');
  const hint = byName.has(name) ? `; did you mean ${dashed(name)}?` : '';
  const inWord = word.length > 2 ? ` in ${JSON.stringify(word)}` : '';
  return unknown(`-${letter}${inWord}`, hint, word.includes('=') ? '' : undefined, next);
}

/** An argument after an unknown flag is most likely its value: reporting it would only add a misleading line. */
function unknown(written: string, hint: string, text: string | undefined, next: string | undefined): Step {
  const ateNext = text === undefined && next !== undefined && !next.startsWith('-');
  return { uses: [], problems: [`unknown flag ${written}${hint}`], ateNext };
}

function finish(uses: Uses, problems: string[]): CommandLine {
  const warnings: string[] = [];
  const given = new Map<string, Flag>();
  const assignments: ((on: Configurable) => Configurable)[] = [];
  for (const [flag, texts] of uses) {
    const reading = flag.read(texts);
    if (flag.deprecated !== undefined) {
      warnings.push(`Flag ${dashed(flag.name)} has been deprecated, ${flag.deprecated}`);
    }
    if (reading.is === 'bad') {
      problems.push(
        `flag ${dashed(flag.name)}: ${JSON.stringify(reading.text)} is not allowed: use ${reading.allowed}`,
      );
    } else if (reading.is === 'assignment') {
      given.set(flag.name, flag);
      assignments.push(reading.apply);
    }
  }
  const apply = (on: Configurable) => assignments.reduce((so, assign) => assign(so), on);
  return { problems, warnings, given, apply };
}

function indexFlags(table: readonly Flag[]): FlagIndex {
  const byName = new Map<string, Flag>();
  const byLetter = new Map<string, Flag>();
  for (const flag of table) {
    byName.set(flag.name, flag);
    if (flag.short !== undefined) byLetter.set(flag.short, flag);
  }
  return { byName, byLetter };
}

function describePositional(word: string): string {
  return `unexpected argument ${JSON.stringify(word)}: the kubelet takes flags only`;
}

function dashed(name: string): string {
  return `--${name}`;
}
