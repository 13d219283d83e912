/**
 * Takes the measures: in each round the floor, ours and the reference, in the same world, one right after the other, so that whatever else
 * the machine does in that minute hits them alike; and who is first changes from round to round.
 */
import { describeError } from '../src/base/errors.ts';
import { formatElapsed } from '../tests/lab/binaries/progress.ts';
import type { RuntimeName } from '../tests/lab/supplies.ts';
import { BUILT } from './built.ts';
import type { Measure, MeasureIn, Values } from './measure.ts';
import type { Column, MeasuredMeasure, Outcome } from './rows.ts';
import type { Size } from './size.ts';
import { openCluster } from './world/cluster.ts';
import { type BenchNode, type Contestant, openNode, type Stage } from './world/node.ts';

export interface RunOptions {
  readonly measures: readonly Measure[];
  readonly contestants: readonly Contestant[];
  readonly rounds: number;
  readonly size: Size;
  readonly runtime: RuntimeName;
  readonly say: (line: string) => void;
}

/** Gives each measure as soon as it is taken: a run of many minutes that is interrupted has not been for nothing. */
export async function* runMeasures(options: RunOptions): AsyncGenerator<MeasuredMeasure> {
  const inNode = options.measures.filter((measure) => measure.world === 'node');
  const inCluster = options.measures.filter((measure) => measure.world === 'cluster');
  if (inNode.length > 0) {
    await using stage = await openNode(options.runtime, options.size);
    for (const measure of inNode) yield await takeMeasure(measure, stage, options);
  }
  if (inCluster.length > 0) {
    await using stage = await openCluster(options.runtime, options.size);
    for (const measure of inCluster) yield await takeMeasure(measure, stage, options);
  }
}

type TakeOptions = Pick<RunOptions, 'contestants' | 'rounds' | 'say'>;

export async function takeMeasure<W extends BenchNode>(
  measure: MeasureIn<W>,
  stage: Stage<W>,
  options: TakeOptions,
): Promise<MeasuredMeasure> {
  const outcomes: Record<Column, Outcome[]> = { ours: [], reference: [], floor: [] };
  const rounds = Math.min(options.rounds, measure.mostRounds ?? options.rounds);
  for (let round = 0; round < rounds; round += 1) {
    for (const turn of turnsOf(measure, stage, options.contestants, round)) {
      const from = performance.now();
      const outcome = turn.act === undefined ? ({ kind: 'notBuilt' } as const) : await takeTurn(stage, turn.act);
      outcomes[turn.column].push(outcome);
      const what = `${measure.name}, ${turn.column}, round ${round + 1} of ${rounds}`;
      options.say(`${what}: ${describeOutcome(outcome)} (${formatElapsed(performance.now() - from)})`);
    }
  }
  return { name: measure.name, figures: measure.figures, outcomes };
}

interface Turn {
  readonly column: Column;
  /** Missing where the contestant can't do it yet. */
  readonly act: (() => Promise<Values>) | undefined;
}

function turnsOf<W extends BenchNode>(
  measure: MeasureIn<W>,
  stage: Stage<W>,
  contestants: readonly Contestant[],
  round: number,
): readonly Turn[] {
  const { run, floor } = measure;
  const order = round % 2 === 0 ? contestants : contestants.toReversed();
  const turns = order.flatMap((contestant): Turn[] => {
    if (run === undefined) return [];
    const isBuilt = contestant.name !== 'ours' || BUILT.has(measure.needs);
    const act = isBuilt ? () => run(stage.kubelet(contestant), stage.world) : undefined;
    return [{ column: contestant.name, act }];
  });
  return floor === undefined ? turns : [{ column: 'floor', act: () => floor(stage.world) }, ...turns];
}

/** A failed one is reported and does not stop the rest, also where it cannot be cleaned up. */
async function takeTurn<W extends BenchNode>(stage: Stage<W>, act: () => Promise<Values>): Promise<Outcome> {
  const outcome = await orFailure(async () => {
    await stage.clear();
    return { kind: 'values', values: await act() };
  });
  return await orFailure(async () => {
    await stage.clear();
    return outcome;
  });
}

async function orFailure(attempt: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await attempt();
  } catch (error) {
    return { kind: 'failed', message: describeError(error) };
  }
}

function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'values':
      return 'done';
    case 'failed':
      return `FAILED: ${outcome.message}`;
    case 'notBuilt':
      return 'not built yet';
  }
}
