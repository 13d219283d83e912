/** One chart of a few lines over time. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly title: string;
  /** Milliseconds. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly format: (value: number | null) => string;
  /** The length of the time axis, ms. */
  readonly span: number;
  /** The top of the scale, where it is fixed. */
  readonly most?: number | undefined;
  readonly note?: ComponentChildren;
}

const HEIGHT = 140;
const COLOURS = 6;
const AXIS_WIDTH = 72;

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function optionsOf({ lines, format, most }: ChartProps, width: number): uPlot.Options {
  const axis = { stroke: colour('--faint'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false },
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, most ?? Math.max(max * 1.1, 0.001)] } },
    axes: [
      { ...axis, space: 70 },
      { ...axis, size: AXIS_WIDTH, values: (_, splits) => splits.map((value) => format(value)) },
    ],
    series: [
      {},
      ...lines.map(({ label }, index) => ({
        label,
        stroke: colour(`--series-${index % COLOURS}`),
        width: 1.5,
        spanGaps: false,
        points: { show: false },
      })),
    ],
  };
}

export function Chart(props: ChartProps) {
  const { title, times, lines, format, span } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shape = JSON.stringify([lines.map(({ label }) => label), props.most]);

  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    const width = () => Math.max(current.clientWidth, 120);
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(props, width()), [[], ...lines.map(() => [])], current);
    };
    make();
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: width(), height: HEIGHT }));
    resized.observe(current);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', make);
    return () => {
      resized.disconnect();
      scheme.removeEventListener('change', make);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape]);

  useEffect(() => {
    const seconds = times.map((time) => time / 1000);
    plot.current?.setData([seconds, ...lines.map(({ values }) => [...values])], false);
    const now = (times.at(-1) ?? Date.now()) / 1000;
    plot.current?.batch(() => {
      plot.current?.setScale('x', { min: now - span / 1000, max: now });
    });
  });

  const latest = lines.map(({ label, values }) => `${label} ${format(values.at(-1) ?? null)}`).join(', ');
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <ul class="legend">
          {lines.map(({ label, values }, index) => (
            <li key={label}>
              <i class={`swatch series-${index % COLOURS}`} />
              {lines.length > 1 || label !== title ? `${label} ` : ''}
              <b>{format(values.at(-1) ?? null)}</b>
            </li>
          ))}
          {props.note}
        </ul>
      </figcaption>
      <div ref={place} role="img" aria-label={`${title}: ${latest}`} />
    </figure>
  );
}
