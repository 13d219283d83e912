/** The rows as text for a terminal. */
import { formatCell, formatNumber } from './number-text.ts';
import type { Row } from './rows.ts';

const HEAD = ['measure', '', 'ours', 'reference', 'ratio', 'floor'] as const;
/** The first two columns are words, the rest numbers. */
const WORD_COLUMNS = 2;
const GAP = '  ';

export function renderTable(rows: readonly Row[]): string {
  const lines = rows.map((row, at) => [
    row.measure === rows[at - 1]?.measure ? '' : row.measure,
    row.better === 'more' ? `${row.text} (more is better)` : row.text,
    formatCell(row.cells.ours, row.unit),
    formatCell(row.cells.reference, row.unit),
    row.ratio === undefined ? '' : formatNumber(row.ratio),
    formatCell(row.cells.floor, row.unit),
  ]);
  const widths = HEAD.map((head, column) => Math.max(head.length, ...lines.map((line) => line[column]?.length ?? 0)));
  const align = (line: readonly string[]) =>
    line
      .map((text, column) =>
        column < WORD_COLUMNS ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
      )
      .join(GAP)
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join(GAP);
  return [align(HEAD), rule, ...lines.map(align), ''].join('\n');
}
