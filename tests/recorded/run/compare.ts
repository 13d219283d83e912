/** Texts side by side: which lines only the recording has, which only the run, and which of these are meant. */

/** One thing that is compared: the same kind of lines from both sides. */
export interface Item {
  readonly name: string;
  readonly recorded: readonly string[];
  readonly seen: readonly string[];
}

/** A difference that is meant. */
export interface Difference {
  /** Names of items. */
  readonly items: readonly string[];
  /** Only these lives, and only lives with this restart policy. */
  readonly lives?: readonly string[];
  readonly restartPolicy?: string;
  /** Only as static pods, or only as pods of a cluster. */
  readonly only?: 'standalone' | 'cluster';
  /** Regular expressions, each for a whole line of a comparison: `- only recorded`, `+ only seen`. */
  readonly lines: readonly string[];
  /** Comes and goes with the load of the machine, so that it is no fault where it does not show. */
  readonly sometimes?: boolean;
  readonly reason: string;
}

export interface Verdict {
  readonly item: string;
  /** Lines that differ and are not meant to. */
  readonly unexplained: readonly string[];
  readonly explained: number;
}

export interface JudgedLife {
  readonly name: string;
  readonly restartPolicy: string | undefined;
}

export interface Judge {
  judge(life: JudgedLife, item: Item): Verdict;
  /** What was expected to differ and did not, as `reason: line`. */
  unused(): readonly string[];
}

export function createJudge(differences: readonly Difference[]): Judge {
  const rules = differences.flatMap((difference) =>
    difference.lines.map((line) => ({
      difference,
      pattern: new RegExp(`^(?:${line})$`, 's'),
      label: `${difference.reason}: ${line}`,
    })),
  );
  const used = new Set<string>();
  return {
    judge: (life, item) => {
      const lines = diffLines(item.recorded, item.seen);
      const fitting = rules.filter(({ difference }) => isAbout(difference, life, item));
      const isMeant = (line: string) => {
        const matching = fitting.filter(({ pattern }) => pattern.test(line));
        for (const { label } of matching) used.add(label);
        return matching.length > 0;
      };
      const unexplained = lines.filter((line) => !isMeant(line));
      return { item: item.name, unexplained, explained: lines.length - unexplained.length };
    },
    unused: () =>
      rules
        .filter(({ difference, label }) => difference.sometimes !== true && !used.has(label))
        .map(({ label }) => label),
  };
}

function isAbout({ items, lives, restartPolicy }: Difference, life: JudgedLife, item: Item): boolean {
  if (!items.includes(item.name)) return false;
  if (lives !== undefined && !lives.includes(life.name)) return false;
  return restartPolicy === undefined || restartPolicy === life.restartPolicy;
}

/** The shortest way from one list to the other: `- line` goes, `+ line` comes; lines that stay are left out. */
export function diffLines(from: readonly string[], to: readonly string[]): readonly string[] {
  const common = commonLengths(from, to);
  const lines: string[] = [];
  let i = 0;
  let j = 0;
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && from[i] === to[j]) {
      i += 1;
      j += 1;
    } else if (j >= to.length || (i < from.length && at(common, i + 1, j) >= at(common, i, j + 1))) {
      lines.push(`- ${from[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${to[j]}`);
      j += 1;
    }
  }
  return lines;
}

const at = (table: readonly (readonly number[])[], row: number, column: number): number => table[row]?.[column] ?? 0;

/** For each pair of ends, how many lines they have in common in order. */
function commonLengths(from: readonly string[], to: readonly string[]): readonly (readonly number[])[] {
  const table: number[][] = [];
  for (let i = from.length; i >= 0; i -= 1) {
    const row: number[] = [];
    for (let j = to.length; j >= 0; j -= 1) {
      const same = i < from.length && j < to.length && from[i] === to[j];
      row[j] = same ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), row[j + 1] ?? 0);
    }
    table[i] = row;
  }
  return table;
}
