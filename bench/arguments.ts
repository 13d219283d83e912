/** What the command line and the environment ask for. */
import type { RuntimeName } from '../tests/lab/supplies.ts';

export interface BenchArguments {
  /** Names of measures; empty means all of them. */
  readonly only: readonly string[];
  /** The most rounds of a measure: those that take long have fewer. */
  readonly rounds: number;
  /** One round, few pods, short waits: shows that it works, says nothing about speed. */
  readonly short: boolean;
  readonly runtime: RuntimeName;
  /** The kubelet in the column "ours", if not dist/kubelet. */
  readonly kubelet: string | undefined;
  /** Where the results go, if not into the usual directory. */
  readonly results: string | undefined;
  readonly help: boolean;
}

export const USAGE = `usage: node bench/main.ts [--only NAME[,NAME]] [--rounds N] [--short] [--runtime NAME] [--kubelet PATH] [--results DIRECTORY]
  --only NAME      only these measures
  --rounds N       the most rounds of a measure (ROUNDS in the environment; 3)
  --short          one round, few pods, short waits
  --runtime NAME   containerd-2.4 (default) or containerd-1.6
  --kubelet PATH   the kubelet in the column "ours" (dist/kubelet)
  --results DIRECTORY where the JSON and the chart go (bench/results)
`;

const DEFAULT_ROUNDS = 3;
const MOST_ROUNDS = 100;
const RUNTIMES: readonly RuntimeName[] = ['containerd-2.4', 'containerd-1.6'];

type Draft = { -readonly [K in keyof BenchArguments]: BenchArguments[K] };

export function parseArguments(argv: readonly string[], env: NodeJS.ProcessEnv): BenchArguments {
  const draft: Draft = {
    only: [],
    rounds: env['ROUNDS'] ? parseRounds('ROUNDS', env['ROUNDS']) : DEFAULT_ROUNDS,
    short: false,
    runtime: 'containerd-2.4',
    kubelet: undefined,
    results: undefined,
    help: false,
  };
  for (const { flag, value } of splitFlags(argv)) apply(draft, flag, value);
  return draft.short ? { ...draft, rounds: 1 } : draft;
}

const WITH_VALUE = ['--only', '--rounds', '--runtime', '--kubelet', '--results'];

function* splitFlags(argv: readonly string[]): Generator<{ flag: string; value: string | undefined }> {
  for (let at = 0; at < argv.length; at += 1) {
    const [flag = '', ...rest] = (argv[at] ?? '').split('=');
    if (rest.length > 0) yield { flag, value: rest.join('=') };
    else if (WITH_VALUE.includes(flag)) yield { flag, value: argv[++at] };
    else yield { flag, value: undefined };
  }
}

function apply(draft: Draft, flag: string, value: string | undefined): void {
  if (!WITH_VALUE.includes(flag)) {
    if (flag === '--short' && value === undefined) draft.short = true;
    else if ((flag === '--help' || flag === '-h') && value === undefined) draft.help = true;
    else throw new Error(`${flag}${value === undefined ? '' : `=${value}`}: no such argument\n${USAGE}`);
    return;
  }
  if (value === undefined || value === '') throw new Error(`${flag}: a value is missing\n${USAGE}`);
  if (flag === '--only') draft.only = [...draft.only, ...value.split(',').filter((name) => name !== '')];
  if (flag === '--rounds') draft.rounds = parseRounds(flag, value);
  if (flag === '--kubelet') draft.kubelet = value;
  if (flag === '--results') draft.results = value;
  if (flag === '--runtime') draft.runtime = parseRuntime(value);
}

function parseRounds(name: string, text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > MOST_ROUNDS) {
    throw new Error(`${name}=${text}: a whole number from 1 to ${MOST_ROUNDS} is needed`);
  }
  return rounds;
}

function parseRuntime(text: string): RuntimeName {
  const found = RUNTIMES.find((name) => name === text);
  if (found === undefined) throw new Error(`--runtime ${text}: allowed are ${RUNTIMES.join(' and ')}`);
  return found;
}
