/** Reads every source file and fails if a background loop runs without the supervisor: `node tools/check-loops.ts`. */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { looseLoops } from './loops/rules.ts';

const src = resolve(import.meta.dirname, '..', 'src');

/** Loops whose caller waits for their end and gets what they throw. */
const AWAITED = new Set([
  'base/supervise.ts', // the supervisor itself
  'config/flags/collections.ts', // reads a text
  'probes/checks/grpc.ts', // reads one answer
  'probes/due-queue.ts', // sorts a heap
  'runtime/logs/rotation.ts', // inside a pass
  'server/logs/log-files.ts', // for one request
]);

const files = globSync('**/*.ts', { cwd: src }).filter((file) => !file.endsWith('.test.ts') && !AWAITED.has(file));
const problems = files
  .sort()
  .flatMap((file) =>
    looseLoops(readFileSync(join(src, file), 'utf8')).map(
      ({ line, code }) => `src/${file}:${line}: ${code}: run it with the supervisor (base/supervise.ts)`,
    ),
  );
for (const problem of problems) console.error(problem);
console.log(`loops of ${files.length} files: ${problems.length === 0 ? 'supervised' : `${problems.length} loose`}`);
process.exitCode = problems.length === 0 ? 0 : 1;
