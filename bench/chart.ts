/** The rows as a picture (SVG): a pair of bars for each figure, and a line where the floor is. */
import { formatCell, formatNumber } from './number-text.ts';
import type { Cell, Row } from './rows.ts';

export interface ChartText {
  readonly title: string;
  readonly subtitle: string;
}

const WIDTH = 960;
const MARGIN = 24;
const LABEL_WIDTH = 330;
const VALUE_WIDTH = 110;
const BAR_HEIGHT = 11;
const ROW_HEIGHT = 34;
const GROUP_HEIGHT = 30;
const HEAD_HEIGHT = 96;
const BAR_WIDTH = WIDTH - 2 * MARGIN - LABEL_WIDTH - VALUE_WIDTH;
const BAR_LEFT = MARGIN + LABEL_WIDTH;

const STYLE = `
text { font: 12px system-ui, sans-serif; fill: #1f2933; }
.title { font-size: 18px; font-weight: 600; }
.quiet { fill: #62707f; }
.group { font-weight: 600; }
.ours { fill: #2f6fde; }
.reference { fill: #aab4c0; }
.floor { stroke: #d1495b; stroke-width: 2; }
.value { font-size: 11px; }
`;

/** Units differ, so each pair has its own scale: its longest bar fills the width. A floor alone is no pair. */
export function renderChart(rows: readonly Row[], text: ChartText): string {
  const shown = rows.filter(({ cells }) => [cells.ours, cells.reference].some(({ kind }) => kind === 'measured'));
  const parts: string[] = [];
  let top = HEAD_HEIGHT;
  let group = '';
  for (const row of shown) {
    if (row.measure !== group) {
      group = row.measure;
      parts.push(label(MARGIN, top + 18, group, 'group'));
      top += GROUP_HEIGHT;
    }
    parts.push(renderRow(row, top));
    top += ROW_HEIGHT;
  }
  const height = top + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>${escapeXml(text.title)}</title>
<style>${STYLE}</style>
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
${renderHead(text)}
${parts.join('\n')}
</svg>
`;
}

function renderHead(text: ChartText): string {
  const legend = [
    { x: BAR_LEFT, name: 'ours', mark: (x: number) => bar(x, 66, 12, 'ours') },
    { x: BAR_LEFT + 80, name: 'reference', mark: (x: number) => bar(x, 66, 12, 'reference') },
    { x: BAR_LEFT + 190, name: 'floor: the runtime called directly', mark: (x: number) => floorLine(x + 6, 64, 15) },
  ];
  return [
    label(MARGIN, 32, text.title, 'title'),
    label(MARGIN, 52, text.subtitle, 'quiet'),
    ...legend.flatMap(({ x, name, mark }) => [mark(x), label(x + 18, 76, name, 'quiet')]),
  ].join('\n');
}

function renderRow(row: Row, top: number): string {
  const { ours, reference, floor } = row.cells;
  const longest = Math.max(0, ...[ours, reference, floor].map(measuredValue).filter((value) => value !== undefined));
  const scale = (value: number) => (longest === 0 ? 0 : (value / longest) * BAR_WIDTH);
  const pair = ([ours, reference] as const).map((cell, at) => {
    const y = top + 4 + at * (BAR_HEIGHT + 2);
    const value = measuredValue(cell);
    const width = value === undefined ? 0 : scale(value);
    const ratio = at === 0 && row.ratio !== undefined ? ` (${formatNumber(row.ratio)} ×)` : '';
    const words = `${formatCell(cell, row.unit)}${ratio}`;
    return `${bar(BAR_LEFT, y, width, at === 0 ? 'ours' : 'reference')}${label(BAR_LEFT + width + 6, y + 9, words, 'value')}`;
  });
  const limit = measuredValue(floor);
  const name = row.better === 'more' ? `${row.text} (more is better)` : row.text;
  return [
    label(MARGIN + 12, top + 20, name, 'quiet'),
    ...pair,
    limit === undefined ? '' : floorLine(BAR_LEFT + scale(limit), top + 1, ROW_HEIGHT - 5),
  ].join('');
}

const measuredValue = (cell: Cell): number | undefined => (cell.kind === 'measured' ? cell.value : undefined);

const bar = (x: number, y: number, width: number, kind: string): string =>
  `<rect class="${kind}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${BAR_HEIGHT}" rx="2"/>`;
const floorLine = (x: number, y: number, height: number): string =>
  `<line class="floor" x1="${round(x)}" x2="${round(x)}" y1="${round(y)}" y2="${round(y + height)}"/>`;
const label = (x: number, y: number, text: string, kind: string): string =>
  `<text class="${kind}" x="${round(x)}" y="${round(y)}">${escapeXml(text)}</text>`;

const round = (value: number): number => Math.round(value * 10) / 10;
const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
