/** Actions over ports that write down each call, with a clock that stands still: for the tests beside the actions. */
import { containerId, podUid, sandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { createManualClock, type ManualClock } from '../base/manual-clock.ts';
import { linkSignal } from '../base/signal.ts';
import type { PodEvent } from '../model/event.ts';
import type { Observation, ObservedContainer } from '../model/observation.ts';
import { type StepReport, stepKey } from '../model/step.ts';
import { type ActContext, type ActDeps, createAct } from './act.ts';
import type { Stops } from './stops.ts';

type Answers = Readonly<Record<string, () => Promise<unknown>>>;

export interface ActScene {
  readonly clock: ManualClock;
  readonly deps: ActDeps;
  readonly context: ActContext;
  readonly stops: Stops;
  readonly act: ReturnType<typeof createAct>;
  /** In the order in which they were made: `create c`, `stop id 30`, `hold`… */
  readonly calls: string[];
  /** `begun image/c`, `failed volumes: FailedMount`… */
  readonly reports: string[];
  readonly events: PodEvent[];
  /** Aborts when the pod must end. */
  readonly ending: AbortController;
  /** Aborts when the kubelet stops. */
  readonly kubelet: AbortController;
}

export const settle = () => new Promise((resolve) => setImmediate(resolve));

export function observed(containers: readonly Partial<ObservedContainer>[] = []): Observation {
  const sandbox = { attempt: 0, ready: true, createdAt: 1, hostNetwork: false, ips: ['10.0.0.1'], runtimeHandler: '' };
  return {
    uid: podUid('u'),
    name: 'p',
    namespace: 'n',
    takenAt: 0,
    sandboxes: [{ id: sandboxId('s0'), ...sandbox }],
    containers: containers as readonly ObservedContainer[],
  };
}

export function makePod(container: object = {}, spec: object = {}): Pod {
  return {
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i', ...container }], ...spec },
  };
}

/** `answers`: by the first word of the call, what it answers instead of success. */
export function actScene(pod: Pod, answers: Answers = {}, observation: Observation = observed()): ActScene {
  const clock = createManualClock();
  const ending = new AbortController();
  const kubelet = new AbortController();
  const calls: string[] = [];
  const reports: string[] = [];
  const events: PodEvent[] = [];
  const call = async <T>(name: string, about: unknown, value: T): Promise<T> => {
    calls.push(about === '' ? name : `${name} ${String(about)}`);
    return ((await answers[name]?.()) as T | undefined) ?? value;
  };
  const deps = fakeDeps(clock, call, events);
  const act = createAct(deps);
  const onStep = (report: StepReport) => reports.push(reportLine(report));
  const stops = act.createStops(onStep);
  const context: ActContext = {
    pod,
    observation,
    stops,
    turn: {
      hold: () => call('hold', '', undefined),
      release: () => void calls.push('release'),
      pause: () => void calls.push('pause'),
    },
    onStep,
    isHeldBack: () => false,
    wanted: linkSignal(ending.signal, kubelet.signal).signal,
    signal: kubelet.signal,
  };
  return { clock, deps, context, stops, act, calls, reports, events, ending, kubelet };
}

function reportLine(report: StepReport): string {
  const key = stepKey(report.subject);
  return 'failure' in report ? `${report.kind} ${key}: ${report.failure.reason}` : `${report.kind} ${key}`;
}

function fakeDeps(
  clock: ManualClock,
  call: <T>(name: string, about: unknown, value: T) => Promise<T>,
  events: PodEvent[],
): ActDeps {
  const image = { kind: 'ready', imageRef: 'ref', user: { uid: 0, username: '' } } as const;
  return {
    clock,
    runtime: {
      sandboxes: {
        run: ({ config }) => call('run', config.metadata?.attempt, 's1'),
        stop: (id) => call('stop-sandbox', id, undefined),
        remove: (id) => call('remove-sandbox', id, undefined),
        updateResources: ({ podSandboxId }) => call('update-sandbox', podSandboxId, undefined),
      },
      containers: {
        create: ({ config, podSandboxId }) => call('create', `${config.metadata?.name} in ${podSandboxId}`, 'c1'),
        start: (id) => call('start', id, undefined),
        stop: (id, seconds) => call('stop', `${id} ${seconds}`, undefined),
        remove: (id) => call('remove', id, undefined),
        updateResources: (id, { cpuShares }) => call('update', `${id} ${cpuShares}`, undefined),
      },
    },
    requests: {
      sandbox: (_, attempt) =>
        call('sandbox-request', '', {
          kind: 'ready',
          config: { metadata: { name: 'p', namespace: 'n', uid: 'u', attempt } },
          runtimeHandler: '',
          warnings: [],
        } as const),
      container: ({ container, attempt }) =>
        call('request', container.name, {
          kind: 'ready',
          config: { metadata: { name: container.name, attempt } },
        } as const),
      hostsFile: () => Promise.resolve({ ok: true, value: '' }),
      containerResources: (_, { resources }) => ({ cpuShares: Number(resources?.requests?.['cpu']) }),
      sandboxResources: () => ({}),
    },
    images: {
      ensure: ({ container }) => call('image', container.name, image),
      ensureVolume: ({ image: name }) => call('image-volume', name, image),
    },
    hooks: { run: ({ kind }) => call('hook', kind, undefined) },
    directories: {
      of: () => '/pod',
      ensure: () => call('directories', '', undefined),
      list: () => Promise.resolve([]),
      planTerminationLog: () => Promise.resolve('/log'),
      createTerminationLog: () => Promise.resolve(),
      writeHosts: () => Promise.resolve(),
      remove: () => call('remove-directories', '', undefined),
    },
    logs: {
      ensurePod: () => call('pod-logs', '', undefined),
      ensureContainer: () => Promise.resolve(),
      link: (_, name, id, attempt) => call('link', `${name} ${id} ${attempt}`, undefined),
      removeContainer: (_, { id }) => call('remove-log', id, undefined),
      removePod: () => call('remove-logs', '', undefined),
    },
    limits: {
      planPodResize: () => ({
        grow: () => call('grow', '', undefined),
        shrink: () => call('shrink', '', undefined),
        shrinksTo: undefined,
      }),
      memoryUsage: (_, id = 'pod') => call('usage', id, 100n),
    },
    inForce: {
      begin: (_, names) => call('begin', names.join(' '), undefined),
      done: (_, names) => call('done', names.join(' '), undefined),
      starting: () => Promise.resolve(),
    },
    cgroups: { ensure: () => call('cgroup', '', undefined), remove: () => call('remove-cgroup', '', undefined) },
    volumes: {
      prefetch: () => void call('prefetch', '', undefined),
      ensure: () => call('volumes', '', { kind: 'ready', mounts: new Map() } as const),
      cleanUp: () => call('remove-volumes', '', undefined),
    },
    sandboxIps: () => Promise.resolve(['10.0.0.2']),
    record: (event) => events.push(event),
  };
}

export const id = containerId;
