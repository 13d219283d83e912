/** Updates the status of this node's object: computed every few seconds, written after a change or after a longer time. */
import { apiPath, apiPathBelow } from '../api/api-path.ts';
import { type KubeNode, nodeCondition } from '../api/node.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Kube } from '../kube/kube.ts';
import type { EventText } from '../model/event.ts';
import { isConnectionFailure, isRefusal } from './failures.ts';
import type { OwnNode } from './own-node.ts';
import { computeNode, type NodeSnapshot, statusEvent } from './rules/compute-node.ts';
import { computeNodePatch, nodeHasChanged } from './rules/node-patch.ts';

export interface NodeStatusDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly kube: Pick<Kube, 'heartbeats' | 'reconnect'>;
  readonly ownNode: OwnNode;
  readonly record: (event: EventText) => void;
  readonly snapshot: (signal: AbortSignal) => Promise<NodeSnapshot>;
  readonly setPodCidr: (podCidr: string, signal: AbortSignal) => Promise<void>;
}

export interface NodeStatusConfig {
  readonly nodeName: string;
  /** How often an unchanged status is written, ms. */
  readonly reportFrequency: number;
}

export interface NodeStatusWriter {
  /** Computes the status, and writes it if it has changed or is due. `gone`: the API server has no such node. */
  update(signal: AbortSignal): Promise<'reported' | 'gone' | 'failed'>;
  /** Whether a status was written since the start. */
  hasReported(): boolean;
}

const TRIES = 5;
const RETRY_MS = 100;

export function createNodeStatus(deps: NodeStatusDeps, config: NodeStatusConfig): NodeStatusWriter {
  const { clock, log, kube, ownNode } = deps;
  const path = () => apiPath`/api/v1/nodes/${config.nodeName}`;
  let reportedAt: number | undefined;
  let extraDelay = 0;
  const takePodCidrs = createPodCidrs(deps);
  const events = createStatusEvents(deps, config.nodeName);

  /** The watch may be late: after a failure the object is read from the API server. */
  const read = async (attempt: number, signal: AbortSignal): Promise<KubeNode> => {
    const known = ownNode.object();
    if (attempt === 0 && known !== undefined) return known;
    const node = await kube.heartbeats.request<KubeNode>({ method: 'GET', path: path() }, signal);
    ownNode.note(node);
    return node;
  };

  const tryUpdate = async (attempt: number, signal: AbortSignal): Promise<void> => {
    const before = await read(attempt, signal);
    const hasNewCidrs = await takePodCidrs(before, signal);
    const { node, events: changes, problems } = computeNode(before, await deps.snapshot(signal));
    for (const problem of problems) log.error('Failed to set some node status fields', { err: problem });
    events.recordSchedulable(before);
    const hasChanged = hasNewCidrs || nodeHasChanged(before, node);
    const isDue = reportedAt === undefined || clock.mono() - reportedAt >= config.reportFrequency + extraDelay;
    if (!hasChanged && !isDue) return;
    const patch = computeNodePatch(before, node);
    if (patch !== undefined) {
      const request = {
        method: 'PATCH',
        path: apiPathBelow(path(), 'status'),
        patch: 'strategic',
        body: patch,
      } as const;
      ownNode.note(await kube.heartbeats.request<KubeNode>(request, signal));
    }
    // A change may affect all nodes of a cluster at once: a random delay spreads their next reports.
    extraDelay = hasChanged || reportedAt === undefined ? config.reportFrequency * (deps.random() - 0.5) : 0;
    reportedAt = clock.mono();
    events.record(changes);
    if (nodeCondition(before, 'Ready')?.status !== nodeCondition(node, 'Ready')?.status)
      log.info('Node status reported', { node: config.nodeName, ready: nodeCondition(node, 'Ready')?.status });
  };

  return {
    hasReported: () => reportedAt !== undefined,
    update: async (signal) => {
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        try {
          await tryUpdate(attempt, signal);
          return 'reported';
        } catch (error) {
          if (signal.aborted) throw error;
          if (codeOf(error) === 'notFound') return 'gone';
          if (attempt > 0 && isConnectionFailure(error)) kube.reconnect('writing the node status failed repeatedly');
          log.error('Error updating node status, will retry', { err: error, attempt });
          if (isRefusal(error)) break;
          await clock.sleep(RETRY_MS * attempt, signal);
        }
      }
      log.error('Unable to update node status', {
        err: new CodedError('unavailable', 'update node status exceeds retry count'),
      });
      return 'failed';
    },
  };
}

/** Passes the node's pod CIDR on to the runtime. Resolves with whether it has changed. */
function createPodCidrs({ log, setPodCidr }: NodeStatusDeps) {
  let known = '';
  return async ({ spec }: KubeNode, signal: AbortSignal): Promise<boolean> => {
    const podCidr = (spec?.podCIDRs ?? []).join(',');
    if (podCidr === '' || podCidr === known) return false;
    try {
      await setPodCidr(podCidr, signal);
      log.info('Updating Pod CIDR', { originalPodCIDR: known, newPodCIDR: podCidr });
      known = podCidr;
    } catch (error) {
      if (signal.aborted) throw error;
      log.error('Error updating pod CIDR', { err: error });
    }
    return true;
  };
}

/** The events of changes of the node. */
function createStatusEvents({ log, record }: NodeStatusDeps, nodeName: string) {
  let unschedulable = false;
  let isRebootRecorded = false;
  return {
    record: (events: readonly EventText[]): void => {
      for (const event of events) {
        if (event.reason === 'Rebooted' && isRebootRecorded) continue;
        if (event.reason === 'Rebooted') isRebootRecorded = true;
        if (event.reason === 'NodeNotReady') log.info('Node became not ready', { node: nodeName });
        record(event);
      }
    },
    recordSchedulable: ({ spec }: KubeNode): void => {
      const now = spec?.unschedulable ?? false;
      if (now === unschedulable) return;
      unschedulable = now;
      record(statusEvent(nodeName, now ? 'NodeNotSchedulable' : 'NodeSchedulable'));
    },
  };
}
