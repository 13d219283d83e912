/**
 * Makes src/wire/gen/ from proto/: `node tools/generate-wire.ts`. With `--check` it writes nothing and fails if the files
 * there are not what the schemas say.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { emitAll } from './wire/emit.ts';
import { parseSchema } from './wire/parse.ts';

const root = resolve(import.meta.dirname, '..');
const proto = join(root, 'proto');
const gen = join(root, 'src', 'wire', 'gen');

const schemas = readdirSync(proto)
  .filter((path) => path.endsWith('.proto'))
  .sort()
  .map((path) => parseSchema(path, readFileSync(join(proto, path), 'utf8')));
const wanted = emitAll(schemas);
const present = existsSync(gen) ? readdirSync(gen) : [];
const extra = present.filter((name) => !wanted.has(name));
const stale = [...wanted].filter(
  ([name, text]) => !present.includes(name) || readFileSync(join(gen, name), 'utf8') !== text,
);

if (process.argv.includes('--check')) {
  for (const name of [...stale.map(([name]) => name), ...extra]) {
    console.error(`src/wire/gen/${name} is not what proto/ says: run node tools/generate-wire.ts`);
  }
  process.exitCode = stale.length + extra.length === 0 ? 0 : 1;
} else {
  mkdirSync(gen, { recursive: true });
  for (const name of extra) rmSync(join(gen, name));
  for (const [name, text] of stale) writeFileSync(join(gen, name), text);
  console.log(`src/wire/gen: ${stale.length} of ${wanted.size} files written, ${extra.length} removed`);
}
