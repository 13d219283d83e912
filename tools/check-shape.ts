/** Fails where a function keeps more state than a reader can hold: `node tools/check-shape.ts`. How long a function may be is Biome's rule. */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EXCEPTIONS } from './shape/exceptions.ts';
import { statefulFunctions } from './shape/mutable-state.ts';

const MOST_VARIABLES = 5;
const root = resolve(import.meta.dirname, '..');
const files = globSync('src/**/*.ts', { cwd: root }).filter(
  (file) => !file.endsWith('.test.ts') && !file.includes('/gen/'),
);

const crowded = files.flatMap((file) =>
  statefulFunctions(readFileSync(join(root, file), 'utf8'))
    .filter(({ variables }) => variables.length > MOST_VARIABLES)
    .map(({ line, variables }) => ({
      file,
      text: `${file}:${line} keeps ${variables.length}: ${variables.join(', ')}`,
    })),
);
const problems = crowded.filter(({ file }) => !Object.hasOwn(EXCEPTIONS, file)).map(({ text }) => text);
const idle = Object.keys(EXCEPTIONS).filter((file) => !crowded.some((one) => one.file === file));
for (const file of idle) problems.push(`${file} is listed as an exception and needs none`);
for (const problem of problems) console.error(problem);
console.log(`mutable state of ${files.length} files: ${problems.length === 0 ? 'fine' : `${problems.length} wrong`}`);
process.exitCode = problems.length === 0 ? 0 : 1;
