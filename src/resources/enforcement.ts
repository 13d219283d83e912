/** Holds all pods, and the cgroups of what is reserved, to their part of the node. */
import type { Clock } from '../base/clock.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import type { NodeCgroups } from './node-cgroups.ts';
import type { CgroupLimits } from './rules/cgroup-limits.ts';
import { parseDriverPath } from './rules/cgroup-name.ts';
import type { Enforcement } from './rules/enforcement.ts';

export interface EnforcementDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly record: RecordNodeEvent;
  readonly node: NodeCgroups;
}

const RETRY_MS = 60_000;
const RUNTIME_RETRY_MS = 1000;

/** All pods may use more than they are to be held to now: their limit comes when they use less. */
export async function enforcePods(deps: EnforcementDeps, limits: CgroupLimits, signal: AbortSignal): Promise<void> {
  const { node, clock, record, supervisor } = deps;
  let isEnforced = false;
  const pass = async (): Promise<void> => {
    try {
      await node.writer().update(node.name, limits, signal);
      isEnforced = true;
    } catch (error) {
      if (signal.aborted) return;
      const message = `Failed to update Node Allocatable Limits ${JSON.stringify(node.name)}: ${describeError(error)}`;
      record(eventOf('Warning', 'FailedNodeAllocatableEnforcement', message));
      return;
    }
    record(eventOf('Normal', 'NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods'));
  };
  const rest = () => clock.sleep(RETRY_MS, signal);
  await supervisor.run({ name: 'node allocatable', pass, rest, isDone: () => isEnforced }, signal);
}

export interface ReservedRequest {
  readonly plan: readonly Enforcement[];
  readonly cgroupsPerQos: boolean;
}

/** Throws where it fails: the node would promise more to pods than it can keep. */
export async function enforceReserved(
  deps: EnforcementDeps,
  { plan, cgroupsPerQos }: ReservedRequest,
  signal: AbortSignal,
): Promise<void> {
  if (plan.length === 0) return;
  await untilDriverIsKnown(deps, signal);
  // On cgroup v2 the root passes on all controllers only once there are cgroups for pods, and a slice of systemd has what the root passes on.
  if (cgroupsPerQos) await deps.node.ensure(signal);
  for (const { cgroup, limits, succeeded, failed } of plan) {
    try {
      await enforceExisting(deps.node, cgroup, limits, signal);
    } catch (error) {
      const message = `${failed}: ${describeError(error)}`;
      deps.record(eventOf('Warning', 'FailedNodeAllocatableEnforcement', message));
      throw new CodedError('invalid', message, { cause: error });
    }
    deps.record(eventOf('Normal', 'NodeAllocatableEnforced', succeeded));
  }
}

/** The form of names depends on the driver, which only the runtime knows. */
export async function untilDriverIsKnown(
  { node, clock, supervisor, log }: EnforcementDeps,
  signal: AbortSignal,
): Promise<void> {
  let isKnown = false;
  const pass = async (): Promise<void> => {
    try {
      await node.settleDriver(signal);
      isKnown = true;
    } catch (error) {
      log.v(2)?.info('The runtime does not report its cgroup driver yet', { err: error });
    }
  };
  const rest = () => clock.sleep(RUNTIME_RETRY_MS, signal);
  await supervisor.run({ name: 'cgroup driver', pass, rest, isDone: () => isKnown }, signal);
}

async function enforceExisting(node: NodeCgroups, cgroup: string, limits: CgroupLimits, signal: AbortSignal) {
  const name = parseDriverPath(cgroup, node.driver());
  if (name.length === 0) throw new CodedError('invalid', 'it is not configured');
  if (!node.writer().exists(name)) throw new CodedError('notFound', 'it does not exist for every controller');
  await node.writer().update(name, limits, signal);
}

function eventOf(type: 'Normal' | 'Warning', reason: string, message: string) {
  return { node: true as const, type, reason, message };
}
