/** On random machines with random pods: what must always hold, whatever the policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCpuSet } from '../api/cpu-set.ts';
import { podUid } from '../api/ids.ts';
import { createRandom, type Random } from './managers-random-testing.ts';
import {
  machineOf,
  podOf,
  type ShortPod,
  type ShortSettings,
  setUpManagers,
  type TestManagers,
} from './managers-testing.ts';
import { stateProblem } from './rules/cpu-rebuild.ts';
import { reserveCpus } from './rules/cpu-static.ts';
import { cpusPerCore, cpuTopologyOf, wholeCores } from './rules/cpu-topology.ts';
import { cpuOptionsOf } from './rules/manager-options.ts';
import type { NodeMemories } from './rules/memory-nodes.ts';
import { sameMemory } from './rules/memory-rebuild.ts';
import type { MemoryState } from './rules/memory-static.ts';
import { subsetsOf } from './rules/numa-mask.ts';
import { mergeHints } from './rules/topology-merge.ts';

const never = new AbortController().signal;
const ROUNDS = 50;

for (const seed of [1, 2, 3]) {
  test(`no CPU is given twice, reserved ones never, and each policy keeps its promise (seed ${seed})`, async () => {
    const random = createRandom(seed);
    for (let round = 0; round < ROUNDS; round += 1) await playRound(random, `seed ${seed}, round ${round}`);
  });
}

async function playRound(random: Random, where: string): Promise<void> {
  const settings = random.settings();
  const managers = setUpManagers(settings);
  if (!managers.ok) return;
  const { assigning, cpus, memory } = managers.value;
  const running: ShortPod[] = [];
  const before = JSON.stringify(managers.value.read(undefined));
  for (let step = 0; step < 8; step += 1) {
    const [leaving] = running;
    if (leaving !== undefined && random.below(4) === 0) {
      running.shift();
      assigning.release(podUid(leaving.uid));
    }
    const pod = random.pod(`pod-${step}`, settings);
    const had: { readonly shared: string; readonly nodes: NodeMemories } = {
      shared: managers.value.read(undefined).shared,
      nodes: memory.state().nodes,
    };
    const answer = await assigning.assign(podOf(pod), never);
    if (answer.kind === 'done') running.push(pod);
    else {
      // Which node of a group gave how much is not remembered: the sum of the group counts.
      assert.equal(managers.value.read(undefined).shared, had.shared, `${where}: a refused pod leaves no CPU`);
      assert.ok(sameMemory(memory.state().nodes, had.nodes), `${where}: a refused pod leaves no memory`);
    }
    checkCpus(settings, cpus.state(), where);
    checkPromises(settings, pod, answer.kind === 'done', managers.value, where);
    const nodes: NodeMemories = memory.state().nodes;
    assert.deepEqual(givenBy(nodes), givenTo(memory.state()), `${where}: nodes gave what containers have`);
    for (const { tables } of nodes.values())
      for (const { free: left, reserved, allocatable } of tables.values()) {
        assert.ok(left >= 0 && reserved >= 0, where);
        assert.equal(left + reserved, allocatable, where);
      }
  }
  for (const { uid } of running) assigning.release(podUid(uid));
  assert.equal(JSON.stringify(managers.value.read(undefined)), before, `${where}: all is free again`);
}

/** Bytes by resource, of which some are given. */
function sum(amounts: Iterable<readonly [string, number]>): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const [type, bytes] of amounts) if (bytes > 0) sums[type] = (sums[type] ?? 0) + bytes;
  return sums;
}

const givenBy = (nodes: NodeMemories) =>
  sum(
    [...nodes.values()].flatMap(({ tables }) => [...tables].map(([type, { reserved }]) => [type, reserved] as const)),
  );

function givenTo({ containers, pods }: MemoryState) {
  const own = [...containers].filter(([uid]) => !pods.has(uid)).flatMap(([, all]) => [...all.values()].flat());
  return sum([...own, ...[...pods.values()].flat()].map(({ type, bytes }) => [type, bytes] as const));
}

function policyOf(settings: ShortSettings) {
  const topology = cpuTopologyOf(machineOf(settings.nodes));
  const options = cpuOptionsOf(settings.cpuOptions);
  const named = parseCpuSet(settings.reserved ?? '');
  const wanted = { named: new Set(named.ok ? named.value : []), count: settings.reservedCount };
  const reserved = reserveCpus(topology, wanted, options);
  assert.ok(reserved.ok);
  const gates = { podLevel: true, podLevelManagers: settings.podLevel ?? false };
  return { topology, options, reserved: reserved.value, gates };
}

function checkCpus(settings: ShortSettings, state: Parameters<typeof stateProblem>[1], where: string): void {
  const policy = policyOf(settings);
  assert.equal(stateProblem(policy, state), undefined, where);
  for (const own of state.containers.values())
    for (const set of own.values()) assert.ok(set.isDisjointFrom(policy.reserved), `${where}: reserved CPUs`);
}

/** With even cores and `full-pcpus-only` no core is shared; with `single-numa-node` a container has its CPUs and memory on one node. */
function checkPromises(
  settings: ShortSettings,
  { uid }: ShortPod,
  admitted: boolean,
  { cpus, memory }: Pick<TestManagers, 'cpus' | 'memory'>,
  where: string,
): void {
  if (!admitted) return;
  const { topology, options } = policyOf(settings);
  const isEven = topology.all.size === topology.cores * cpusPerCore(topology);
  const own = cpus.state().containers.get(uid) ?? new Map();
  for (const [name, set] of own) {
    if (options.fullCores && isEven && settings.podLevel !== true)
      assert.equal(wholeCores(topology, set).size, set.size, `${where}: ${name} has whole cores`);
    if (settings.policy !== 'single-numa-node' || settings.podLevel === true) continue;
    const nodes = new Set([...set].map((cpu) => topology.cpus.get(cpu)?.node));
    for (const block of memory.state().containers.get(uid)?.get(name) ?? [])
      for (const id of block.nodes) nodes.add(id);
    assert.ok(nodes.size <= 1, `${where}: ${name} is on one node, not on ${[...nodes].join(',')}`);
  }
}

test('hints of 16 resources on 8 nodes are merged: 255 to the power of 16 combinations are not tried one by one', () => {
  const nodes = [0, 1, 2, 3, 4, 5, 6, 7];
  const hints = [...subsetsOf(nodes)].map((affinity) => ({ affinity, preferred: (affinity & (affinity - 1)) === 0 }));
  const given = new Map(Array.from({ length: 16 }, (_, index) => [`vendor.com/device-${index}`, hints]));
  const distances = new Map(nodes.map((id) => [id, nodes.map((other) => (id === other ? 10 : 20))]));
  for (const policy of ['best-effort', 'restricted', 'single-numa-node'] as const) {
    const merged = mergeHints([given], { policy, scope: 'container', preferClosest: true, nodes, distances });
    assert.deepEqual(merged, { hint: { affinity: 1, preferred: true }, admit: true });
  }
});
