/** The text of `cpu_manager_state`, in the reference's form: either kubelet goes on with what the other has assigned. */
import { formatCpuSet, parseCpuSet } from '../../api/cpu-set.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import { fnv32a } from '../../base/fnv.ts';
import type { CpuSet, CpuState } from './cpu-static.ts';
import { jsonMap, printedMap } from './go-map.ts';
import { fieldsOf, parseJson, textOf } from './state-json.ts';

export interface CpuRecord {
  readonly policy: string;
  readonly state: CpuState;
}

/** `withPods`: also what pods have as a whole, which the reference writes only with the gate PodLevelResourceManagers. */
export function encodeCpuState({ policy, state }: CpuRecord, withPods: boolean): string {
  const shared = JSON.stringify(formatted(state.shared));
  const containers = [...state.containers].map(([uid, own]) => {
    const sets = [...own].map(([name, cpus]) => [name, JSON.stringify(formatted(cpus))] as const);
    return [uid, jsonMap(sets)] as const;
  });
  const pods = [...state.pods].map(([uid, cpus]) => [uid, `{"cpuSet":${JSON.stringify(formatted(cpus))}}`] as const);
  const parts = [
    `"policyName":${JSON.stringify(policy)}`,
    `"defaultCpuSet":${shared}`,
    ...(containers.length === 0 ? [] : [`"entries":${jsonMap(containers)}`]),
    ...(withPods && pods.length > 0 ? [`"podEntries":${jsonMap(pods)}`] : []),
    `"checksum":${checksumOf({ policy, state }, withPods)}`,
  ];
  return `{${parts.join(',')}}`;
}

const formatted = (cpus: CpuSet): string => formatCpuSet([...cpus]);

function checksumOf({ policy, state }: CpuRecord, withPods: boolean): number {
  const containers = [...state.containers].map(
    ([uid, own]) => [uid, printedMap([...own].map(([name, cpus]) => [name, formatted(cpus)]))] as const,
  );
  const pods = [...state.pods].map(([uid, cpus]) => {
    const elements = [...cpus].toSorted((a, b) => a - b).map((cpu) => `${cpu}:{}`);
    return [uid, `{CPUSet:(cpuset.CPUSet){elems:(map[int]struct {})map[${elements.join(' ')}]}}`] as const;
  });
  const parts = [
    `PolicyName:(string)${policy}`,
    `DefaultCPUSet:(string)${formatted(state.shared)}`,
    `Entries:(map[string]map[string]string)${printedMap(containers)}`,
    ...(withPods ? [`PodEntries:(state.PodCPUAssignments)${printedMap(pods)}`] : []),
    'Checksum:(checksum.Checksum)0',
  ];
  return fnv32a(`(*state.CPUManagerCheckpoint){${parts.join(' ')}}`);
}

export function decodeCpuState(text: string): Parsed<CpuRecord> {
  const json = parseJson(text);
  if (!json.ok) return json;
  const { policyName, defaultCpuSet, entries, podEntries, checksum } = fieldsOf(json.value);
  const shared = cpusIn(defaultCpuSet);
  if (!shared.ok)
    return unparsable(`could not parse default cpu set ${JSON.stringify(defaultCpuSet)}: ${shared.problem}`);
  const containers = new Map<string, ReadonlyMap<string, CpuSet>>();
  for (const [uid, own] of Object.entries(fieldsOf(entries))) {
    const sets = new Map<string, CpuSet>();
    for (const [name, list] of Object.entries(fieldsOf(own))) {
      const cpus = cpusIn(list);
      if (!cpus.ok)
        return unparsable(
          `could not parse cpuset ${JSON.stringify(list)} for container ${JSON.stringify(name)} in pod ${JSON.stringify(uid)}: ${cpus.problem}`,
        );
      sets.set(name, cpus.value);
    }
    containers.set(uid, sets);
  }
  const pods = new Map<string, CpuSet>();
  for (const [uid, entry] of Object.entries(fieldsOf(podEntries))) {
    const cpus = cpusIn(fieldsOf(entry)['cpuSet']);
    if (!cpus.ok) return cpus;
    pods.set(uid, cpus.value);
  }
  const record = { policy: textOf(policyName), state: { shared: shared.value, containers, pods } };
  const valid = [0, checksumOf(record, false), checksumOf(record, true)];
  // Both forms are read, whatever the gate: what is known of a running container must not be lost.
  return valid.includes(Number(checksum)) ? parsed(record) : unparsable('checkpoint is corrupted');
}

function cpusIn(value: unknown): Parsed<CpuSet> {
  const cpus = parseCpuSet(textOf(value));
  return cpus.ok ? parsed(new Set(cpus.value)) : cpus;
}
