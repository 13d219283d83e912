/** The passes over a pod that must end: first everything is stopped, then, once no one wants it any more, taken away. */
import type { Act } from '../act/act.ts';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { isBeingDeleted } from '../api/pod-traits.ts';
import type { Logger } from '../base/logger.ts';
import type { Observation } from '../model/observation.ts';
import type { Action } from '../model/plan.ts';
import type { PodIdentity } from '../model/pod-identity.ts';
import { computeRemoval, computeTermination } from '../plan/compute-termination.ts';
import { MINIMUM_GRACE_SECONDS } from '../plan/grace.ts';
import type { Pass } from './pass.ts';
import type { WorkerState } from './rules/worker-state.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface Termination {
  stop(pass: Pass, state: Extract<WorkerState, { step: 'terminating' }>, observation: Observation): Promise<void>;
  cleanUp(
    pass: Pass,
    state: Extract<WorkerState, { step: 'terminated' }>,
    read: () => Promise<Observation>,
  ): Promise<void>;
}

/** Nothing is started here. */
const NO_TURN = { hold: () => Promise.resolve(), release: () => undefined };
const STOP_RETRY_MS = 1000;

export interface TerminationTools {
  readonly stops: ReturnType<Act['createStops']>;
  readonly log: Logger;
  /** Nothing of the pod was on the node when its worker began. */
  readonly isNew: boolean;
}

export function createTermination(deps: WorkerDeps, { stops, log, isNew }: TerminationTools): Termination {
  const { clock } = deps;
  let recorded = false;
  let released = false;

  const carryOut = (pass: Pass, observation: Observation, actions: readonly Action[]) =>
    deps.act.carryOut(actions, {
      pod: pass.pod,
      observation,
      stops,
      turn: NO_TURN,
      isHeldBack: () => false,
      wanted: pass.signal,
      signal: pass.signal,
    });

  /** Not awaited: while containers stop, the worker stays free to hear that there is less time. */
  const askToStop = (pass: Pass, observation: Observation, actions: readonly Action[]): void => {
    carryOut(pass, observation, actions).then(pass.wake, (error) => {
      if (pass.signal.aborted) return;
      log.warn('Could not stop a container: trying again', { err: error });
      pass.lookAgainAt(clock.now() + STOP_RETRY_MS);
    });
  };

  return {
    stop: async (pass, { pod, end, since, graceSeconds, deleted }, observation) => {
      // That a pod is being deleted can be read again at the API server.
      if (!recorded && !deleted && !isBeingDeleted(pod)) {
        await deps.endings.write(identityOf(pod), end);
        recorded = true;
      }
      pass.publish(observation, undefined);
      const { actions, finished } = computeTermination({ pod, observation, now: clock.now() }, { since, graceSeconds });
      if (finished) {
        pass.send({ kind: 'stopped' });
        return;
      }
      const containers = actions.filter(({ kind }) => kind === 'container-stop');
      if (containers.length > 0) {
        askToStop(pass, observation, containers);
        return;
      }
      await carryOut(pass, observation, actions);
      pass.wake();
    },
    cleanUp: async (pass, { pod, end, deleted, again }, read) => {
      if (!recorded && !deleted && end !== undefined) await deps.endings.write(identityOf(pod), end);
      recorded = true;
      // Nothing of it was ever made; with thousands of such pods the runtime must not be asked for each.
      if (end?.rejected && isNew && !deleted) return;
      const observation = await read();
      pass.publish(observation, undefined);
      const now = clock.now();
      const late = computeTermination({ pod, observation, now }, { since: now, graceSeconds: MINIMUM_GRACE_SECONDS });
      if (!late.finished) {
        await carryOut(pass, observation, late.actions);
        pass.wake();
        return;
      }
      if (!deleted || again) {
        if (!released) await deps.act.release(identityOf(pod), pass.signal);
        released = true;
        if (again) {
          // How this life ended is nothing to the next one, which is judged by what is left of the containers.
          await deps.endings.remove(podUid(pod.metadata.uid));
          pass.send({ kind: 'cleaned' });
          return;
        }
        const garbage = deps.decisions.garbage(observation, now);
        await carryOut(pass, observation, garbage.actions);
        if (garbage.retryAt !== undefined) pass.lookAgainAt(garbage.retryAt);
        return;
      }
      const removals = computeRemoval(observation);
      if (removals.length > 0) {
        await carryOut(pass, observation, removals);
        pass.wake();
        return;
      }
      await deps.act.cleanUp(identityOf(pod), pass.signal);
      await deps.endings.remove(podUid(pod.metadata.uid));
      deps.observe.forget(podUid(pod.metadata.uid));
      pass.send({ kind: 'cleaned' });
    },
  };
}

function identityOf(pod: Pod): PodIdentity {
  const { uid, name, namespace } = pod.metadata;
  return { uid: podUid(uid), name, namespace };
}
