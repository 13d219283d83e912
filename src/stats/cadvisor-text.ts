/**
 * Rows and lines of `/metrics/cadvisor`. A node with a hundred pods has twenty thousand lines: the labels and the time of a row are put together
 * once, and lines are lists of parts until they are written.
 */
import { familyHead, labelPair, sampleLine, valueText } from '../telemetry/exposition.ts';
import type { CadvisorFamily, Seen } from './rules/cadvisor-family.ts';
import type { MetricFamily } from './rules/resource-metrics.ts';
import type { StatsPod, Target } from './rules/targets.ts';

/** One cgroup. */
export interface Row {
  readonly kind: Target['kind'];
  /** `container="c"` and so on, in the order of their names. */
  readonly labels: readonly string[];
  /** All of them. */
  readonly text: string;
  /** All of them, in braces. */
  readonly inBraces: string;
  /** The end of a line with the time of the reading. */
  readonly end: string;
  readonly seen: Seen;
}

type Labelled = Pick<Target, 'path' | 'kind' | 'id' | 'container' | 'image'> & {
  readonly pod: Pick<StatsPod, 'name' | 'namespace'> | undefined;
};

const NAMES = ['container', 'id', 'image', 'name', 'namespace', 'pod'] as const;

export function makeRow({ path, kind, pod, id, container, image }: Labelled, seen: Seen): Row {
  const values = [container, path, image, id, pod?.namespace ?? '', pod?.name ?? ''];
  const labels = NAMES.map((name, at) => labelPair([name, values[at] ?? '']));
  const text = labels.join(',');
  return { kind, labels, text, inBraces: ['{', text, '} '].join(''), end: ` ${Math.floor(seen.reading.time)}\n`, seen };
}

export const byLabels = (a: Row, b: Row) => (a.text < b.text ? -1 : 1);

/** Adds the lines of a family to `out`, in parts that are to be joined. A family without samples is left out. */
export function writeFamily(out: string[], family: CadvisorFamily, rows: readonly Row[]): void {
  const before = out.push(familyHead(family));
  const { name, extra, single } = family;
  if (single === undefined || extra !== undefined) writeSeveral(out, family, rows);
  else {
    for (const { inBraces, end, seen } of rows) {
      const value = single(seen);
      if (value !== undefined) out.push(name, inBraces, valueText(value), family.isTimeless ? '\n' : end);
    }
  }
  if (out.length === before) out.pop();
}

function writeSeveral(out: string[], family: CadvisorFamily, rows: readonly Row[]): void {
  const order = orderOf(family.extra ?? []);
  for (const { labels, end, seen } of rows) {
    for (const { value, extra: values = [] } of family.values(seen)) {
      out.push(family.name, '{');
      for (const { before, name, at } of order)
        out.push(before, labels[at] ?? labelPair([name, values[at - NAMES.length] ?? '']));
      out.push('} ', valueText(value), family.isTimeless ? '\n' : end);
    }
  }
}

/** How the labels of a row and those of a family come into the order of their names: found out once for the family. */
const orderOf = (extra: readonly string[]) =>
  [...NAMES, ...extra]
    .map((name, at) => ({ name, at }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((one, place) => ({ ...one, before: place === 0 ? '' : ',' }));

export function metricText(family: MetricFamily): string {
  if (family.samples.length === 0) return '';
  const lines = family.samples.map(({ labels, value, time }) =>
    sampleLine(family.name, labels.map(labelPair).join(','), value, time),
  );
  return `${familyHead(family)}${lines.join('\n')}\n`;
}
