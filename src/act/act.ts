/**
 * The public entry point of the actions: carries out the actions of a plan, in its order, one file for each kind of action. The result
 * is a value; only an interruption (the pod must end, the kubelet stops, the runtime does not answer) is thrown.
 */

import type { SandboxId } from '../api/ids.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Action } from '../model/plan.ts';
import type { PodIdentity } from '../model/pod-identity.ts';
import type { ReportStep } from '../model/step.ts';
import type { ContainerStartDeps } from './container-start.ts';
import { cleanUpPod, releasePod } from './pod-clean-up.ts';
import type { CgroupsPort, InForcePort, LimitsPort, LogsPort, RuntimePort, VolumesPort } from './ports.ts';
import { createReporter } from './reporter.ts';
import { createRun, type RunContext } from './run-action.ts';
import { createStops, type Stops } from './stops.ts';

export interface ActDeps extends ContainerStartDeps {
  readonly runtime: RuntimePort;
  readonly cgroups: CgroupsPort;
  readonly limits: LimitsPort;
  readonly inForce: InForcePort;
  readonly volumes: VolumesPort;
  readonly logs: LogsPort;
  readonly sandboxIps: (id: SandboxId, signal: AbortSignal) => Promise<readonly string[]>;
  readonly record: RecordPodEvent;
}

export interface ActContext extends Omit<RunContext, 'report'> {
  /** What became of each step, as soon as it is known. */
  readonly onStep: ReportStep;
}

export interface Act {
  carryOut(actions: readonly Action[], context: ActContext): Promise<readonly Outcome[]>;
  /** The stops of one pod: kept by its worker for as long as it lives. */
  createStops(onStep: ReportStep): Stops;
  /** Removes all that the node has of a pod that has no running container. Fails where something can't be removed. */
  cleanUp(pod: PodIdentity, onStep: ReportStep, signal: AbortSignal): Promise<void>;
  /** Removes what only a running pod needs. */
  release(pod: PodIdentity, onStep: ReportStep, signal: AbortSignal): Promise<void>;
}

export function createAct(deps: ActDeps): Act {
  const carryOut = async (actions: readonly Action[], context: ActContext): Promise<readonly Outcome[]> => {
    const run = createRun(deps, { ...context, report: createReporter(deps.record, context.pod, context.onStep) });
    const outcomes: Outcome[] = [];
    try {
      for (const group of inGroups(actions)) {
        const result = await run(group);
        outcomes.push(...result.outcomes);
        if (result.hold) break;
      }
      return outcomes;
    } finally {
      context.turn.release();
    }
  };
  return {
    carryOut,
    createStops: (onStep) =>
      createStops({ ...deps, report: (pod, report) => createReporter(deps.record, pod, onStep)(report) }),
    cleanUp: (pod, onStep, signal) => cleanUpPod(deps, { pod, onStep }, signal),
    release: (pod, onStep, signal) => releasePod(deps, { pod, onStep }, signal),
  };
}

/** Stops that stand next to each other are carried out together; every other action waits for what stands before it. */
function inGroups(actions: readonly Action[]): readonly (readonly Action[])[] {
  const groups: Action[][] = [];
  for (const action of actions) {
    const last = groups.at(-1);
    if (action.kind === 'container-stop' && last?.[0]?.kind === 'container-stop') last.push(action);
    else groups.push([action]);
  }
  return groups;
}
