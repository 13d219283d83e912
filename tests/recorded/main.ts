/**
 * `make recorded`: every recorded life that needs no API server, run for real under our kubelet and compared with the recording.
 * `node tests/recorded/main.ts [--cluster] [LIFE…]`: with --cluster every life, as a pod of a real cluster; the lives are those of pods/, the differences that are meant stand in run-differences.json.
 */
import { parseArgs } from 'node:util';
import { lifeNames, loadLife } from './lives.ts';
import { liveInCluster } from './run/cluster-run.ts';
import { createJudge, type Judge } from './run/compare.ts';
import { readDifferences } from './run/differences.ts';
import { type LivedLife, liveAgain } from './run/run.ts';
import { readNotStandalone } from './run/standalone.ts';

const NAME_WIDTH = 24;

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { kubelet: { type: 'string' }, cluster: { type: 'boolean', default: false } },
  });
  const left = new Map(
    (values.cluster ? [] : readNotStandalone()).flatMap(({ lives, reason }) =>
      lives.map((life) => [life, reason] as const),
    ),
  );
  const chosen = positionals.length > 0 ? positionals : lifeNames().filter((name) => !left.has(name));
  const started = performance.now();
  const lived = await (values.cluster ? liveInCluster : liveAgain)(chosen.map(loadLife), {
    ...(values.kubelet === undefined ? {} : { binary: values.kubelet }),
    onLife: (name) => process.stderr.write(`${name} `),
  });
  process.stderr.write('\n');
  const judge = createJudge(readDifferences(values.cluster ? 'cluster' : 'standalone'));
  const differing = lived.filter((life) => !tell(life, judge)).length;
  const unused = positionals.length > 0 ? [] : tellTheRest(left, judge);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const result = differing === 0 ? 'all as recorded' : `${differing} differ`;
  console.log(`\n${lived.length} lives in ${seconds} s: ${result}`);
  return differing === 0 && unused.length === 0 ? 0 : 1;
}

/** A line for the life, and below it what was not expected. Answers whether it was as recorded. */
function tell(life: LivedLife, judge: Judge): boolean {
  const verdicts = life.items.map((item) => judge.judge(life, item));
  const bad = verdicts.filter(({ unexplained }) => unexplained.length > 0);
  const meant = verdicts.reduce((sum, { explained }) => sum + explained, 0);
  const lines = life.items.reduce((sum, { recorded }) => sum + recorded.length, 0);
  const verdict = bad.length === 0 ? 'as recorded' : `DIFFERS in ${bad.map(({ item }) => item).join(', ')}`;
  const counts = `${String(lines).padStart(4)} lines, ${String(meant).padStart(3)} meant to differ`;
  console.log(`${life.name.padEnd(NAME_WIDTH)} ${counts}  ${verdict}`);
  for (const { item, unexplained } of bad) {
    console.log(`    ${item}:`);
    for (const line of unexplained) console.log(`      ${line}`);
  }
  return bad.length === 0;
}

function tellTheRest(left: ReadonlyMap<string, string>, judge: Judge): readonly string[] {
  for (const [name, reason] of left) console.log(`${name.padEnd(NAME_WIDTH)} not run: ${reason}`);
  const unused = judge.unused();
  for (const line of unused) console.log(`not met in run-differences.json: ${line}`);
  return unused;
}

process.exitCode = await main();
