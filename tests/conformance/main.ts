/** `make conformance`: FOCUS, SKIP, KUBELET=reference|ours, PROCS, UPDATE=1 (see settings.ts). */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSystemClock } from '../../src/base/clock.ts';
import { createProgress } from '../lab/binaries/progress.ts';
import { lab } from '../lab/lab.ts';
import { runConformance } from './run.ts';
import { readSettings } from './settings.ts';
import { judge, readNames, renderVerdict, writeNames } from './verdict.ts';

const LIST = join(import.meta.dirname, 'reference-passes.txt');

const settings = readSettings(process.env);
const progress = createProgress(process.stderr, createSystemClock());
const { results, folder } = await runConformance({ lab, env: process.env, settings, progress });
if (results.length === 0) throw new Error(`no spec was run: FOCUS=${settings.focus} SKIP=${settings.skip} choose none`);
if (settings.update) await writeFile(LIST, writeNames(results.filter(({ passed }) => passed).map(({ name }) => name)));
const verdict = judge(results, readNames(await readFile(LIST, 'utf8')));
process.stdout.write(`${renderVerdict(verdict, settings.kubelet)}\nLog and report: ${folder}\n`);
process.exitCode = verdict.ourFault.length === 0 ? 0 : 1;
