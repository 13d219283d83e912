/** What is done about a node that is short of something, or a pod that is above its limits. */
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { isCriticalPod, podTitle } from '../api/pod-traits.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import { EVICTED } from '../model/pod-view.ts';
import type { SignalReadings } from '../model/usage.ts';
import type { EvictablePods, ReclaimPort, UsagePort } from './ports.ts';
import { describeDecision, describeLimit, type EvictionDecision, type ReclaimedStep } from './rules/decision.ts';
import { hasStorageLimits, type StorageExcess, storageExcess } from './rules/local-storage.ts';
import { evictionText } from './rules/message.ts';
import { rankPods } from './rules/rank.ts';
import { bytesToFree, type ReclaimStep, reclaimSteps } from './rules/reclaim.ts';
import { metThresholds, pressureOf, resourceOf, type Threshold } from './rules/threshold.ts';

export interface EvictorDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly usage: UsagePort;
  readonly pods: EvictablePods;
  readonly reclaim: ReclaimPort;
  readonly record: RecordNodeEvent;
  /** For metrics. */
  onEvicted(signal: string): void;
  onDecision(decision: EvictionDecision): void;
}

export interface EvictorConfig {
  readonly thresholds: readonly Threshold[];
  /** evictionMaxPodGracePeriod */
  readonly maxGraceSeconds: number;
  /** localStorageCapacityIsolation */
  readonly limitsStorage: boolean;
  /** The gate PodLevelResources. */
  readonly podLevel: boolean;
}

/** Of the reference. */
const HARD_GRACE_SECONDS = 1;
const POD_ENDS_WITHIN_MS = 30_000;
const SETTLES_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 250;

interface Reason {
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** For the metric. */
  readonly signal: string;
  /** The node was short: the pod gets the condition DisruptionTarget. */
  readonly isDisruption: boolean;
}

async function evict(
  deps: EvictorDeps,
  pod: Pod,
  graceSeconds: number,
  reason: Reason,
  signal: AbortSignal,
): Promise<void> {
  const uid = podUid(pod.metadata.uid);
  const { message, annotations, isDisruption } = reason;
  const title = `${pod.metadata.namespace}/${pod.metadata.name}`;
  deps.log.info('Evicting pod', { pod: title, podUID: uid, message });
  deps.onEvicted(reason.signal);
  const disruption = isDisruption ? { disruption: { reason: 'TerminationByKubelet', message } } : {};
  deps.pods.end(uid, {
    end: { phase: 'Failed', reason: EVICTED, message, ...disruption },
    graceSeconds,
    eventType: 'Warning',
    ...(annotations && { annotations }),
  });
  await deps.pods.untilEnded(uid, POD_ENDS_WITHIN_MS, signal);
}

/** Pods above limits of their own go whether the node is short or not. Whether there were any. */
export async function evictForLimits(deps: EvictorDeps, config: EvictorConfig, signal: AbortSignal): Promise<boolean> {
  const { usage, pods } = deps;
  const limited = config.limitsStorage
    ? pods.active().filter((pod) => hasStorageLimits(pod) && !isCriticalPod(pod))
    : [];
  if (limited.length === 0) return false;
  const usages = await usage.pods(signal);
  const over = limited.flatMap((pod): readonly (readonly [Pod, StorageExcess])[] => {
    const used = usages.get(podUid(pod.metadata.uid));
    const excess = used && storageExcess(pod, used, usage.imageDisk());
    return excess === undefined ? [] : [[pod, excess]];
  });
  for (const [pod, excess] of over) decide(deps, describeLimit(pod, excess, deps.clock.now()));
  await Promise.all(
    over.map(([pod, excess]) => evict(deps, pod, HARD_GRACE_SECONDS, { ...excess, isDisruption: false }, signal)),
  );
  return over.length > 0;
}

/** Kept, and in the log once. */
function decide({ log, onDecision }: EvictorDeps, decision: EvictionDecision): void {
  onDecision(decision);
  log.info('Eviction manager: decision', { decision });
}

interface Shortage {
  readonly threshold: Threshold;
  readonly readings: SignalReadings;
}

/** Frees what no pod needs, and where that is not enough, evicts one pod. Whether it did. */
export async function relieve(
  deps: EvictorDeps,
  config: EvictorConfig,
  shortage: Shortage,
  signal: AbortSignal,
): Promise<boolean> {
  const { log, clock } = deps;
  const { signal: name } = shortage.threshold;
  const resourceName = resourceOf(name);
  log.info('Eviction manager: attempting to reclaim', { resourceName, signal: name });
  const attempt = `Attempting to reclaim ${resourceName}`;
  deps.record({ node: true, type: 'Warning', reason: 'EvictionThresholdMet', message: attempt });
  const { isEnough, reclaimed } = await reclaim(deps, config, shortage, signal);
  if (!isEnough) {
    log.info('Eviction manager: must evict pod(s) to reclaim', { resourceName });
    return await evictFirst(deps, config, { ...shortage, reclaimed }, signal);
  }
  const message = 'Eviction manager: able to reduce resource pressure without evicting pods.';
  log.info(message, { resourceName });
  const given = { at: clock.now(), ...shortage, reclaimed, ranked: [], evicted: undefined };
  decide(deps, describeDecision({ ...given, message: 'able to reduce resource pressure without evicting pods' }));
  return false;
}

/** One step after the other, until no threshold is met. */
async function reclaim(
  deps: EvictorDeps,
  { thresholds }: EvictorConfig,
  { threshold, readings }: Shortage,
  signal: AbortSignal,
): Promise<{ readonly isEnough: boolean; readonly reclaimed: readonly ReclaimedStep[] }> {
  const { usage, log } = deps;
  const reclaimed: ReclaimedStep[] = [];
  let latest = readings;
  for (const step of reclaimSteps(threshold.signal, usage.imageDisk())) {
    try {
      await carryOut(deps, step, bytesToFree(threshold, latest), signal);
    } catch (err) {
      if (signal.aborted) throw err;
      log.info('Eviction manager: unexpected error when attempting to reduce resource pressure', { err, step });
    }
    latest = await usage.signals(signal);
    reclaimed.push({ step, readings: latest });
    if (metThresholds(thresholds, latest, true).length === 0) return { isEnough: true, reclaimed };
  }
  return { isEnough: false, reclaimed };
}

async function carryOut(
  { reclaim: port }: EvictorDeps,
  step: ReclaimStep,
  bytes: number,
  signal: AbortSignal,
): Promise<void> {
  switch (step) {
    case 'large logs':
      return await port.shrinkLargeLogs(signal);
    case 'dead containers':
      return await port.removeDeadContainers(signal);
    case 'unused images':
      return await port.removeUnusedImages(bytes, signal);
  }
}

async function evictFirst(
  deps: EvictorDeps,
  { podLevel, maxGraceSeconds }: EvictorConfig,
  { threshold, readings, reclaimed }: Shortage & { readonly reclaimed: readonly ReclaimedStep[] },
  signal: AbortSignal,
): Promise<boolean> {
  const { usage, log, clock } = deps;
  // Sizes that were measured a minute ago may blame another pod than the one that has just filled the disk.
  const usages = await usage.pods(signal, { measure: pressureOf(threshold.signal) === 'disk' });
  const pods = deps.pods.active();
  const ranked = rankPods({ signal: threshold.signal, pods, usages, imageDisk: usage.imageDisk(), podLevel });
  const first = ranked.find(({ pod }) => !isCriticalPod(pod))?.pod;
  const given = { at: clock.now(), threshold, readings, reclaimed, ranked };
  if (first === undefined) {
    const message = 'unable to evict any pods from the node';
    decide(deps, describeDecision({ ...given, evicted: undefined, message }));
    return false;
  }
  log.info('Eviction manager: pods ranked for eviction', { pods: ranked.map(({ pod }) => podTitle(pod)) });
  const text = evictionText(first, { threshold, readings, usage: usages.get(podUid(first.metadata.uid)), podLevel });
  decide(deps, describeDecision({ ...given, evicted: first, message: text.message }));
  const own = first.spec.terminationGracePeriodSeconds ?? maxGraceSeconds;
  const graceSeconds = threshold.graceMs === 0 ? HARD_GRACE_SECONDS : Math.min(maxGraceSeconds, own);
  await evict(deps, first, graceSeconds, { ...text, signal: threshold.signal, isDisruption: true }, signal);
  await settled(deps, threshold, signal);
  return true;
}

/** What a pod used is free some time after its end: volumes are unmounted and cgroups removed. No other pod is evicted before that. */
async function settled({ clock, usage }: EvictorDeps, threshold: Threshold, signal: AbortSignal): Promise<void> {
  const until = clock.mono() + SETTLES_WITHIN_MS;
  while (clock.mono() < until) {
    if (metThresholds([threshold], await usage.signals(signal), true).length === 0) return;
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}
