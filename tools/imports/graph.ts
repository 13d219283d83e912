/** The imports between the directories of `src/`, as a picture for docs/architecture.md. */
import type { Import } from './rules.ts';

/** Imported by nearly everything: arrows to them would hide all others. */
const GROUND = new Set(['base', 'api', 'model']);

const directoryOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : 'main');

/** Directories that each directory needs when it runs: types alone make no arrow. */
export function directoryGraph(imports: readonly Import[]): ReadonlyMap<string, readonly string[]> {
  const graph = new Map<string, Set<string>>();
  for (const { from, to, typeOnly } of imports) {
    if (typeOnly || !to.endsWith('.ts')) continue;
    const [source, target] = [directoryOf(from), directoryOf(to)];
    if (source === target) continue;
    graph.set(source, (graph.get(source) ?? new Set()).add(target));
  }
  return new Map([...graph].sort().map(([directory, targets]) => [directory, [...targets].sort()]));
}

/** A way from a directory back to itself, or undefined. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (directory: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(directory)) return [...path.slice(path.indexOf(directory)), directory];
    if (done.has(directory)) return undefined;
    for (const next of graph.get(directory) ?? []) {
      const cycle = visit(next, [...path, directory]);
      if (cycle !== undefined) return cycle;
    }
    done.add(directory);
    return undefined;
  };
  for (const directory of graph.keys()) {
    const cycle = visit(directory, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

export function drawGraph(graph: ReadonlyMap<string, readonly string[]>): string {
  const arrows = [...graph].flatMap(([directory, targets]) => {
    const shown = targets.filter((target) => !GROUND.has(target));
    return shown.length === 0 ? [] : [`  ${directory} --> ${shown.join(' & ')}`];
  });
  return ['```mermaid', 'flowchart LR', ...arrows, '```'].join('\n');
}
