/** Prometheus' text format for numbers that are computed as they are asked for, with the time of each where it has one. */
import { escapeHelp, escapeValue, formatNumber } from './metrics.ts';

export type LabelPair = readonly [name: string, value: string];

export const labelPair = ([name, value]: LabelPair): string => `${name}="${escapeValue(value)}"`;

export const valueText = formatNumber;

/** `time`: milliseconds since 1970; undefined: the scraper's. */
export function sampleLine(name: string, labels: string, value: number, time?: number): string {
  const at = time === undefined ? '' : ` ${Math.floor(time)}`;
  return `${name}${labels === '' ? '' : `{${labels}}`} ${formatNumber(value)}${at}`;
}

export interface FamilyHead {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
}

/** The lines before the samples. A family without samples is left out, as in the reference. */
export const familyHead = ({ name, help, type }: FamilyHead): string =>
  `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
