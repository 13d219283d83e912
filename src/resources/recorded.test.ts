/** The CPU, memory and topology managers of the reference on random machines: ours decide the same (`tests/recorded/managers/README.md`). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import { type Pinned, podOf, type RecordedScenario, setUpManagers } from './managers-testing.ts';
import { decodeCpuState, encodeCpuState } from './rules/cpu-state-file.ts';
import { decodeMemoryState, encodeMemoryState } from './rules/memory-state-file.ts';
import { maskOf, nodesIn } from './rules/numa-mask.ts';
import { mergeHints } from './rules/topology-merge.ts';

const recorded = join(import.meta.dirname, '../../tests/recorded/managers');
const linesOf = <T>(name: string): readonly T[] =>
  readFileSync(join(recorded, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

const never = new AbortController().signal;

/** Where the reference errs, and ours does not: line of the file, and why. Each must still differ. */
const UNEVEN =
  'a processor is off, and the reference gives away CPUs that are reserved or taken: it rounds the threads of a core down';
const SPLIT = 'with full-pcpus-only the reference gives the other thread of a core that has a reserved one';
const ALIAS =
  'with four nodes or more to share a request evenly the reference overwrites its best choice with the last one';
const DIFFERENCES: Readonly<Record<number, string>> = {
  ...Object.fromEntries(
    [7, 27, 38, 58, 175, 176, 226, 238, 303, 440, 476, 490, 495, 513, 536].map((line) => [line, UNEVEN]),
  ),
  ...Object.fromEntries([104, 475].map((line) => [line, ALIAS])),
  ...Object.fromEntries([18, 65, 123, 256, 272, 320, 527, 529].map((line) => [line, SPLIT])),
  481: 'two resources are short, and the reference names one of them at random',
};

test('540 machines with their pods get the CPUs and memory that the reference gave them', async () => {
  const scenarios = linesOf<RecordedScenario>('scenarios.jsonl');
  assert.ok(scenarios.length >= 500);
  const differing: Record<number, unknown> = {};
  for (const [index, scenario] of scenarios.entries()) {
    const ours = await play(scenario);
    const theirs = scenario.refused ?? scenario.steps?.map(resultOf);
    try {
      assert.deepEqual(ours, theirs);
    } catch (error) {
      differing[index + 1] = error;
    }
  }
  const [first] = Object.keys(differing).filter((line) => !(line in DIFFERENCES));
  assert.deepEqual(Object.keys(differing), Object.keys(DIFFERENCES), String(first && differing[Number(first)]));
});

type Step = NonNullable<RecordedScenario['steps']>[number];

const resultOf = ({ reason, msg, shared, cpus, mem, free }: Step): Pinned => ({
  ...(reason === undefined ? {} : { reason, msg }),
  shared,
  ...(cpus === undefined ? {} : { cpus }),
  ...(mem === undefined ? {} : { mem }),
  free,
});

async function play(scenario: RecordedScenario): Promise<readonly Pinned[] | string> {
  const managers = setUpManagers(scenario);
  if (!managers.ok) return managers.problem;
  const { assigning, read } = managers.value;
  const results: Pinned[] = [];
  for (const step of scenario.steps ?? []) {
    if (step.rm !== undefined) assigning.release(podUid(step.rm));
    const answer = step.add && (await assigning.assign(podOf(step.add), never));
    const isRefused = answer?.kind === 'refused';
    results.push({
      ...(isRefused ? { reason: answer.reason, msg: answer.message } : {}),
      ...read(step.add === undefined || isRefused ? undefined : step.add.uid),
    });
  }
  return results;
}

test('state files are read and written byte for byte', () => {
  const files = linesOf<RecordedScenario>('scenarios.jsonl').filter(({ cpuFile }) => cpuFile !== undefined);
  assert.ok(files.length >= 20);
  for (const { cpuFile = '', memoryFile = '', podLevel = false } of files) {
    const cpus = decodeCpuState(cpuFile);
    assert.ok(cpus.ok, cpus.ok ? '' : cpus.problem);
    assert.equal(encodeCpuState(cpus.value, podLevel), cpuFile);
    const memory = decodeMemoryState(memoryFile);
    assert.ok(memory.ok, memory.ok ? '' : memory.problem);
    assert.equal(encodeMemoryState(memory.value, podLevel), memoryFile);
  }
});

interface RecordedMerging {
  readonly nodes: number;
  readonly d: readonly (readonly number[])[];
  readonly policy: 'best-effort' | 'restricted' | 'single-numa-node';
  readonly options: Readonly<Record<string, string>>;
  readonly hints: readonly (readonly { m: readonly number[] | null; p?: boolean }[] | null)[];
  readonly best: { m: readonly number[] | null; p?: boolean };
  readonly admit: boolean;
}

test('hints are merged to what the reference merges them to', () => {
  for (const { nodes, d, policy, options, hints, best, admit } of linesOf<RecordedMerging>('mergings.jsonl')) {
    const given = hints.map((own) => {
      const made = own?.map(({ m, p = false }) => ({ affinity: m === null ? undefined : maskOf(m), preferred: p }));
      return made === undefined ? new Map<string, never>() : new Map([['r', made]]);
    });
    const merged = mergeHints(given, {
      policy,
      scope: 'container',
      preferClosest: options['prefer-closest-numa-nodes'] === 'true',
      nodes: d.map((_, id) => id),
      distances: new Map(d.map((own, id) => [id, own])),
    });
    const mask = merged.hint.affinity;
    const ours = { m: mask === undefined ? null : nodesIn(mask), p: merged.hint.preferred, admit: merged.admit };
    assert.deepEqual(ours, { m: best.m, p: best.p ?? false, admit }, JSON.stringify({ nodes, policy, hints }));
  }
});
