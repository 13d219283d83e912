/**
 * The memory manager: from which NUMA nodes guaranteed containers have their memory and huge pages. The decisions are in `rules/memory-static.ts`; this
 * keeps the state, in memory and in `memory_manager_state`.
 */
import type { Container } from '../api/container.ts';
import type { Pod } from '../api/pod.ts';
import type { Logger } from '../base/logger.ts';
import type { Assigned } from '../model/assignment.ts';
import { refused } from './cpus.ts';
import type { HintProvider } from './ports.ts';
import { isManaged, type ManagerGates } from './rules/exclusive-cpus.ts';
import type { MemoryBlock, NodeMemories } from './rules/memory-nodes.ts';
import { rebuildMemory, sameMemory } from './rules/memory-rebuild.ts';
import { podMemory } from './rules/memory-request.ts';
import { decodeMemoryState, encodeMemoryState } from './rules/memory-state-file.ts';
import {
  allocateMemory,
  allocatePodMemory,
  type MemoryState,
  memoryHints,
  memoryOf,
  NO_REUSABLE,
  podMemoryHints,
  type ReusableMemory,
  releaseContainerMemory,
  releaseMemory,
} from './rules/memory-static.ts';
import type { StateFile } from './state-file.ts';

export interface MemoryDeps {
  readonly log: Logger;
  readonly file: StateFile;
  /** The memory of a machine without pods. Undefined: the policy None. */
  readonly unused: NodeMemories | undefined;
  readonly gates: ManagerGates;
  readonly onRebuild: (problem: string) => void;
  readonly meter?: { requested(): void; failed(): void } | undefined;
}

export interface MemoryManager extends HintProvider {
  load(): Promise<void>;
  blocks(uid: string, container: string): readonly MemoryBlock[];
  /** What containers can have, by NUMA node. */
  allocatable(): readonly MemoryBlock[];
  state(): MemoryState;
}

const DONE: Assigned = { kind: 'done' };

export function createMemoryManager({ log, file, unused, gates, onRebuild, meter }: MemoryDeps): MemoryManager {
  const policy = unused === undefined ? 'None' : 'Static';
  let state: MemoryState = { nodes: unused ?? new Map(), containers: new Map(), pods: new Map() };
  let turn: { readonly uid: string; readonly reusable: ReusableMemory } = { uid: '', reusable: NO_REUSABLE };

  const save = (): Promise<void> => file.save(() => encodeMemoryState({ policy, state }, gates.podLevelManagers));
  const saveSoon = (): void => {
    save().catch((error: unknown) => log.error('Failed to save checkpoint', { err: error, path: file.path }));
  };
  const reusableOf = (uid: string): ReusableMemory => (turn.uid === uid ? turn.reusable : NO_REUSABLE);
  const concerns = (pod: Pod): boolean =>
    unused !== undefined && isManaged(pod, gates) && podMemory(pod, gates).size > 0;

  /** Init containers run one after the other: what those before this one had is free. */
  const releaseEarlier = (pod: Pod, { name }: Container): void => {
    const before = state;
    for (const init of pod.spec.initContainers ?? []) {
      if (init.name === name) break;
      if (init.restartPolicy !== 'Always') state = releaseContainerMemory(state, pod.metadata.uid, init.name);
    }
    if (state !== before) saveSoon();
  };

  return {
    name: 'memory',
    concerns,
    hintsFor: (pod, container) => {
      const request = { pod, container, reusable: reusableOf(pod.metadata.uid) };
      return unused === undefined ? new Map() : memoryHints(state, request, gates);
    },
    hintsForPod: (pod) => {
      const request = { pod, reusable: reusableOf(pod.metadata.uid) };
      return unused === undefined ? new Map() : podMemoryHints(state, request, gates);
    },
    allocate: ({ pod, container, hint }) => {
      if (!concerns(pod)) return Promise.resolve(DONE);
      const { uid } = pod.metadata;
      meter?.requested();
      const answer = allocateMemory(state, { pod, container, hint, reusable: reusableOf(uid) }, gates);
      if (!answer.ok) {
        meter?.failed();
        return Promise.resolve(refused(answer.refusal));
      }
      ({ state } = answer.value);
      turn = { uid, reusable: answer.value.reusable };
      return Promise.resolve(DONE);
    },
    allocatePod: ({ pod, hint }) => {
      if (!concerns(pod)) return Promise.resolve(DONE);
      meter?.requested();
      const answer = allocatePodMemory(state, { pod, hint }, gates);
      if (answer.ok) state = answer.value;
      else meter?.failed();
      return Promise.resolve(answer.ok ? DONE : refused(answer.refusal));
    },
    complete: async () => {
      await save();
      return DONE;
    },
    prepare: (pod, container) => {
      releaseEarlier(pod, container);
      const nodes = new Set((memoryOf(state, pod.metadata.uid, container.name) ?? []).flatMap((block) => block.nodes));
      if (nodes.size === 0) return Promise.resolve({});
      return Promise.resolve({ mems: [...nodes].toSorted((a, b) => a - b).join(',') });
    },
    release: (uid) => {
      const next = releaseMemory(state, uid);
      if (next === state) return;
      state = next;
      saveSoon();
    },
    load: async () => {
      const text = await file.load();
      const record = text === undefined ? undefined : decodeMemoryState(text);
      if (record !== undefined && !record.ok) onRebuild(record.problem);
      if (record?.ok === true && record.value.policy !== policy) {
        const names = `configured policy ${JSON.stringify(policy)} differs from state checkpoint policy`;
        onRebuild(`${names} ${JSON.stringify(record.value.policy)}`);
      } else if (record?.ok === true && unused !== undefined && record.value.state.nodes.size > 0) {
        const rebuilt = rebuildMemory(unused, record.value.state);
        if (!sameMemory(rebuilt.nodes, record.value.state.nodes))
          onRebuild('[memorymanager] the expected machine state is different from the real one');
        state = rebuilt;
      }
      await save();
    },
    blocks: (uid, container) => memoryOf(state, uid, container) ?? [],
    allocatable: () =>
      [...(unused ?? [])].flatMap(([id, { tables }]) =>
        [...tables].flatMap(([type, { allocatable }]) =>
          allocatable === 0 ? [] : [{ nodes: [id], type, bytes: allocatable }],
        ),
      ),
    state: () => state,
  };
}
