/** `make bench`: ours beside the reference kubelet. See README.md here. */
import { describeError } from '../src/base/errors.ts';
import { type BenchArguments, parseArguments, USAGE } from './arguments.ts';
import { findContestants } from './contestants.ts';
import { chooseMeasures } from './measures.ts';
import { makeResults, readMachine, readVersions, writeResults } from './results.ts';
import type { MeasuredMeasure } from './rows.ts';
import { runMeasures } from './run.ts';
import { FULL_SIZE, SHORT_SIZE } from './size.ts';
import { renderTable } from './table.ts';

const say = (line: string): void => console.error(line);

/** 0: everything was measured. 1: something failed. */
async function main(given: BenchArguments): Promise<number> {
  const from = performance.now();
  const date = new Date().toISOString();
  const machine = readMachine();
  if (machine.load > machine.cpus / 2) {
    say(`The machine is busy (load ${machine.load.toFixed(1)} on ${machine.cpus} cores): trust only the ratios.`);
  }
  const measures = chooseMeasures(given.only);
  const contestants = await findContestants(process.env, given.kubelet, say);
  const versions = await readVersions(contestants, given.runtime);
  const size = given.short ? SHORT_SIZE : FULL_SIZE;
  const { rounds, runtime } = given;
  const secondsSoFar = () => Math.round((performance.now() - from) / 1000);
  const measured: MeasuredMeasure[] = [];
  for await (const measure of runMeasures({ measures, contestants, rounds, size, runtime, say })) {
    measured.push(measure);
    const soFar = { date, seconds: secondsSoFar(), arguments: given, machine, versions };
    await writeResults(makeResults(soFar, measured), given.results);
  }
  const results = makeResults({ date, seconds: secondsSoFar(), arguments: given, machine, versions }, measured);
  const written = await writeResults(results, given.results);
  process.stdout.write(`\n${renderTable(results.rows)}\n`);
  if (given.short) process.stdout.write('Short form: fewer pods and shorter waits than the names say.\n');
  for (const failure of results.failures) process.stdout.write(`FAILED ${failure}\n`);
  process.stdout.write(`${written.json}\n${written.svg}\n`);
  return results.failures.length === 0 ? 0 : 1;
}

try {
  const given = parseArguments(process.argv.slice(2), process.env);
  if (given.help) process.stdout.write(USAGE);
  else process.exitCode = await main(given);
} catch (error) {
  console.error(`bench: ${describeError(error)}`);
  process.exitCode = 2;
}
