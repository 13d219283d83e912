/**
 * Mirror pods: the objects by which the API server shows the static pods of this node. They are created once the node is registered,
 * follow their pods, are created again after someone deletes them, and are deleted with their pods.
 */
import { apiPath } from '../api/api-path.ts';
import type { Pod } from '../api/pod.ts';
import { createAlarm } from '../base/alarm.ts';
import { assertNever } from '../base/assert-never.ts';
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import type { KubeClient } from '../kube/kube.ts';
import type { Pods } from './pods.ts';
import { fullName } from './rules/full-name.ts';
import { type MirrorOwner, mirrorOf } from './rules/mirror-pod.ts';
import {
  dueActions,
  isDeletedByAnother,
  type MirrorsEvent,
  type MirrorsState,
  mirrorsBackOff,
  nextMirrors,
} from './rules/mirrors-state.ts';
import { type MirrorAction, mirrorsInput, planMirrors } from './rules/plan-mirrors.ts';

export interface Mirrors extends Part {
  /** All mirror pods that the API server has for this node. */
  setMirrors(mirrors: readonly Pod[]): void;
  /** Undefined before the API server has listed them. */
  known(): readonly Pod[] | undefined;
  /** How many pods of the API server are mirrors of static pods here. */
  count(): number;
  /** Under which the API server has a static pod; undefined where it has no mirror of it. */
  uidOf(namespace: string, name: string): string | undefined;
  /** Something that mirrors depend on may have changed: pods, the node. */
  look(): void;
  /** The API server answers again: what failed is retried at once. */
  retry(): void;
}

export interface MirrorsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly client: KubeClient;
  readonly pods: Pick<Pods, 'views' | 'desired'>;
  /** Undefined while the node is not registered. */
  readonly node: () => MirrorOwner | undefined;
  /** A mirror was created: the watch reports it only later. */
  readonly onMade: (mirror: Pod) => void;
  readonly random: () => number;
}

const WITHIN_MS = 15_000;

export function createMirrors(deps: MirrorsDeps): Mirrors {
  const { clock, pods } = deps;
  const bit = createWakeBit();
  const alarm = createAlarm(clock, bit.wake);
  let state: MirrorsState = { step: 'unlisted' };
  let pause: LinkedSignal | undefined;
  let running: Promise<void> = Promise.resolve();

  const known = () => (state.step === 'listed' ? state.mirrors : undefined);
  const apply = (event: MirrorsEvent): void => {
    state = nextMirrors(state, event);
  };
  const carryOut = createCarryOut(deps, (event) => {
    apply(event);
    if (event.kind === 'created' && isDeletedByAnother(state, event.pod)) reportDeletions(deps.log, event.pod);
  });

  const plan = (): readonly MirrorAction[] => {
    const mirrors = known();
    if (mirrors === undefined) return [];
    const planned = planMirrors({ ...mirrorsInput(pods.views(), pods.desired()), mirrors, node: deps.node() });
    const { actions, retryAt } = dueActions(state, planned, clock.now());
    if (retryAt !== undefined) alarm.ringAt(retryAt);
    return actions;
  };

  const pass = async (signal: AbortSignal): Promise<void> => {
    const done = await Promise.all(plan().map((action) => carryOut(action, signal)));
    apply({ kind: 'passed', hasFailed: !done.every(Boolean) });
    if (done.length > 0) bit.wake();
  };

  const rest = async (signal: AbortSignal): Promise<void> => {
    const wait = mirrorsBackOff(state, deps.random());
    if (wait === undefined) return await bit.wait(signal);
    // A wake-up does not shorten the back-off: what failed would only fail again.
    using paused = linkSignal(signal);
    pause = paused;
    await clock.sleep(wait, paused.signal).catch(() => signal.throwIfAborted());
    pause = undefined;
  };

  return {
    name: 'mirror pods',
    start: (signal) => {
      running = deps.supervisor.run({ name: 'mirror pods', pass, rest }, signal);
    },
    stop: async () => {
      alarm.clear();
      await running;
    },
    setMirrors: (mirrors) => {
      apply({ kind: 'listed', mirrors });
      bit.wake();
    },
    known,
    count: () => known()?.length ?? 0,
    uidOf: (namespace, name) =>
      known()?.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace)?.metadata.uid,
    look: bit.wake,
    retry: () => {
      apply({ kind: 'server-back' });
      pause?.abort('the API server is back');
    },
  };
}

function reportDeletions(log: Logger, pod: Pod): void {
  const hint = 'is there another kubelet with the name of this node?';
  log.error('Another process keeps deleting a mirror pod', { pod: fullName(pod.metadata), hint });
}

/** Carries out one action. Answers whether it succeeded; it throws only when the kubelet stops. */
function createCarryOut({ clock, log, client, onMade }: MirrorsDeps, apply: (event: MirrorsEvent) => void) {
  const create = async (pod: Pod, node: MirrorOwner, signal: AbortSignal): Promise<void> => {
    const path = apiPath`/api/v1/namespaces/${pod.metadata.namespace}/pods`;
    log.v(2)?.info('Creating a mirror pod for static pod', { pod: fullName(pod.metadata) });
    const request = { method: 'POST', path, body: mirrorOf(pod, node), timeoutMs: WITHIN_MS } as const;
    const mirror = await client.request<Pod>(request, signal);
    apply({ kind: 'created', pod, mirror, now: clock.now() });
    onMade(mirror);
  };

  const remove = async (mirror: Pod, reason: string, signal: AbortSignal): Promise<void> => {
    const { namespace, name, uid } = mirror.metadata;
    log.v(2)?.info('Deleting a mirror pod', { pod: fullName(mirror.metadata), podUID: uid, reason });
    const path = apiPath`/api/v1/namespaces/${namespace}/pods/${name}`;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } };
    await client.request({ method: 'DELETE', path, body, timeoutMs: WITHIN_MS }, signal);
    apply({ kind: 'deleted', mirror });
  };

  return async (action: MirrorAction, signal: AbortSignal): Promise<boolean> => {
    try {
      if (action.kind === 'create') await create(action.pod, action.node, signal);
      else if (action.kind === 'delete') await remove(action.mirror, action.reason, signal);
      else assertNever(action);
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      const { metadata } = action.kind === 'create' ? action.pod : action.mirror;
      const message = action.kind === 'create' ? 'Failed creating a mirror pod' : 'Failed deleting a mirror pod';
      const level = isLate(action, error) ? log.v(2) : log;
      level?.warn(message, { pod: fullName(metadata), err: error });
      return false;
    }
  };
}

/** The answer only means that the watch has not yet reported what exists. */
function isLate(action: MirrorAction, error: unknown): boolean {
  const code = codeOf(error);
  return action.kind === 'create' ? code === 'exists' : code === 'notFound' || code === 'conflict';
}
