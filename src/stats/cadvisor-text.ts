/** Rows and lines of `/metrics/cadvisor`. A node with a hundred pods has twenty thousand lines: labels are put together once for each row. */
import { familyText, labelPair, sampleLine } from '../telemetry/exposition.ts';
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
  readonly seen: Seen;
}

type Labelled = Pick<Target, 'path' | 'kind' | 'id' | 'container' | 'image'> & {
  readonly pod: Pick<StatsPod, 'name' | 'namespace'> | undefined;
};

const NAMES = ['container', 'id', 'image', 'name', 'namespace', 'pod'] as const;

export function makeRow({ path, kind, pod, id, container, image }: Labelled, seen: Seen): Row {
  const values = [container, path, image, id, pod?.namespace ?? '', pod?.name ?? ''];
  const labels = NAMES.map((name, at) => labelPair([name, values[at] ?? '']));
  return { kind, labels, text: labels.join(','), seen };
}

export const byLabels = (a: Row, b: Row) => (a.text < b.text ? -1 : 1);

export function familyOfRows(family: CadvisorFamily, rows: readonly Row[]): string {
  const { name, extra = [], isTimeless } = family;
  const withExtra = extra.length === 0 ? undefined : mergeLabels(extra);
  const lines: string[] = [];
  for (const { labels, text, seen } of rows) {
    const time = isTimeless ? undefined : seen.reading.time;
    for (const { value, extra: values = [] } of family.values(seen)) {
      lines.push(sampleLine(name, withExtra === undefined ? text : withExtra(labels, values), value, time));
    }
  }
  return familyText(family, lines);
}

/** How the labels of a row and those of a family come into the order of their names: found out once for the family. */
function mergeLabels(extra: readonly string[]) {
  const order = [...NAMES, ...extra].map((name, at) => ({ name, at })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return (labels: readonly string[], values: readonly string[]): string =>
    order.map(({ name, at }) => labels[at] ?? labelPair([name, values[at - NAMES.length] ?? ''])).join(',');
}

export function metricText(family: MetricFamily): string {
  const lines = family.samples.map(({ labels, value, time }) =>
    sampleLine(family.name, labels.map(labelPair).join(','), value, time),
  );
  return familyText(family, lines);
}
