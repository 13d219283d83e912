/** Texts that a stranger would write to keep a parser busy, and the check that it is not. */
import assert from 'node:assert/strict';
import fc from 'fast-check';

export interface Target {
  /** Answers what is wrong as a value: whatever it throws is a finding. */
  readonly run: (text: string) => unknown;
  /** Pieces that mean something to this parser; their repetitions are what quadratic patterns choke on. */
  readonly pieces: readonly string[];
  /** Characters of a long text; fewer where each takes its time. */
  readonly longest?: number;
}

const ANYWHERE = [
  'a',
  'A',
  '0',
  '1',
  ' ',
  '\n',
  '\t',
  '-',
  '.',
  '/',
  ':',
  '"',
  "'",
  '\\',
  '\0',
  '\ud800',
  'é',
  '😀',
  '',
];

/** A text without a bound on how often a part is repeated, as long as asked for. */
function texts(pieces: readonly string[]): fc.Arbitrary<(length: number) => string> {
  const piece = fc.constantFrom(...pieces, ...ANYWHERE);
  const few = fc.array(piece, { maxLength: 3 }).map((parts) => parts.join(''));
  const core = fc.array(piece, { minLength: 1, maxLength: 2 }).map((parts) => parts.join('') || 'x');
  return fc.tuple(few, core, few).map(
    ([head, repeated, tail]) =>
      (length) =>
        head + repeated.repeat(Math.ceil(length / repeated.length)) + tail,
  );
}

const LONG = 160_000;
/** So many times as long as a short one. */
const STEP = 8;
/** Linear work on a long text takes milliseconds: so long is no cause for a closer look, however busy the machine is. */
const UNSUSPICIOUS_MS = 1500;
/** Eight times the text may take eight times as long; the square would be 64. */
const MOST_GROWTH = 32;
const RUNS = 30;

/** Every piece again and again, with and without something behind that fits nowhere, then mixtures. */
export function checkHostile(target: Target): void {
  for (const piece of new Set([...target.pieces, ...ANYWHERE])) {
    for (const tail of piece === '' ? [] : ['', '!']) {
      checkGrowth(target, (length) => piece.repeat(Math.ceil(length / piece.length)) + tail, JSON.stringify(piece));
    }
  }
  fc.assert(
    fc.property(texts(target.pieces), (make) => {
      target.run(make(20));
      checkGrowth(target, make, 'a mixture');
    }),
    { numRuns: RUNS },
  );
}

/** Of a size that grows: the length of a text, or how many things an object has. */
export function checkGrowth<T>(
  { run, longest = LONG }: { readonly run: (input: T) => unknown; readonly longest?: number },
  make: (length: number) => T,
  what: string,
): void {
  const took = timeOf(run, make(longest));
  if (took < UNSUSPICIOUS_MS) return;
  const growth = Math.min(timeOf(run, make(longest)), took) / Math.max(timeOf(run, make(longest / STEP)), 1);
  const found = `${STEP} times the text took ${growth.toFixed(0)} times as long, ${took.toFixed(0)} ms`;
  assert.ok(growth < MOST_GROWTH, `${what}: ${found}`);
}

function timeOf<T>(run: (input: T) => unknown, input: T): number {
  const start = performance.now();
  run(input);
  return performance.now() - start;
}
