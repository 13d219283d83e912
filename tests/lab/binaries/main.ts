/** Command line of the lab's binaries, for the Makefile and for people. Paths go to stdout, progress to stderr. */
import { createSystemClock } from '../../../src/base/clock.ts';
import { describeError } from '../../../src/base/errors.ts';
import { createBinaries } from './binaries.ts';
import { isBinaryName, labCatalog } from './catalog.ts';
import { createProgress } from './progress.ts';
import { BinariesUnavailable } from './unavailable.ts';

const USAGE = `usage: main.ts ensure NAME…   make sure that these are there, and print name and path of each
       main.ts list          print every name, where it comes from, and its path if it is there

names: ${Object.keys(labCatalog).join(' ')}
`;

async function main(argv: readonly string[], signal: AbortSignal): Promise<number> {
  const [command, ...names] = argv;
  const progress = createProgress(process.stderr, createSystemClock());
  const binaries = createBinaries({ env: process.env, log: progress });
  if (command === 'list' && names.length === 0) {
    for (const { name, from, version, path } of await binaries.list()) {
      process.stdout.write(`${name}\t${from}${version && ` ${version}`}\t${path ?? '-'}\n`);
    }
    return 0;
  }
  const unknown = names.filter((name) => !isBinaryName(name));
  if (command !== 'ensure' || names.length === 0 || unknown.length > 0) {
    if (unknown.length > 0) process.stderr.write(`no binary is called ${unknown.join(', ')}\n`);
    process.stderr.write(USAGE);
    return 2;
  }
  const paths = await binaries.ensure(names.filter(isBinaryName), signal);
  for (const [name, path] of Object.entries(paths)) process.stdout.write(`${name}\t${path}\n`);
  return 0;
}

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort(name));
try {
  process.exitCode = await main(process.argv.slice(2), interrupted.signal);
} catch (error) {
  if (interrupted.signal.aborted) process.stderr.write('\ninterrupted\n');
  else process.stderr.write(`\n${error instanceof BinariesUnavailable ? error.message : describeError(error)}\n`);
  process.exitCode = interrupted.signal.aborted ? 130 : 1;
}
