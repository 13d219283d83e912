/** Reads every source file and fails if an import points the wrong way a file opens paths that it must not, or test support has another name: `node tools/check-imports.ts`. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { EXTRA_ENTRY_POINTS } from './imports/entry-points.ts';
import { FILE_ACCESS, judgeFileAccess } from './imports/file-access.ts';
import { importsOf, judgeImport, judgePurity } from './imports/rules.ts';
import { judgeTestSupport } from './imports/test-support.ts';

const idleEntryPoints = new Set(Object.keys(EXTRA_ENTRY_POINTS));
const src = resolve(import.meta.dirname, '..', 'src');

function judgeFile(file: string): readonly string[] {
  const code = readFileSync(join(src, file), 'utf8');
  const problems: string[] = [...judgePurity(file, code), ...judgeFileAccess(file, code)];
  for (const { specifier, typeOnly, reExport } of importsOf(code)) {
    if (reExport) problems.push(`${file}: re-exports ${specifier}`);
    const local = specifier.startsWith('.');
    const to = local ? relative(src, resolve(src, dirname(file), specifier)) : specifier;
    if (to.startsWith('..')) problems.push(`${file}: imports ${specifier} from outside src/`);
    if (dirname(file).split('/')[0] !== to.split('/')[0]) idleEntryPoints.delete(to);
    const verdict = judgeImport({ from: file, to, typeOnly });
    if (verdict !== undefined) problems.push(verdict);
  }
  return problems;
}

const all = globSync('**/*.ts', { cwd: src }).sort();
const files = all.filter((file) => !file.endsWith('.test.ts') && !file.includes('/gen/'));
const unknown = Object.keys(FILE_ACCESS).filter((file) => !files.includes(file));
const problems = [
  ...files.flatMap(judgeFile),
  ...judgeTestSupport(new Map(all.map((file) => [file, readFileSync(join(src, file), 'utf8')]))),
  ...unknown.map((file) => `${file}: is listed in tools/imports/file-access.ts and is not there`),
];
for (const file of idleEntryPoints) problems.push(`tools/imports/entry-points.ts: no other directory imports ${file}`);
for (const problem of problems) console.error(problem);
console.log(`imports of ${files.length} files: ${problems.length === 0 ? 'fine' : `${problems.length} wrong`}`);
process.exitCode = problems.length === 0 ? 0 : 1;
