/** Registers the node and updates its status: every few seconds, and sooner after a change. */
import { type KubeNode, nodeCondition } from '../api/node.ts';
import { createAlarm } from '../base/alarm.ts';
import { isClassified } from '../base/errors.ts';
import type { WakeBit } from '../base/wake.ts';
import type { NodeConfig, NodeKube, NodeStep } from './node.ts';
import { type RegistrationDeps, register } from './register.ts';
import type { MachineIdentity } from './rules/node-info.ts';
import { findClockSkew, findTwinByStatus } from './rules/suspicions.ts';
import { createNodeStatus, type NodeStatusDeps } from './status.ts';

export interface ReportingDeps extends Omit<NodeStatusDeps, 'kube'>, Omit<RegistrationDeps, 'kube' | 'pause'> {
  readonly kube: NodeKube;
  readonly machine: () => MachineIdentity;
  readonly onStep?: ((step: NodeStep) => void) | undefined;
  /** Woken when something has changed that the status may depend on. */
  readonly bit: WakeBit;
}

export interface Reporting {
  /** Registers the node if necessary, and updates its status. */
  pass(signal: AbortSignal): Promise<void>;
  /** Waits until the next pass is due. */
  rest(signal: AbortSignal): Promise<void>;
}

const JITTER = 0.04;

export function createReporting(deps: ReportingDeps, config: NodeConfig): Reporting {
  const { clock, log, kube, ownNode, warnings, bit } = deps;
  const { name } = config.identity;
  const status = createNodeStatus(deps, { nodeName: name, reportFrequency: config.reportFrequency });
  const alarm = createAlarm(clock, bit.wake);
  let registered = false;

  /** Ends early after a change. */
  const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
    alarm.ringAt(clock.now() + ms);
    try {
      await bit.wait(signal);
    } finally {
      alarm.clear();
    }
  };

  ownNode.subscribe('node status', ({ before, now }) => {
    if (now === undefined) {
      log.info('Node was deleted from the API server', { node: name });
      registered = false;
      bit.wake();
      return;
    }
    if (status.hasReported()) warnings.report('NodeNameConflict', findTwinByStatus(now, twinFields(deps.machine())));
    if (needsUpdate(before, now)) bit.wake();
  });

  const pass = async (signal: AbortSignal): Promise<void> => {
    if (config.registerNode && !registered) {
      if (ownNode.object() === undefined) deps.onStep?.('registering');
      await register({ ...deps, pause }, config, signal);
      registered = true;
      deps.onStep?.('registered');
    }
    if (!config.registerNode && ownNode.object() === undefined) {
      log.v(2)?.info('Node is not registered yet, and registerNode is false', { node: name });
      return;
    }
    if ((await status.update(signal)) === 'gone') ownNode.noteGone();
    const date = kube.serverDate?.();
    if (date !== undefined) warnings.report('ClockSkew', findClockSkew(date));
  };

  return {
    pass: async (signal) => {
      try {
        await pass(signal);
      } catch (error) {
        if (signal.aborted || !isClassified(error)) throw error;
        log.error('Unable to update node status', { err: error });
      }
    },
    rest: (signal) => pause(config.updateFrequency * (1 + JITTER * deps.random()), signal),
  };
}

/** Changes by others that need an update at once, not with the next pass. */
function needsUpdate(before: KubeNode | undefined, now: KubeNode): boolean {
  // The control plane marked the node as unreachable.
  if (before === undefined || nodeCondition(now, 'Ready')?.status === 'Unknown') return true;
  const { spec: old = {} } = before;
  const { spec = {} } = now;
  return old.unschedulable !== spec.unschedulable || old.podCIDRs?.join() !== spec.podCIDRs?.join();
}

const twinFields = ({ machineId, systemUuid, bootId }: MachineIdentity) => ({
  machineID: machineId,
  systemUUID: systemUuid,
  bootID: bootId,
});
