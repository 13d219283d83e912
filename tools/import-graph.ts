/** Writes the import graph of the directories into docs/architecture.md; with `--check` it only fails where the page is out of date. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { directoryGraph, drawGraph, findCycle } from './imports/graph.ts';
import { importsOf } from './imports/rules.ts';

const BEGIN = '<!-- import graph: made by tools/import-graph.ts -->';
const END = '<!-- end of import graph -->';
const root = resolve(import.meta.dirname, '..');
const src = join(root, 'src');
const page = join(root, 'docs/architecture.md');

const imports = globSync('**/*.ts', { cwd: src })
  .filter((file) => !file.endsWith('.test.ts') && !file.includes('testdata'))
  .flatMap((from) =>
    importsOf(readFileSync(join(src, from), 'utf8')).map(({ specifier, typeOnly }) => {
      const to = specifier.startsWith('.') ? relative(src, resolve(src, dirname(from), specifier)) : specifier;
      return { from, to, typeOnly };
    }),
  );
const graph = directoryGraph(imports);
const cycle = findCycle(graph);
if (cycle !== undefined) throw new Error(`directories import each other in a circle: ${cycle.join(' → ')}`);

const text = readFileSync(page, 'utf8');
const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
if (begin < 0 || end < begin) throw new Error(`${page} has no place for the import graph`);
const next = `${text.slice(0, begin + BEGIN.length)}\n${drawGraph(graph)}\n${text.slice(end)}`;
if (next === text) console.log(`import graph of ${graph.size} directories: up to date, no cycle`);
else if (process.argv.includes('--check')) {
  console.error('docs/architecture.md shows an old import graph: run node tools/import-graph.ts');
  process.exitCode = 1;
} else writeFileSync(page, next);
