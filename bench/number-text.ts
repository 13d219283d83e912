/** Numbers as a person reads them: three digits that matter, and the unit. */
import type { Cell } from './rows.ts';

export type Unit = 'ms' | 'MB' | 'KB' | '%' | 'MB/s' | '/min' | '';

export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value)) return String(value);
  if (size >= 100) return value.toFixed(0);
  return value.toFixed(size >= 10 ? 1 : 2);
}

export const formatValue = (value: number, unit: Unit): string =>
  unit === '' ? formatNumber(value) : `${formatNumber(value)} ${unit}`;

export function formatCell(cell: Cell, unit: Unit): string {
  switch (cell.kind) {
    case 'measured':
      return formatValue(cell.value, unit);
    case 'failed':
      return 'failed';
    case 'notBuilt':
      return 'not built yet';
    case 'none':
      return '';
  }
}
