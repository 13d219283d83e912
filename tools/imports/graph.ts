/** The imports between the folders of `src/`, as a picture for docs/architecture.md. */
import type { Import } from './rules.ts';

/** Imported by nearly everything: arrows to them would hide all others. */
const GROUND = new Set(['base', 'api', 'model']);

const folderOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : 'main');

/** Folders that each folder needs when it runs: types alone make no arrow. */
export function folderGraph(imports: readonly Import[]): ReadonlyMap<string, readonly string[]> {
  const graph = new Map<string, Set<string>>();
  for (const { from, to, typeOnly } of imports) {
    if (typeOnly || !to.endsWith('.ts')) continue;
    const [source, target] = [folderOf(from), folderOf(to)];
    if (source === target) continue;
    graph.set(source, (graph.get(source) ?? new Set()).add(target));
  }
  return new Map([...graph].sort().map(([folder, targets]) => [folder, [...targets].sort()]));
}

/** A way from a folder back to itself, or undefined. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (folder: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(folder)) return [...path.slice(path.indexOf(folder)), folder];
    if (done.has(folder)) return undefined;
    for (const next of graph.get(folder) ?? []) {
      const cycle = visit(next, [...path, folder]);
      if (cycle !== undefined) return cycle;
    }
    done.add(folder);
    return undefined;
  };
  for (const folder of graph.keys()) {
    const cycle = visit(folder, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

export function drawGraph(graph: ReadonlyMap<string, readonly string[]>): string {
  const arrows = [...graph].flatMap(([folder, targets]) => {
    const shown = targets.filter((target) => !GROUND.has(target));
    return shown.length === 0 ? [] : [`  ${folder} --> ${shown.join(' & ')}`];
  });
  return ['```mermaid', 'flowchart LR', ...arrows, '```'].join('\n');
}
