/** From what the rounds gave to the rows of the table: one for each figure, each cell the median of its rounds. */
import type { Figure, Values } from './measure.ts';
import { median } from './statistics.ts';

export type Column = 'ours' | 'reference' | 'floor';
export const COLUMNS: readonly Column[] = ['ours', 'reference', 'floor'];

export type Outcome =
  | { readonly kind: 'values'; readonly values: Values }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'notBuilt' };

export type Cell =
  | { readonly kind: 'measured'; readonly value: number; readonly rounds: readonly number[] }
  | { readonly kind: 'failed' }
  | { readonly kind: 'notBuilt' }
  | { readonly kind: 'none' };

export interface MeasuredMeasure {
  readonly name: string;
  readonly figures: Readonly<Record<string, Figure>>;
  readonly outcomes: Readonly<Record<Column, readonly Outcome[]>>;
}

export interface Row extends Figure {
  readonly measure: string;
  readonly figure: string;
  readonly cells: Readonly<Record<Column, Cell>>;
  /** Ours by the reference's. */
  readonly ratio: number | undefined;
}

export function makeRows(measured: MeasuredMeasure): readonly Row[] {
  return Object.entries(measured.figures).map(([figure, described]) => {
    const cells = {
      ours: makeCell(measured.outcomes.ours, figure),
      reference: makeCell(measured.outcomes.reference, figure),
      floor: makeCell(measured.outcomes.floor, figure),
    };
    return { measure: measured.name, figure, ...described, cells, ratio: ratioOf(cells.ours, cells.reference) };
  });
}

function makeCell(outcomes: readonly Outcome[], figure: string): Cell {
  const rounds = outcomes.flatMap((outcome) => {
    const value = outcome.kind === 'values' ? outcome.values[figure] : undefined;
    return value === undefined ? [] : [value];
  });
  if (rounds.length > 0) return { kind: 'measured', value: median(rounds), rounds };
  if (outcomes.some(({ kind }) => kind === 'failed')) return { kind: 'failed' };
  return outcomes.some(({ kind }) => kind === 'notBuilt') ? { kind: 'notBuilt' } : { kind: 'none' };
}

function ratioOf(ours: Cell, reference: Cell): number | undefined {
  if (ours.kind !== 'measured' || reference.kind !== 'measured' || reference.value === 0) return undefined;
  return ours.value / reference.value;
}

/** Every round that went wrong, as a line. */
export function failuresOf({ name, outcomes }: MeasuredMeasure): readonly string[] {
  return COLUMNS.flatMap((column) =>
    outcomes[column].flatMap((outcome, at) =>
      outcome.kind === 'failed' ? [`${name}, ${column}, round ${at + 1}: ${outcome.message}`] : [],
    ),
  );
}
