/** The most similar known name, or undefined if none is similar enough to suggest it. */
export function nearestName(wanted: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  let best: string | undefined;
  // Fewer edits than letters: otherwise any short name would match.
  let bestDistance = Math.min(limit + 1, wanted.length);
  for (const name of known) {
    if (Math.abs(name.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted.toLowerCase(), name.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** `; did you mean X?`, or nothing. */
export function suggestion(
  wanted: string,
  known: Iterable<string>,
  decorate: (name: string) => string = String,
): string {
  const name = nearestName(wanted, known);
  return name === undefined ? '' : `; did you mean ${decorate(name)}?`;
}

/**
 * Insertions, deletions, substitutions and swaps of neighbours each count one. Returns `atMost` as soon as the
 * distance can't get below it: the tables have a few hundred names.
 */
function editDistance(a: string, b: string, atMost: number): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min(at(previous, j) + 1, at(current, j - 1) + 1, at(previous, j - 1) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, at(beforePrevious, j - 2) + 1);
      }
      current.push(value);
    }
    if (Math.min(...current) >= atMost) return atMost;
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
