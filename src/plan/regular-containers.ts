/** The regular containers of a pod: each is started, left running, restarted or not, by its own state. */
import type { Container } from '../api/container.ts';
import { type ObservedContainer, presentContainer } from '../model/observation.ts';
import type { Draft, StopRequest } from './draft.ts';
import { hasChanged, hasFailedHook, stopAndStart } from './health.ts';
import { planContainerResize } from './resize.ts';
import { restartsAfterExit, restartsAfterFailure } from './restart-policy.ts';
import type { Snapshot } from './snapshot.ts';

/** `over`: none of them runs, and none will run again. */
export function planRegular(draft: Draft): 'alive' | 'over' {
  const alive = draft.snapshot.pod.spec.containers.map((container) => planOne(draft, container));
  return alive.includes(true) ? 'alive' : 'over';
}

/** Whether the container runs, or will. */
function planOne(draft: Draft, container: Container): boolean {
  const { pod, observation } = draft.snapshot;
  const seen = presentContainer(observation, container.name);
  switch (seen?.state) {
    case undefined:
      draft.start(container, 'it does not exist yet');
      return true;
    case 'created':
      draft.startAgain(container, seen);
      return true;
    case 'unknown':
      // It may still run: kill it first, so that there are never two.
      stopAndStart(draft, container, seen, {
        message: 'Container is in "unknown" state, try killing it before restart',
        reason: 'Unknown',
      });
      return true;
    case 'exited':
      if (!restartsAfterExit(pod, container, seen.exitCode)) return false;
      draft.start(container, `it ended with exit code ${seen.exitCode}`);
      return true;
    case 'running':
      planRunning(draft, container, seen);
      return true;
  }
}

function planRunning(draft: Draft, container: Container, seen: ObservedContainer): void {
  const ailment = ailmentOf(draft.snapshot, container, seen);
  if (ailment === undefined) {
    planContainerResize(draft, container, seen);
    return;
  }
  const { restarts, message, reason } = ailment;
  if (restarts) stopAndStart(draft, container, seen, { message: `${message}, will be restarted`, reason });
  else draft.stop(seen, { message, reason });
}

interface Ailment extends StopRequest {
  readonly restarts: boolean;
}

function ailmentOf(snapshot: Snapshot, container: Container, seen: ObservedContainer): Ailment | undefined {
  const { name } = container;
  const restarts = restartsAfterFailure(snapshot.pod, container);
  // The exit code of a container whose hook failed decides whether it runs again.
  if (hasFailedHook(snapshot, seen)) {
    return { restarts: false, message: 'FailedPostStartHook', reason: 'FailedPostStartHook' };
  }
  // A changed spec counts with every restart policy.
  if (hasChanged(snapshot, seen)) {
    return { restarts: true, message: `Container ${name} definition changed`, reason: '' };
  }
  if (snapshot.probes.liveness.get(seen.id) === 'failure') {
    return { restarts, message: `Container ${name} failed liveness probe`, reason: 'LivenessProbe' };
  }
  if (snapshot.probes.startup.get(seen.id) === 'failure') {
    return { restarts, message: `Container ${name} failed startup probe`, reason: 'StartupProbe' };
  }
  return undefined;
}
