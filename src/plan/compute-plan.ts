/**
 * What to do next for a pod that should run: the sandbox first, then init containers one after the other, then the
 * regular ones; sidecars run beside them.
 */
import type { Container } from '../api/container.ts';
import {
  newestContainer,
  type ObservedContainer,
  type ObservedSandbox,
  presentContainer,
} from '../model/observation.ts';
import type { Plan } from '../model/plan.ts';
import { activeDeadline, DEADLINE_EXCEEDED } from './deadline.ts';
import { Draft } from './draft.ts';
import { holdForInit, planInit } from './init-containers.ts';
import { planRegular } from './regular-containers.ts';
import { findSources, planRestartAll } from './restart-all.ts';
import { restartsAfterExit, restartsAfterFailure } from './restart-policy.ts';
import { judgeSandbox, type SandboxVerdict } from './sandbox.ts';
import type { Snapshot } from './snapshot.ts';
import { mayRun, orderStops } from './stop-order.ts';

export function computePlan(snapshot: Snapshot): Plan {
  const draft = new Draft(snapshot);
  const deadline = activeDeadline(snapshot.pod, snapshot.startedAt);
  if (deadline !== undefined) {
    if (snapshot.now >= deadline) return { ...draft.finish(false), end: DEADLINE_EXCEEDED };
    draft.lookAgainAt(deadline);
  }
  const verdict = judgeSandbox(snapshot.pod, snapshot.observation);
  if (verdict.kind === 'new') return planNewSandbox(draft, verdict);
  const sources = findSources(snapshot, verdict.sandbox);
  return sources.length > 0 ? planRestartAll(draft, sources) : planInSandbox(draft, verdict.sandbox);
}

function planInSandbox(draft: Draft, sandbox: ObservedSandbox): Plan {
  const { pod, observation } = draft.snapshot;
  stopDoubles(draft);
  for (const container of pod.spec.ephemeralContainers ?? []) {
    if (newestContainer(observation, container.name) === undefined) draft.start(container, 'it was requested');
  }
  const progress = planInit(draft, sandbox);
  if (progress === 'failed') return planEnd(draft);
  if (progress === 'busy') return draft.finish(false);
  return planRegular(draft) === 'over' ? planEnd(draft) : draft.finish(false);
}

/** Two running containers of one name can only come from an error: the newer one stays. */
function stopDoubles(draft: Draft): void {
  const seen = new Set<string>();
  for (const container of draft.snapshot.observation.containers.filter(mayRun)) {
    if (seen.has(container.name)) {
      draft.stop(container, { message: `Stopping container ${container.name}`, reason: 'Unknown' });
    }
    seen.add(container.name);
  }
}

/** No regular container will run again: what still runs beside them stops, sidecars last. */
function planEnd(draft: Draft): Plan {
  const { pod, observation } = draft.snapshot;
  const fresh = new Draft(draft.snapshot);
  for (const { container, after } of orderStops(pod, observation.containers)) {
    fresh.stop(container, { message: `Stopping container ${container.name}`, reason: 'Unknown', after });
  }
  return fresh.finish(!observation.containers.some(mayRun));
}

function planNewSandbox(draft: Draft, verdict: Extract<SandboxVerdict, { kind: 'new' }>): Plan {
  const { pod, observation } = draft.snapshot;
  const wanted = pod.spec.containers.filter((container) => isStillWanted(draft.snapshot, container));
  if (wanted.length === 0) return planEnd(draft);
  for (const { container, after } of orderStops(pod, observation.containers)) {
    draft.stop(container, { message: `Stopping container ${container.name}`, reason: 'Unknown', after });
  }
  for (const { id } of observation.sandboxes) draft.stopSandbox(id, verdict.reason);
  for (const container of initContainersSeen(draft.snapshot)) draft.remove(container, 'it runs again in a new sandbox');
  draft.createSandbox(verdict.attempt, verdict.reason);
  if (verdict.replaces) {
    draft.event({
      type: 'Normal',
      reason: 'SandboxChanged',
      message: 'Pod sandbox changed, it will be killed and re-created.',
    });
  }
  const [firstInit] = pod.spec.initContainers ?? [];
  if (firstInit !== undefined) holdForInit(draft, firstInit);
  for (const container of firstInit === undefined ? wanted : [firstInit]) draft.start(container, 'the sandbox is new');
  return draft.finish(false);
}

function initContainersSeen({ pod, observation }: Snapshot): readonly ObservedContainer[] {
  const names = new Set((pod.spec.initContainers ?? []).map(({ name }) => name));
  return observation.containers.filter(({ name }) => names.has(name));
}

/** Whether a regular container runs in a new sandbox. */
function isStillWanted({ pod, observation }: Snapshot, container: Container): boolean {
  const newest = presentContainer(observation, container.name);
  if (newest?.state === 'exited') return restartsAfterExit(pod, container, newest.exitCode);
  if (newest !== undefined && mayRun(newest)) return restartsAfterFailure(pod, container);
  // It never ran. A pod that runs only once gets no second sandbox once anything of it has run.
  return observation.containers.length === 0 || pod.spec.restartPolicy !== 'Never';
}
