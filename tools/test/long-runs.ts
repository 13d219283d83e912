/** The long runs of `make test-long` and what is said about them at the end. */
export interface LongRun {
  readonly name: string;
  /** The words after `make`. */
  readonly target: readonly string[];
}

export const LONG_RUNS: readonly LongRun[] = [
  { name: 'recorded', target: ['recorded'] },
  { name: 'conformance', target: ['conformance'] },
  { name: 'node-suite', target: ['conformance', 'SUITE=node'] },
  { name: 'soak', target: ['soak'] },
  { name: 'scraped', target: ['scraped'] },
  { name: 'runtimes', target: ['runtimes'] },
  { name: 'certificates', target: ['certificates'] },
  { name: 'pressure', target: ['pressure'] },
  { name: 'repeated', target: ['repeated'] },
];

export interface LongResult {
  readonly run: LongRun;
  readonly code: number;
  readonly seconds: number;
}

/** The runs that a person named, all of them if none; an unknown name is an error. */
export function chooseRuns(names: readonly string[]): readonly LongRun[] {
  const known = LONG_RUNS.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`no long run named ${unknown.join(', ')}; there are ${known.join(', ')}`);
  return names.length === 0 ? LONG_RUNS : LONG_RUNS.filter(({ name }) => names.includes(name));
}

/** Every run is made, whatever those before it said. */
export async function runAll(
  runs: readonly LongRun[],
  make: (run: LongRun) => Promise<{ readonly code: number; readonly seconds: number }>,
): Promise<readonly LongResult[]> {
  const results: LongResult[] = [];
  for (const run of runs) results.push({ run, ...(await make(run)) });
  return results;
}

export function renderResults(results: readonly LongResult[]): string {
  return results
    .map(({ run, code, seconds }) => {
      const outcome = code === 0 ? 'passed' : `FAILED (exit code ${code})`;
      return `make ${run.target.join(' ').padEnd(24)} ${outcome} in ${Math.round(seconds / 60)} min\n`;
    })
    .join('');
}
