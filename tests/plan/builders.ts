/** Short ways to write pods and snapshots in tests of the decisions. */
import type { Container } from '../../src/api/container.ts';
import { containerId, podUid, sandboxId } from '../../src/api/ids.ts';
import type { Pod, PodSpec } from '../../src/api/pod.ts';
import type { Observation, ObservedContainer, ObservedSandbox } from '../../src/model/observation.ts';
import type { ProbeVerdict } from '../../src/model/probe-results.ts';
import type { BackOffSettings, Snapshot } from '../../src/plan/snapshot.ts';

export const BACK_OFF: BackOffSettings = { initialMs: 10_000, maxMs: 300_000, resetAfterMs: 600_000 };
export const NOW = 1_000_000_000;

export function makePod(spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    metadata: { name: 'x', namespace: 'ns', uid: 'uid-1', ...metadata },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      ...spec,
    },
  };
}

export const sidecar = (name: string, more: Partial<Container> = {}): Container => ({
  name,
  image: 'i',
  restartPolicy: 'Always',
  ...more,
});

export function makeSandbox(more: Partial<ObservedSandbox> = {}): ObservedSandbox {
  return {
    id: sandboxId('s0'),
    attempt: 0,
    ready: true,
    createdAt: NOW - 60_000,
    hostNetwork: false,
    ips: ['10.0.0.5'],
    runtimeHandler: '',
    ...more,
  };
}

export function makeContainer(name: string, more: Partial<ObservedContainer> = {}): ObservedContainer {
  const exited = more.state === 'exited';
  return {
    id: containerId(`${name}-id`),
    sandboxId: sandboxId('s0'),
    name,
    state: 'running',
    createdAt: NOW - 30_000,
    startedAt: NOW - 30_000,
    finishedAt: exited ? NOW - 20_000 : 0,
    exitCode: 0,
    reason: exited ? 'Completed' : '',
    message: '',
    image: 'docker.io/library/i:1',
    imageId: 'sha256:1',
    imageRef: 'sha256:1',
    hash: 'h1',
    restartCount: 0,
    annotations: {},
    logPath: '',
    user: undefined,
    stopSignal: '',
    ...more,
  };
}

export const exited = (name: string, exitCode: number, more: Partial<ObservedContainer> = {}): ObservedContainer =>
  makeContainer(name, { state: 'exited', exitCode, ...more });

export function observe(
  containers: readonly ObservedContainer[],
  sandboxes: readonly ObservedSandbox[] = [makeSandbox()],
): Observation {
  return { uid: podUid('uid-1'), name: 'x', namespace: 'ns', takenAt: 1, sandboxes, containers };
}

export interface SnapshotParts extends Partial<Omit<Snapshot, 'pod' | 'observation' | 'probes'>> {
  readonly liveness?: Readonly<Record<string, ProbeVerdict>>;
  readonly startup?: Readonly<Record<string, ProbeVerdict>>;
}

export function makeSnapshot(pod: Pod, observation: Observation, parts: SnapshotParts = {}): Snapshot {
  const { liveness = {}, startup = {}, ...rest } = parts;
  const byId = (verdicts: Readonly<Record<string, ProbeVerdict>>) =>
    new Map(Object.entries(verdicts).map(([id, verdict]) => [containerId(id), verdict]));
  return {
    pod,
    observation,
    probes: { startup: byId(startup), liveness: byId(liveness), readiness: new Map() },
    memory: new Map(),
    hashes: new Map(),
    backOff: BACK_OFF,
    crashes: new Map(),
    now: NOW,
    ...rest,
  };
}
