/**
 * The whole control plane goes away while pods end, crash, wake and fall asleep, and comes back: every status must then be right soon, in
 * order, and none may be lost.
 */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pod } from '../../src/api/pod.ts';
import {
  containerIds,
  eventually,
  isReady,
  NODE,
  type PodCluster,
  phaseIs,
  restarts,
  stays,
} from '../cluster/pods-support.ts';
import { writeStaticPod } from '../lab/static-pods.ts';
import { runs } from '../node/pod-support.ts';

export interface PlaneAwaySettings {
  readonly seconds: number;
  /** Pods of each kind; what happens to them is spread over the time. */
  readonly each: number;
}

/** A second or two; a busy machine has far more. */
const RIGHT_WITHIN_MS = 120_000;

/** What becomes of a pod while no one can be told. */
interface Fate {
  readonly kind: string;
  readonly spec: (seconds: number) => object;
  readonly isRight: (pod: Pod) => boolean;
}

const exitCode = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state.terminated?.exitCode;
const probe = (command: string) => ({
  exec: { command: ['sh', '-c', command] },
  periodSeconds: 1,
  timeoutSeconds: 30,
  failureThreshold: 1,
});

const FATES: readonly Fate[] = [
  {
    kind: 'finishes',
    spec: (after) => ({ restartPolicy: 'Never', containers: [runs('main', `sleep ${after}; exit 0`)] }),
    isRight: (pod) => phaseIs('Succeeded')(pod) && exitCode(pod) === 0,
  },
  {
    kind: 'fails',
    spec: (after) => ({ restartPolicy: 'Never', containers: [runs('main', `sleep ${after}; exit 9`)] }),
    isRight: (pod) => phaseIs('Failed')(pod) && exitCode(pod) === 9,
  },
  {
    kind: 'crashes',
    spec: (after) => ({ containers: [runs('main', `sleep ${after}; exit 1`)] }),
    isRight: (pod) => restarts(pod) >= 1 && pod.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode === 1,
  },
  {
    kind: 'wakes',
    spec: (after) => ({
      containers: [
        runs('main', `sleep ${after}; touch /tmp/ok; sleep 36000`, { readinessProbe: probe('[ -f /tmp/ok ]') }),
      ],
    }),
    isRight: isReady,
  },
  {
    kind: 'falls-asleep',
    spec: (after) => ({
      containers: [
        runs('main', `sleep ${after}; touch /tmp/tired; sleep 36000`, { readinessProbe: probe('[ ! -f /tmp/tired ]') }),
      ],
    }),
    isRight: (pod) => !isReady(pod) && pod.status?.containerStatuses?.[0]?.ready === false,
  },
];

interface Watched {
  readonly name: string;
  readonly isRight: (pod: Pod) => boolean;
}

export async function planeAway(world: PodCluster, t: TestContext, settings: PlaneAwaySettings): Promise<void> {
  const { cluster } = world;
  const pods = await begin(world, settings);
  const leaving = await writeStaticPod(cluster.node, { name: 'leaving', spec: { containers: [stays('main')] } });
  await world.ready(`leaving-${NODE}`);
  await world.create('stays');
  const stayed = await world.ready('stays');
  await takePlaneAway(world);
  const meanwhile = await writeStaticPod(cluster.node, { name: 'meanwhile', spec: { containers: [stays('main')] } });
  await rm(leaving);
  await delay(settings.seconds * 1000);
  const back = await bringPlaneBack(world);
  const recording = world.record();
  await Promise.all([
    ...pods.map(({ name, isRight }) => world.become(name, 'told right', isRight, RIGHT_WITHIN_MS)),
    world.ready(`meanwhile-${NODE}`, RIGHT_WITHIN_MS),
    world.gone(`leaving-${NODE}`, RIGHT_WITHIN_MS),
  ]);
  t.diagnostic(
    `${pods.length + 2} pods told right ${Math.round(performance.now() - back)} ms after the API server was back`,
  );
  await theOthersStart(world);
  recording.stop();
  assert.deepEqual(containerIds(await world.get('stays')), containerIds(stayed));
  for (const { name } of pods) assertNoWayBack(recording.of(name));
  const names = [...pods.map(({ name }) => name), 'stays'];
  await rm(meanwhile);
  for (const name of names) await world.delete(name, { gracePeriodSeconds: 1 });
  for (const name of [...names, `meanwhile-${NODE}`]) await world.gone(name);
}

/** What happens happens from a third of the time on: before that, all are up and the control plane is gone. */
async function begin(world: PodCluster, { seconds, each }: PlaneAwaySettings): Promise<readonly Watched[]> {
  const pods = FATES.flatMap(({ kind, spec, isRight }) =>
    Array.from({ length: each }, (_, index) => ({
      name: `${kind}-${index}`,
      spec: spec(Math.round(seconds * (0.35 + (0.5 * index) / each))),
      isRight,
    })),
  );
  for (const { name, spec } of pods) await world.create(name, spec);
  for (const { name } of pods) await world.become(name, 'begun', (pod) => !phaseIs('Pending')(pod));
  return pods;
}

async function takePlaneAway({ cluster: { components } }: PodCluster): Promise<void> {
  await Promise.all(Object.values(components).map((component) => component.kill()));
}

/** When the API server was ready again. */
async function bringPlaneBack({ cluster: { components } }: PodCluster): Promise<number> {
  await Promise.all([components.etcd.start(), components['kube-apiserver'].start()]);
  return performance.now();
}

async function theOthersStart({ cluster: { components, admin } }: PodCluster): Promise<void> {
  await Promise.all([components['kube-controller-manager'].start(), components['kube-scheduler'].start()]);
  await eventually('the node is Ready', async () => {
    const { status } = (await admin.get(`/api/v1/nodes/${NODE}`)) as Pick<Pod, 'status'>;
    return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false;
  });
}

/** Restarts only grow, and who has ended stays so. */
function assertNoWayBack(versions: readonly Pod[]): void {
  const counts = versions.map(restarts);
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
  );
  const ended = versions.findIndex((pod) => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed');
  if (ended >= 0) assert.ok(versions.slice(ended).every((pod) => pod.status?.phase === versions[ended]?.status?.phase));
}
