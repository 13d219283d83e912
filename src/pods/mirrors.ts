/**
 * Mirror pods: the objects by which the API server shows the static pods of this node. They are made once the node is registered,
 * follow their pods, come back when somebody deletes them, and go with their pods.
 */
import { apiPath } from '../api/api-path.ts';
import type { Pod } from '../api/pod.ts';
import { isStaticPod } from '../api/pod-traits.ts';
import { createAlarm } from '../base/alarm.ts';
import { assertNever } from '../base/assert-never.ts';
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import { FORGOTTEN_MS, mayAnswerAt, noteAnswer, type Standoff } from '../base/standoff.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import type { KubeClient } from '../kube/kube.ts';
import type { Pods } from './pods.ts';
import { type MirrorOwner, mirrorOf } from './rules/mirror-pod.ts';
import { fullName, type MirrorAction, planMirrors } from './rules/plan-mirrors.ts';

/** By hand no one deletes a mirror pod more often. */
const MADE_AT_ONCE = 2;

export interface Mirrors extends Part {
  /** All mirror pods that the API server has for this node. */
  setMirrors(mirrors: readonly Pod[]): void;
  /** Undefined before the API server was heard. */
  known(): readonly Pod[] | undefined;
  /** How many pods of the API server stand for static ones here. */
  count(): number;
  /** Under which the API server knows a static pod; undefined where it has no mirror of it. */
  uidOf(namespace: string, name: string): string | undefined;
  /** Something that mirrors depend on may have changed: pods, the node. */
  look(): void;
  /** The API server answers again: what failed is tried at once. */
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
  /** A mirror was made, of which the watch will tell only later. */
  readonly onMade: (mirror: Pod) => void;
  readonly random: () => number;
}

const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5000;
const WITHIN_MS = 15_000;

export function createMirrors(deps: MirrorsDeps): Mirrors {
  const { clock, log, client, pods, random } = deps;
  const bit = createWakeBit();
  const alarm = createAlarm(clock, bit.wake);
  /** By the UID of the static pod, which changes with its manifest. */
  const makings = new Map<string, Standoff>();
  let known: readonly Pod[] | undefined;
  let failures = 0;
  let pause: LinkedSignal | undefined;
  let running: Promise<void> = Promise.resolve();

  const plan = (): readonly MirrorAction[] => {
    if (known === undefined) return [];
    const statics = pods.views().filter(({ pod }) => isStaticPod(pod));
    const wanted = statics.filter(({ deleted }) => !deleted).map(({ pod }) => pod);
    const ending = statics.filter(({ step }) => step !== 'terminated').map(({ pod }) => pod);
    const coming = (pods.desired()?.pods ?? []).filter(isStaticPod);
    const kept = new Set([...ending, ...coming].map(fullName));
    const everySourceHeard = pods.desired()?.everySourceHeard === true;
    return planMirrors({ wanted, kept, mirrors: known, node: deps.node(), everySourceHeard }).filter(mayBeNow);
  };

  const mayBeNow = (action: MirrorAction): boolean => {
    if (action.kind !== 'create') return true;
    const time = mayAnswerAt(makings.get(action.pod.metadata.uid), MADE_AT_ONCE);
    if (time <= clock.now()) return true;
    alarm.ringAt(time);
    return false;
  };

  const noteMade = (pod: Pod): void => {
    const { uid } = pod.metadata;
    const now = clock.now();
    const made = noteAnswer(makings.get(uid), now);
    for (const [one, { at }] of makings) if (now - at >= FORGOTTEN_MS) makings.delete(one);
    makings.set(uid, made);
    if (made.times !== MADE_AT_ONCE + 1) return;
    const hint = 'is there another kubelet with the name of this node?';
    log.error('Somebody else keeps deleting a mirror pod', { pod: fullName(pod), hint });
  };

  const create = async (pod: Pod, node: MirrorOwner, signal: AbortSignal): Promise<void> => {
    const path = apiPath`/api/v1/namespaces/${pod.metadata.namespace}/pods`;
    log.v(2)?.info('Creating a mirror pod for static pod', { pod: fullName(pod) });
    const asked = { method: 'POST', path, body: mirrorOf(pod, node), timeoutMs: WITHIN_MS } as const;
    const mirror = await client.request<Pod>(asked, signal);
    noteMade(pod);
    known = [...(known ?? []).filter((one) => one.metadata.uid !== mirror.metadata.uid), mirror];
    deps.onMade(mirror);
  };

  const remove = async (mirror: Pod, reason: string, signal: AbortSignal): Promise<void> => {
    const { namespace, name, uid } = mirror.metadata;
    log.v(2)?.info('Deleting a mirror pod', { pod: fullName(mirror), podUID: uid, reason });
    const path = apiPath`/api/v1/namespaces/${namespace}/pods/${name}`;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } };
    await client.request({ method: 'DELETE', path, body, timeoutMs: WITHIN_MS }, signal);
    known = (known ?? []).filter((one) => one.metadata.uid !== uid);
  };

  /** What the answer means is that the watch has yet to tell what is there. */
  const isLate = (action: MirrorAction, error: unknown): boolean => {
    const code = codeOf(error);
    return action.kind === 'create' ? code === 'exists' : code === 'notFound' || code === 'conflict';
  };

  const carryOut = async (action: MirrorAction, signal: AbortSignal): Promise<boolean> => {
    try {
      if (action.kind === 'create') await create(action.pod, action.node, signal);
      else if (action.kind === 'delete') await remove(action.mirror, action.reason, signal);
      else assertNever(action);
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      const pod = fullName(action.kind === 'create' ? action.pod : action.mirror);
      const told = isLate(action, error) ? log.v(2) : log;
      told?.warn('Could not bring a mirror pod in step with its static pod', { pod, what: action.kind, err: error });
      return false;
    }
  };

  const pass = async (signal: AbortSignal): Promise<void> => {
    const done = await Promise.all(plan().map((action) => carryOut(action, signal)));
    failures = done.every(Boolean) ? 0 : failures + 1;
    if (done.length > 0) bit.wake();
  };

  const rest = async (signal: AbortSignal): Promise<void> => {
    if (failures === 0) return await bit.wait(signal);
    // Others may wake it sooner; what failed would only fail again.
    const wait = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS) * (0.75 + random() / 4);
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
      known = mirrors;
      bit.wake();
    },
    known: () => known,
    count: () => known?.length ?? 0,
    uidOf: (namespace, name) =>
      known?.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace)?.metadata.uid,
    look: bit.wake,
    retry: () => {
      failures = 0;
      pause?.abort('the API server is back');
    },
  };
}
