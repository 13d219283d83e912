/**
 * Initialization: init containers run one after the other, each to its success; a sidecar among them only has to have
 * started, and runs from then on.
 *
 * Earlier init containers may have been removed from the runtime, so the last one that the runtime has counts. Only
 * containers of the present sandbox count: a new sandbox means a new initialization.
 */
import type { Container } from '../api/container.ts';
import { type ObservedContainer, type ObservedSandbox, presentContainer } from '../model/observation.ts';
import type { Draft, StopRequest } from './draft.ts';
import { hasChanged, hasFailedHook, stopAndStart } from './health.ts';
import { planContainerResize } from './resize.ts';
import { restartsAfterExit, restartsAfterFailure } from './restart-policy.ts';
import { roleOf } from './roles.ts';

/** `busy`: the regular containers have to wait. `failed`: they never run. */
export type InitProgress = 'done' | 'busy' | 'failed';

const UNKNOWN_STATE = 'Init container is in "unknown" state, try killing it before restart';

export function planInit(draft: Draft, sandbox: ObservedSandbox): InitProgress {
  const { pod, observation } = draft.snapshot;
  const containers = pod.spec.initContainers ?? [];
  const here = observation.containers.filter(({ sandboxId }) => sandboxId === sandbox.id);
  const find = (name: string): ObservedContainer | undefined => presentContainer({ containers: here }, name);
  if (pod.spec.containers.some(({ name }) => isProof(find(name)))) {
    for (const container of containers) keepSidecar(draft, container, find(container.name));
    return 'done';
  }
  const furthest = containers.findLastIndex(({ name }) => find(name) !== undefined);
  for (const container of containers.slice(0, Math.max(0, furthest))) {
    keepSidecar(draft, container, find(container.name));
  }
  const current = containers[furthest];
  const seen = current === undefined ? undefined : find(current.name);
  const progress = current === undefined || seen === undefined ? 'done' : planCurrent(draft, current, seen);
  if (progress === 'busy' && current !== undefined) holdForInit(draft, current);
  if (progress !== 'done') return progress;
  const next = containers[furthest + 1];
  if (next === undefined) return 'done';
  holdForInit(draft, next);
  draft.start(next, furthest < 0 ? 'it is the first init container' : 'the init container before it is done');
  return 'busy';
}

/** All that comes after this init container waits for it. */
export function holdForInit(draft: Draft, { name }: Container): void {
  const { initContainers = [], containers } = draft.snapshot.pod.spec;
  const until = roleOf(draft.snapshot.pod, name).role === 'sidecar' ? 'started' : 'succeeded';
  const later = initContainers.slice(initContainers.findIndex((one) => one.name === name) + 1);
  for (const container of [...later, ...containers]) {
    draft.hold(container.name, { kind: 'init', container: name, until });
  }
}

/** A regular container of this sandbox can only be there because initialization was over. */
function isProof(container: ObservedContainer | undefined): boolean {
  return container !== undefined && container.state !== 'unknown';
}

function planCurrent(draft: Draft, container: Container, seen: ObservedContainer): InitProgress {
  if (roleOf(draft.snapshot.pod, container.name).role === 'sidecar') {
    const up = seen.state === 'running' && hasStartedUp(draft, container, seen);
    keepSidecar(draft, container, seen);
    return up ? 'done' : 'busy';
  }
  return planPlain(draft, container, seen);
}

function planPlain(draft: Draft, container: Container, seen: ObservedContainer): InitProgress {
  const { pod } = draft.snapshot;
  switch (seen.state) {
    case 'running':
      planContainerResize(draft, container, seen);
      return 'busy';
    case 'created':
      draft.startAgain(container, seen);
      return 'busy';
    case 'exited':
      if (seen.exitCode === 0) return 'done';
      if (!restartsAfterExit(pod, container, seen.exitCode)) return 'failed';
      draft.start(container, `it failed with exit code ${seen.exitCode}`);
      return 'busy';
    case 'unknown':
      if (!restartsAfterFailure(pod, container)) return 'failed';
      stopAndStart(draft, container, seen, { message: UNKNOWN_STATE, reason: 'Unknown' });
      return 'busy';
  }
}

/** Starts a sidecar whose turn has come, and restarts it when it fails. Other init containers have ended. */
function keepSidecar(draft: Draft, container: Container, seen: ObservedContainer | undefined): void {
  if (roleOf(draft.snapshot.pod, container.name).role !== 'sidecar') return;
  if (seen === undefined || seen.state === 'exited') draft.start(container, 'a sidecar runs as long as its pod');
  else if (seen.state === 'created') draft.startAgain(container, seen);
  else {
    const ailment = ailmentOf(draft, container, seen);
    if (ailment !== undefined) stopAndStart(draft, container, seen, ailment);
    else if (hasStartedUp(draft, container, seen)) planContainerResize(draft, container, seen);
  }
}

function ailmentOf(draft: Draft, container: Container, seen: ObservedContainer): StopRequest | undefined {
  const { name } = container;
  const { probes } = draft.snapshot;
  if (seen.state === 'unknown') return { message: UNKNOWN_STATE, reason: 'Unknown' };
  if (hasFailedHook(draft.snapshot, seen)) return { message: 'FailedPostStartHook', reason: 'FailedPostStartHook' };
  if (probes.startup.get(seen.id) === 'failure') {
    return { message: `Init container ${name} failed startup probe`, reason: 'StartupProbe' };
  }
  if (!hasStartedUp(draft, container, seen)) return undefined;
  if (hasChanged(draft.snapshot, seen)) return { message: `Init container ${name} definition changed`, reason: '' };
  if (probes.liveness.get(seen.id) === 'failure') {
    return { message: `Init container ${name} failed liveness probe`, reason: 'LivenessProbe' };
  }
  return undefined;
}

function hasStartedUp({ snapshot }: Draft, container: Container, { id }: ObservedContainer): boolean {
  return container.startupProbe === undefined || snapshot.probes.startup.get(id) === 'success';
}
