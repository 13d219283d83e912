/**
 * Stops one container: its preStop hook, then the signal, then the kill, all within one grace that can be shortened at any
 * moment. A shorter grace counts at once, also while the hook runs and while the runtime already waits. A hook that takes longer than the
 * grace is not cancelled: it runs beside the signal and ends with its container.
 */
import type { Container } from '../api/container.ts';
import type { ContainerId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, describeError } from '../base/errors.ts';
import { linkSignal } from '../base/signal.ts';
import type { StepReport } from '../model/step.ts';
import { MINIMUM_GRACE_SECONDS } from '../plan/grace.ts';
import type { HooksPort, RuntimePort } from './ports.ts';

export interface ContainerStopDeps {
  readonly clock: Clock;
  readonly runtime: { readonly containers: Pick<RuntimePort['containers'], 'stop'> };
  readonly hooks: HooksPort;
  readonly report: (pod: Pod, report: StepReport) => void;
}

export interface ContainerStop {
  readonly pod: Pod;
  /** Undefined for one that is not in the pod's spec: it has no hook. */
  readonly container: Container | undefined;
  readonly id: ContainerId;
  readonly name: string;
  readonly message: string;
  readonly graceSeconds: number;
  readonly podIps: readonly string[];
  /** The signal waits for these, as long as there is grace. */
  readonly after: readonly Promise<void>[];
}

export interface StopUnderWay {
  /** Resolves when the container has stopped. */
  readonly done: Promise<void>;
  /** A grace that is longer than what is left changes nothing. */
  shorten(graceSeconds: number): void;
}

/** Another request with what is left of the same grace shortens nothing. */
const SAME_MS = 300;

export function stopContainer(deps: ContainerStopDeps, stop: ContainerStop, signal: AbortSignal): StopUnderWay {
  const { clock, runtime } = deps;
  const { pod, id, name, message } = stop;
  const subject = { kind: 'container-stop', container: name, id } as const;
  const over = linkSignal(signal);
  const ended = linkSignal(signal);
  const alarm = createAlarm(clock, () => over.abort(new CodedError('deadline', 'the grace period is over')));
  let until = clock.now() + stop.graceSeconds * 1000;
  let stopping = false;
  alarm.ringAt(until);
  const secondsLeft = () => Math.ceil(Math.max(until - clock.now(), 0) / 1000);

  const run = async (): Promise<void> => {
    deps.report(pod, { kind: 'begun', subject, message });
    if (stop.graceSeconds > 0)
      await untilSettled([runPreStop(deps, stop, { ended: ended.signal, signal })], over.signal);
    await untilSettled(stop.after, over.signal);
    signal.throwIfAborted();
    stopping = true;
    await runtime.containers.stop(id, Math.max(secondsLeft(), MINIMUM_GRACE_SECONDS), signal);
    deps.report(pod, { kind: 'done', subject });
  };
  const first = run();
  const done = Promise.withResolvers<void>();
  const onFailed = (error: unknown): void => {
    const failure = { reason: 'FailedKillPod', message: describeError(error) };
    if (!signal.aborted) deps.report(pod, { kind: 'failed', subject, failure });
    done.reject(error);
  };
  first.then(done.resolve, onFailed).finally(() => {
    alarm.clear();
    over[Symbol.dispose]();
    ended.abort(new CodedError('gone', 'the container has ended'));
    ended[Symbol.dispose]();
  });
  return {
    done: done.promise,
    shorten: (graceSeconds) => {
      const sooner = clock.now() + graceSeconds * 1000;
      if (sooner > until - SAME_MS) return;
      until = sooner;
      alarm.ringAt(until);
      // The process has had its signal: the second call only brings the kill forward.
      if (stopping) runtime.containers.stop(id, secondsLeft(), signal).then(done.resolve, () => undefined);
    },
  };
}

interface HookLife {
  /** Aborts when the container has ended. */
  readonly ended: AbortSignal;
  /** Aborts when the kubelet stops: then the result of the hook is not known. */
  readonly signal: AbortSignal;
}

/** Never rejects: the container stops also when its hook fails. */
async function runPreStop(
  { hooks, report }: ContainerStopDeps,
  stop: ContainerStop,
  { ended, signal }: HookLife,
): Promise<void> {
  const handler = stop.container?.lifecycle?.preStop;
  if (stop.container === undefined || handler === undefined) return;
  const { pod, container, id, podIps } = stop;
  const subject = { kind: 'hook', hook: 'preStop', container: stop.name } as const;
  report(pod, { kind: 'begun', subject });
  const problem = await hooks.run({ kind: 'preStop', handler, pod, container, containerId: id, podIps }, ended).then(
    (answer) => answer,
    // A sleep that is longer than the container's life is no failure.
    (error: unknown) => (handler.sleep === undefined ? describeError(error) : undefined),
  );
  if (problem === undefined) report(pod, { kind: 'done', subject });
  else if (!signal.aborted) {
    report(pod, { kind: 'failed', subject, failure: { reason: 'FailedPreStopHook', message: problem } });
  }
}

/** Until all of them are over, well or not, or the signal aborts. */
function untilSettled(promises: readonly Promise<void>[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (promises.length === 0 || signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    void Promise.allSettled(promises).then(() => resolve());
  });
}
