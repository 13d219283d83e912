/** The charts of the node, or of one pod and its containers. */
import { SERIES, type SeriesName } from '../src/page/rules/series.ts';
import { Chart } from './chart.tsx';
import { bytes, cores, percent, perSecond } from './format.ts';
import type { Line } from './stream.ts';

export interface Range {
  readonly label: string;
  readonly span: number;
}

export const RANGES: readonly [Range, Range] = [
  { label: '5 minutes', span: 300_000 },
  { label: '1 hour', span: 3_600_000 },
];

const of = ({ points }: Line, name: SeriesName) => points.map((point) => point[SERIES.indexOf(name)] ?? null);
const isMeasured = (values: readonly (number | null)[]): boolean => values.some((value) => value !== null);

export interface ChartsProps {
  readonly line: Line;
  readonly span: number;
  /** By name; only for five minutes. */
  readonly containers?: ReadonlyMap<string, Line>;
  readonly cpus?: number | undefined;
  readonly memoryBytes?: number | undefined;
}

export function Charts({ line, span, containers, cpus, memoryBytes }: ChartsProps) {
  const { times } = line;
  const split = (name: SeriesName, whole: string) => [
    { label: whole, values: of(line, name) },
    ...[...(containers ?? [])].map(([label, one]) => ({ label, values: aligned(line, one, of(one, name)) })),
  ];
  const pressure = (['cpuWaiting', 'memoryWaiting', 'ioWaiting'] as const).map((name, index) => ({
    label: ['CPU', 'memory', 'disk'][index] ?? '',
    values: of(line, name),
  }));
  const shared = { times, span };
  return (
    <div class="charts">
      <Chart title="CPU" {...shared} lines={split('cpu', 'used')} format={cores} most={cpus} />
      <Chart title="Memory" {...shared} lines={split('memory', 'used')} format={bytes} most={memoryBytes} />
      <Chart
        title="Network"
        {...shared}
        lines={[
          { label: 'received', values: of(line, 'received') },
          { label: 'sent', values: of(line, 'sent') },
        ]}
        format={perSecond}
      />
      <Chart
        title="Disk"
        {...shared}
        lines={[
          { label: 'read', values: of(line, 'read') },
          { label: 'written', values: of(line, 'written') },
        ]}
        format={perSecond}
      />
      {pressure.some(({ values }) => isMeasured(values)) && (
        <Chart title="Waiting for" {...shared} lines={pressure} format={percent} most={100} />
      )}
    </div>
  );
}

/** A container that began later, or is read at other times, has no values before. */
function aligned({ times }: Line, one: Line, values: readonly (number | null)[]): readonly (number | null)[] {
  const at = new Map(one.times.map((time, index) => [time, values[index] ?? null]));
  return times.map((time) => at.get(time) ?? null);
}
