/** Renews this node's lease four times within its duration; creates it if it is missing. */

import { apiPath, apiPathBelow } from '../api/api-path.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf, describeError, isClassified } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import type { Kube } from '../kube/kube.ts';
import { isConnectionFailure, isRefusal } from './failures.ts';
import type { OwnNode } from './own-node.ts';
import { LEASE_NAMESPACE, type Lease, RENEWALS_A_DURATION, renewedLease } from './rules/lease.ts';
import { findTwinByLease } from './rules/suspicions.ts';
import type { Warnings } from './warnings.ts';

export interface LeaseDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly kube: Pick<Kube, 'heartbeats' | 'reconnect' | 'onBack'>;
  readonly ownNode: OwnNode;
  readonly warnings: Warnings;
  readonly supervisor: Supervisor;
}

export interface LeaseConfig {
  readonly nodeName: string;
  readonly durationSeconds: number;
}

const LEASES = apiPath`/apis/coordination.k8s.io/v1/namespaces/${LEASE_NAMESPACE}/leases`;
const TRIES = 5;
const JITTER = 0.04;
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 7000;
/** A request without an answer may have been carried out. */
const REMEMBERED_RENEWALS = 16;

/** Returns when `signal` aborts. */
export async function keepLease(deps: LeaseDeps, config: LeaseConfig, signal: AbortSignal): Promise<void> {
  const { clock, log, ownNode } = deps;
  const bit = createWakeBit();
  const alarm = createAlarm(clock, bit.wake);
  const unsubscribe = ownNode.subscribe('node lease', ({ before, now }) => {
    if (now !== undefined && before?.metadata.uid !== now.metadata.uid) bit.wake();
  });
  const unsubscribeBack = deps.kube.onBack('node lease', bit.wake);
  const renewer = createRenewer(deps, config);
  const intervalMs = (config.durationSeconds * 1000) / RENEWALS_A_DURATION;
  let failures = 0;
  const pass = async (): Promise<void> => {
    const uid = ownNode.object()?.metadata.uid;
    // The node object owns the lease: without it there can be none.
    if (uid === undefined) return;
    try {
      await renewer.renew(uid, signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted || !isClassified(error)) throw error;
      failures += 1;
      log.error('Failed to update lease, will retry', { err: error, lease: `${LEASE_NAMESPACE}/${config.nodeName}` });
    }
  };
  const rest = async (): Promise<void> => {
    const wait =
      failures === 0
        ? intervalMs * (1 + JITTER * deps.random())
        : Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS, intervalMs);
    alarm.ringAt(clock.now() + wait);
    await bit.wait(signal);
    alarm.clear();
  };
  await deps.supervisor.run({ name: 'node lease', pass, rest }, signal);
  unsubscribe();
  unsubscribeBack();
  alarm.clear();
}

function createRenewer({ clock, log, kube, warnings }: LeaseDeps, config: LeaseConfig) {
  let latest: Lease | undefined;
  let attempts: readonly string[] = [];
  let renewed = false;

  const path = () => apiPathBelow(LEASES, config.nodeName);
  const read = async (signal: AbortSignal): Promise<Lease | undefined> => {
    try {
      const lease = await kube.heartbeats.request<Lease>({ method: 'GET', path: path() }, signal);
      if (renewed) warnings.report('NodeLeaseConflict', findTwinByLease(lease, attempts));
      return lease;
    } catch (error) {
      if (codeOf(error) === 'notFound') return undefined;
      throw error;
    }
  };

  const write = async (base: Lease | undefined, nodeUid: string, signal: AbortSignal): Promise<Lease> => {
    const renewal = { nodeName: config.nodeName, nodeUid, durationSeconds: config.durationSeconds, now: clock.now() };
    const lease = renewedLease(base, renewal);
    attempts = [...attempts, lease.spec?.renewTime ?? ''].slice(-REMEMBERED_RENEWALS);
    const call =
      base === undefined
        ? ({ method: 'POST', path: LEASES, body: lease } as const)
        : ({ method: 'PUT', path: path(), body: lease } as const);
    return await kube.heartbeats.request<Lease>(call, signal);
  };

  /** Writes on top of the last answer, which saves a read as long as no one else changes the lease. */
  const renew = async (nodeUid: string, signal: AbortSignal): Promise<void> => {
    let last: unknown;
    let attempt = 0;
    for (; attempt < TRIES && !isRefusal(last); attempt += 1) {
      try {
        latest ??= await read(signal);
        latest = await write(latest, nodeUid, signal);
        renewed = true;
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        last = error;
        latest = undefined;
        log.v(2)?.info('Failed to update lease', { attempt, err: describeError(error) });
        if (attempt > 0 && isConnectionFailure(error)) kube.reconnect('renewing the lease failed repeatedly');
      }
    }
    throw new CodedError('unavailable', `failed ${attempt} attempts to update lease`, { cause: last });
  };
  return { renew };
}
