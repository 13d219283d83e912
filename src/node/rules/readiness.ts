/** Why a node is not Ready, in the wording of the reference. */
import type { RuntimeCondition } from '../../wire/gen/cri-runtime-v1.ts';

/** What is known of the container runtime. */
export interface RuntimeReport {
  /** When it was last ready, monotonic; undefined: never yet. */
  readonly lastReadyAt: number | undefined;
  /** From the last answer. */
  readonly runtimeProblem: string | undefined;
  readonly networkProblem: string | undefined;
}

/** A runtime that is down for less than this is not reported: it may only be restarting. */
export const RUNTIME_AWAY_MS = 30_000;

export const NETWORK_UNKNOWN = 'network state unknown';

export interface ReadinessInput {
  readonly runtime: RuntimeReport;
  readonly mono: number;
  /** Parts of the kubelet that don't work, such as `PLEG is not healthy: …`. */
  readonly partProblems: readonly string[];
  readonly storageProblem: string | undefined;
  readonly shutdownProblem: string | undefined;
  /** Names of the resources in the node's capacity. */
  readonly capacity: ReadonlySet<string>;
  readonly localStorage: boolean;
}

/** Undefined: ready. */
export function computeReadinessProblem(input: ReadinessInput): string | undefined {
  const required = ['cpu', 'memory', 'pods', ...(input.localStorage ? ['ephemeral-storage'] : [])];
  const missing = required.filter((name) => !input.capacity.has(name));
  const problems = [
    runtimeAway(input.runtime, input.mono),
    ...input.partProblems,
    input.runtime.runtimeProblem,
    input.runtime.networkProblem,
    input.storageProblem,
    input.shutdownProblem,
    missing.length > 0 ? `missing node capacity for resources: ${missing.join(', ')}` : undefined,
  ];
  const distinct = [...new Set(problems.filter((problem) => problem !== undefined))];
  if (distinct.length === 0) return undefined;
  return distinct.length === 1 ? distinct[0] : `[${distinct.join(', ')}]`;
}

function runtimeAway({ lastReadyAt }: RuntimeReport, mono: number): string | undefined {
  if (lastReadyAt === undefined) return 'container runtime status check may not have completed yet';
  return mono - lastReadyAt >= RUNTIME_AWAY_MS ? 'container runtime is down' : undefined;
}

/** The problems that the runtime reports of itself and of its network. */
export function judgeRuntimeConditions(
  conditions: readonly RuntimeCondition[],
): Pick<RuntimeReport, 'runtimeProblem' | 'networkProblem'> {
  const problemOf = (type: string, text: string) => {
    const condition = conditions.find((each) => each.type === type);
    if (condition?.status === true) return undefined;
    return `${text}: ${condition === undefined ? '<nil>' : describeCondition(condition)}`;
  };
  return {
    runtimeProblem: problemOf('RuntimeReady', 'container runtime not ready'),
    networkProblem: problemOf('NetworkReady', 'container runtime network not ready'),
  };
}

function describeCondition({ type, status, reason, message }: RuntimeCondition): string {
  return `${type}=${status} reason:${reason} message:${message}`;
}
