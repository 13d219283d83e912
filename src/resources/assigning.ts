/**
 * The pass that assigns particular resources of the node to a pod: devices, CPUs, memory. Every provider decides for one pod at a time; what
 * takes long (plugins, the disk) is waited for beside the decisions on other pods.
 */
import type { Container } from '../api/container.ts';
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { describeError } from '../base/errors.ts';
import { createTurns } from '../base/turns.ts';
import type { Assigned, ContainerAssignment } from '../model/assignment.ts';
import type { PodUpdate } from '../model/pod-view.ts';
import { type AssigningTopology, createDeciding } from './deciding.ts';
import type { HintProvider } from './ports.ts';
import { mergeAssignments } from './rules/merge-assignments.ts';

export interface Assigning {
  /** Whether this pod needs the pass at all. */
  concerns(pod: Pod): boolean;
  /** Rejects only with the reason of the signal. */
  assign(pod: Pod, signal: AbortSignal): Promise<Assigned>;
  /** What the request that creates the container gets. */
  prepare(pod: Pod, container: Container, signal: AbortSignal): Promise<ContainerAssignment>;
  release(uid: PodUid): void;
  /** Releases what pods had that have ended. */
  follow(update: PodUpdate): void;
}

const DONE: Assigned = { kind: 'done' };

export function createAssigning(providers: readonly HintProvider[], topology?: AssigningTopology): Assigning {
  const decisions = createTurns(1);
  const release: Assigning['release'] = (uid) => {
    for (const provider of providers) provider.release(uid);
  };

  const decideOn = createDeciding(providers, topology);
  const decide = async (pod: Pod, signal: AbortSignal): Promise<Assigned> => {
    using _turn = await decisions.take([], signal);
    const done = topology?.meter?.begun();
    const assigned = await decideOn(pod, signal);
    done?.();
    return assigned;
  };

  const complete = async (pod: Pod, signal: AbortSignal): Promise<Assigned> => {
    const all = await Promise.all(providers.map((provider) => provider.complete(pod, signal)));
    return all.find(({ kind }) => kind !== 'done') ?? DONE;
  };

  return {
    concerns: (pod) => providers.some((provider) => provider.concerns(pod)),
    assign: async (pod, signal) => {
      const attempt = async (): Promise<Assigned> => {
        const decided = await decide(pod, signal);
        return decided.kind === 'done' ? await complete(pod, signal) : decided;
      };
      const assigned = await attempt().catch((error: unknown): Assigned => {
        signal.throwIfAborted();
        return unexpected(describeError(error));
      });
      if (assigned.kind === 'refused') {
        topology?.meter?.refused();
        release(podUid(pod.metadata.uid));
      }
      return assigned;
    },
    prepare: async (pod, container, signal) =>
      mergeAssignments(await Promise.all(providers.map((provider) => provider.prepare(pod, container, signal)))),
    release,
    follow: (update) => {
      if (update.kind === 'gone') release(update.uid);
      else if (update.view.step === 'terminated') release(update.view.uid);
    },
  };
}

/** In the words of the reference kubelet. */
export function unexpected(problem: string): Assigned {
  const message = `Allocate failed due to ${problem}, which is unexpected`;
  return { kind: 'refused', reason: 'UnexpectedAdmissionError', message };
}
