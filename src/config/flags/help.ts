import { KUBERNETES_VERSION, PROGRAM_VERSION } from '../version.ts';
import { type Flag, flagGroups } from './flag.ts';
import type { Configurable } from './target.ts';

const introduction = `The kubelet runs on every node: it takes pods from the API server, from files and from a URL, has the container \
runtime run them, and reports how they do. This is kubelet-ts ${PROGRAM_VERSION}, a stand-in for the kubelet of Kubernetes \
${KUBERNETES_VERSION}.`;

const epilogue = `Most settings belong in the configuration file (--config): flags marked * still work, and win over the file, but \
warn. Names may be written with _ or -. A flag may be given as --flag=value or --flag value, a switch as --flag or --flag=false.`;

const narrowest = 40;
const indent = 6;

/** The whole help, for a terminal of that many columns. */
export function renderHelp(table: readonly Flag[], defaults: Configurable, columns: number): string {
  const width = Math.max(columns, narrowest);
  const lines = ['Usage: kubelet [flags]', '', ...wrap(introduction, width), ''];
  for (const group of flagGroups) {
    lines.push(`${group}:`);
    for (const flag of table.filter((candidate) => candidate.group === group)) {
      lines.push(...renderFlag(flag, defaults, width));
    }
    lines.push('');
  }
  lines.push(...wrap(epilogue, width));
  return `${lines.join('\n')}\n`;
}

function renderFlag(flag: Flag, defaults: Configurable, width: number): string[] {
  const mark = flag.deprecated === undefined ? ' ' : '*';
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  const label = flag.label === '' ? '' : ` ${flag.label}`;
  const shown = shownDefault(flag, defaults);
  const text = shown === undefined ? flag.help : `${flag.help} [${shown}]`;
  return [` ${mark} ${short}--${flag.name}${label}`, ...wrap(text, width - indent).map((l) => ' '.repeat(indent) + l)];
}

/** Undefined where it is nothing that a reader would not expect. */
export function shownDefault(flag: Flag, defaults: Configurable): string | undefined {
  const shown = flag.of === 'request' ? '' : flag.show(defaults);
  return ['', '[]', '0', '0s', 'false'].includes(shown) ? undefined : shown;
}

/** Breaks at spaces; a word longer than the line has its own line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
