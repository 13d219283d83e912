/** The results of a run on disk: everything as JSON, and a picture of it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { arch, cpus, loadavg, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { capture } from '../tools/machine/capture.ts';
import type { BenchArguments } from './arguments.ts';
import { renderChart } from './chart.ts';
import { failuresOf, type MeasuredMeasure, makeRows, type Row } from './rows.ts';
import type { Contestant } from './world/node.ts';

const DIRECTORY = resolve(import.meta.dirname, 'results');
const REPO_ROOT = resolve(import.meta.dirname, '..');

export interface Machine {
  readonly cpus: number;
  readonly model: string;
  readonly memoryGb: number;
  readonly kernel: string;
  readonly arch: string;
  /** Average over the last minute before the run: what else was going on. */
  readonly load: number;
}

export interface Results {
  readonly date: string;
  readonly seconds: number;
  readonly arguments: BenchArguments;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
  readonly failures: readonly string[];
}

export const readMachine = (): Machine => ({
  cpus: cpus().length,
  model: cpus()[0]?.model ?? 'unknown',
  memoryGb: Math.round(totalmem() / 2 ** 30),
  kernel: release(),
  arch: arch(),
  load: loadavg()[0] ?? 0,
});

export async function readVersions(
  contestants: readonly Contestant[],
  runtime: string,
): Promise<Readonly<Record<string, string>>> {
  const versions: Record<string, string> = { node: process.version, runtime };
  for (const { name, binary } of contestants) versions[name] = await firstLine([binary, '--version']);
  versions['commit'] = await firstLine(['git', '-C', REPO_ROOT, 'describe', '--always', '--dirty']);
  return versions;
}

/** An unknown version is no reason not to measure. */
async function firstLine(argv: readonly string[]): Promise<string> {
  const { code, stdout } = await capture(argv).catch(() => ({ code: 1, stdout: '' }));
  return code === 0 ? (stdout.split('\n')[0]?.trim() ?? '') : 'unknown';
}

export function makeResults(
  about: Pick<Results, 'date' | 'seconds' | 'arguments' | 'machine' | 'versions'>,
  measured: readonly MeasuredMeasure[],
): Results {
  return { ...about, rows: measured.flatMap(makeRows), failures: measured.flatMap(failuresOf) };
}

export interface WrittenResults {
  readonly json: string;
  readonly svg: string;
}

export async function writeResults(results: Results, directory = DIRECTORY): Promise<WrittenResults> {
  await mkdir(directory, { recursive: true });
  const name = results.date.replaceAll(':', '-').replace(/\.\d+Z$/, 'Z');
  const json = join(directory, `${name}.json`);
  const svg = join(directory, `${name}.svg`);
  await writeFile(json, `${JSON.stringify(results, undefined, 2)}\n`);
  await writeFile(svg, renderChart(results.rows, chartText(results)));
  return { json, svg };
}

function chartText({ date, machine, versions, arguments: given }: Results): { title: string; subtitle: string } {
  const form = given.short ? ', short form: no figures to compare' : '';
  return {
    title: `kubelet-ts beside ${versions['reference'] ?? 'nothing'}`,
    subtitle: `${date}, ${given.runtime}, ${machine.cpus} cores, ${machine.model}, load ${machine.load.toFixed(1)} at the start${form}`,
  };
}
