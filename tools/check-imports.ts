/** Reads every source file and fails if an import points the wrong way or a file opens paths that it must not: `node tools/check-imports.ts`. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { EXTRA_DOORS } from './imports/doors.ts';
import { FILE_ACCESS, judgeFileAccess } from './imports/file-access.ts';
import { importsOf, judgeImport, judgePurity } from './imports/rules.ts';

const idleDoors = new Set(Object.keys(EXTRA_DOORS));
const src = resolve(import.meta.dirname, '..', 'src');

function judgeFile(file: string): readonly string[] {
  const code = readFileSync(join(src, file), 'utf8');
  const problems: string[] = [...judgePurity(file, code), ...judgeFileAccess(file, code)];
  for (const { specifier, typeOnly, reExport } of importsOf(code)) {
    if (reExport) problems.push(`${file}: re-exports ${specifier}`);
    const local = specifier.startsWith('.');
    const to = local ? relative(src, resolve(src, dirname(file), specifier)) : specifier;
    if (to.startsWith('..')) problems.push(`${file}: imports ${specifier} from outside src/`);
    if (dirname(file).split('/')[0] !== to.split('/')[0]) idleDoors.delete(to);
    const verdict = judgeImport({ from: file, to, typeOnly });
    if (verdict !== undefined) problems.push(verdict);
  }
  return problems;
}

const files = globSync('**/*.ts', { cwd: src }).filter((file) => !file.endsWith('.test.ts') && !file.includes('/gen/'));
const unknown = Object.keys(FILE_ACCESS).filter((file) => !files.includes(file));
const problems = [
  ...files.sort().flatMap(judgeFile),
  ...unknown.map((file) => `${file}: is listed in tools/imports/file-access.ts and is not there`),
];
for (const door of idleDoors) problems.push(`tools/imports/doors.ts: no other directory imports ${door}`);
for (const problem of problems) console.error(problem);
console.log(`imports of ${files.length} files: ${problems.length === 0 ? 'fine' : `${problems.length} wrong`}`);
process.exitCode = problems.length === 0 ? 0 : 1;
