/** Pods of a real cluster under our kubelet, with the real controllers and kubectl. One cluster serves the whole file. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import type { Pod } from '../../src/api/pod.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { writeStaticPod } from '../lab/static-pods.ts';
import { runs } from '../node/pod-support.ts';
import {
  conditionOf,
  containerIds,
  eventually,
  isReady,
  NODE,
  PLAIN,
  PODS,
  type PodCluster,
  phaseIs,
  podCluster,
  restarts,
  stays,
  template,
} from './pods-support.ts';

const APPS = '/apis/apps/v1/namespaces/default';
const JOBS = '/apis/batch/v1/namespaces/default/jobs';

test('pods of a cluster', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  const world = await podCluster(t);
  await t.test('the life of a simple pod takes no more writes than it must, and no read', () => simpleLife(world));
  await t.test('neither does a restart, nor a static pod', () => otherLives(world));
  await t.test('a pod that the node has no room for is told so', () => rejected(world));
  await t.test('a Deployment rolls to a new version', () => deployment(world));
  await t.test('Jobs complete and fail', () => jobs(world));
  await t.test('a DaemonSet runs here', () => daemonSet(world));
  await t.test('a StatefulSet comes and goes in order', () => statefulSet(world));
  await t.test('a label, an annotation and a readiness gate reach the pod without a restart', () => gates(world));
  await t.test('a deadline counts, also one that is shortened', () => deadlines(world));
  await t.test('kubectl debug adds a container', () => debug(world));
  await t.test('grace is kept, shortened and ended by force', () => graces(world));
  await t.test('a finalizer keeps the object and nothing else', () => finalizer(world));
  await t.test('preemption makes room for the more important', () => preemption(world));
  await t.test('drain and uncordon', () => drain(world));
  await t.test('mirror pods stand for static pods', () => mirrors(world));
});

async function simpleLife(world: PodCluster): Promise<void> {
  const recording = world.record();
  await world.create('simple', { terminationGracePeriodSeconds: 2 });
  await world.listens('simple');
  await world.delete('simple');
  await world.gone('simple');
  await eventually('the end is recorded', () => recording.versions.some(({ type }) => type === 'DELETED'));
  recording.stop();
  const seen = recording
    .of('simple')
    .map((pod) => [
      pod.status?.phase,
      pod.status?.observedGeneration,
      conditionOf(pod, 'Ready')?.status,
      Object.keys(pod.status?.containerStatuses?.[0]?.state ?? {})[0],
    ]);
  const steps = seen.filter((step, index) => JSON.stringify(step) !== JSON.stringify(seen[index - 1]));
  const isPassing = ([phase, generation]: (typeof steps)[number]) => phase === 'Running' && generation === 2;
  assert.deepEqual(
    // That it has seen the deletion is told on its own where there is the time for it.
    steps.filter((step) => !isPassing(step)),
    [
      ['Pending', undefined, undefined, undefined],
      ['Pending', 1, 'False', 'waiting'],
      ['Running', 1, 'True', 'running'],
      ['Succeeded', 2, 'False', 'terminated'],
    ],
  );
  const requests = await world.requestsOf('simple', 'delete');
  // Four; where the machine is slow, a state that passes by may take one of its own.
  const patches = requests.filter((request) => request === 'patch status').length;
  assert.ok(patches <= 5 && requests.length === patches + 1, requests.join());
}

/** The reference takes 7 patches, 8 gets and a delete for the first; a create, 2 patches, 2 gets and a delete for the second. */
async function otherLives(world: PodCluster): Promise<void> {
  const once = '[ -f /data/seen ] && exec sleep 1000; touch /data/seen; sleep 2; exit 1';
  await world.create('crashes-once', {
    terminationGracePeriodSeconds: 1,
    containers: [runs('main', once, { volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
    volumes: [{ name: 'data', emptyDir: {} }],
  });
  const isBack = (pod: Pod) => restarts(pod) === 1 && pod.status?.containerStatuses?.[0]?.state.running !== undefined;
  await world.become('crashes-once', 'running again', isBack);
  const spec = { terminationGracePeriodSeconds: 1, containers: [stays('main')] };
  const manifest = await writeStaticPod(world.cluster.node, { name: 'counted', spec });
  await world.ready(`counted-${NODE}`);
  await world.delete('crashes-once');
  await rm(manifest);
  for (const [name, most] of [
    ['crashes-once', 9],
    [`counted-${NODE}`, 7],
  ] as const) {
    await world.gone(name);
    const requests = await world.requestsOf(name, 'delete');
    assert.ok(requests.length <= most && !requests.includes('get'), `${name}: ${requests}`);
  }
}

async function rejected(world: PodCluster): Promise<void> {
  const greedy = stays('main', { resources: { requests: { cpu: '1000' } } });
  await world.create('greedy', { nodeName: NODE, containers: [greedy] });
  const pod = await world.become('greedy', 'rejected', phaseIs('Failed'));
  assert.equal(pod.status?.reason, 'OutOfcpu');
  assert.match(
    pod.status?.message ?? '',
    /^Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000, /,
  );
  assert.deepEqual(pod.status?.containerStatuses ?? [], []);
  assert.deepEqual(await world.requestsOf('greedy', 'patch status'), ['patch status']);
  await world.delete('greedy');
  await world.gone('greedy');
}

async function deployment({ cluster, list }: PodCluster): Promise<void> {
  const spec = (color: string) => ({
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: template('web', { containers: [stays('main', { env: [{ name: 'COLOR', value: color }] })] }),
  });
  await cluster.admin.create(`${APPS}/deployments`, { metadata: { name: 'web' }, spec: spec('red') });
  await cluster.kubectl('rollout', 'status', 'deployment/web', '--timeout=180s');
  const before = (await list('app=web')).map(({ metadata }) => metadata.uid);
  assert.equal(before.length, 3);
  await cluster.kubectl('set', 'env', 'deployment/web', 'COLOR=blue');
  await cluster.kubectl('rollout', 'status', 'deployment/web', '--timeout=180s');
  await eventually('the old ones are gone', async () => (await list('app=web')).length === 3);
  const after = await list('app=web');
  assert.ok(after.every((pod) => isReady(pod) && !before.includes(pod.metadata.uid)));
  await cluster.kubectl('delete', 'deployment/web', '--wait=true');
  await eventually('all are gone', async () => (await list('app=web')).length === 0);
}

async function jobs({ cluster, list }: PodCluster): Promise<void> {
  const job = (name: string, script: string, more: object) =>
    cluster.admin.create(JOBS, {
      metadata: { name },
      spec: { ...more, template: template(name, { restartPolicy: 'Never', containers: [runs('main', script)] }) },
    });
  await job('good', 'sleep 0.2', { completions: 3, parallelism: 2 });
  await job('bad', 'exit 3', { backoffLimit: 0 });
  await cluster.kubectl('wait', '--for=condition=Complete', 'job/good', '--timeout=180s');
  await cluster.kubectl('wait', '--for=condition=Failed', 'job/bad', '--timeout=180s');
  assert.deepEqual(
    (await list('app=good')).map(({ status }) => status?.phase),
    ['Succeeded', 'Succeeded', 'Succeeded'],
  );
  const [bad] = await list('app=bad');
  assert.equal(bad?.status?.phase, 'Failed');
  assert.equal(bad?.status?.containerStatuses?.[0]?.state.terminated?.exitCode, 3);
  await cluster.kubectl('delete', 'job/good', 'job/bad');
  await eventually('their pods are gone', async () => (await list('app in (good,bad)')).length === 0);
}

async function daemonSet({ cluster, list }: PodCluster): Promise<void> {
  const spec = { selector: { matchLabels: { app: 'agent' } }, template: template('agent') };
  await cluster.admin.create(`${APPS}/daemonsets`, { metadata: { name: 'agent' }, spec });
  await cluster.kubectl('rollout', 'status', 'daemonset/agent', '--timeout=180s');
  assert.equal((await list('app=agent')).length, 1);
  await cluster.kubectl('delete', 'daemonset/agent');
}

async function statefulSet(world: PodCluster): Promise<void> {
  const { cluster } = world;
  const recording = world.record();
  const spec = { serviceName: 'db', replicas: 3, selector: { matchLabels: { app: 'db' } }, template: template('db') };
  await cluster.admin.create(`${APPS}/statefulsets`, { metadata: { name: 'db' }, spec });
  await cluster.kubectl('rollout', 'status', 'statefulset/db', '--timeout=180s');
  const first = (name: string, is: (pod: Parameters<typeof isReady>[0]) => boolean) =>
    recording.versions.find(({ pod }) => pod.metadata.name === name && is(pod))?.at ?? Number.NaN;
  for (const [before, after] of [
    ['db-0', 'db-1'],
    ['db-1', 'db-2'],
  ] as const) {
    assert.ok(first(before, isReady) <= first(after, () => true), `${after} came before ${before} was Ready`);
  }
  const { uid } = (await world.get('db-1')).metadata;
  await world.delete('db-1');
  await world.become('db-1', 'Ready again', (pod) => isReady(pod) && pod.metadata.uid !== uid);
  await cluster.kubectl('scale', 'statefulset/db', '--replicas=0');
  await eventually('all are gone', async () => (await world.list('app=db')).length === 0);
  const lastDeleted = (name: string) =>
    recording.versions.findLast(({ type, pod }) => type === 'DELETED' && pod.metadata.name === name)?.at;
  await eventually('the last end is recorded', () => lastDeleted('db-0') !== undefined);
  recording.stop();
  const gone = ['db-0', 'db-1', 'db-2'].map((name) => lastDeleted(name) ?? 0);
  assert.deepEqual(
    gone,
    gone.toSorted((a, b) => b - a),
    'they go in the reverse order',
  );
  await cluster.kubectl('delete', 'statefulset/db');
}

async function gates(world: PodCluster): Promise<void> {
  const { cluster } = world;
  await world.create('gated', { readinessGates: [{ conditionType: 'example.com/fed' }] });
  const before = await world.become('gated', 'up', (pod) => conditionOf(pod, 'ContainersReady')?.status === 'True');
  assert.equal(conditionOf(before, 'Ready')?.reason, 'ReadinessGatesNotReady');
  const patch = { method: 'PATCH', contentType: 'application/strategic-merge-patch+json' } as const;
  const body = { status: { conditions: [{ type: 'example.com/fed', status: 'True', message: 'by hand' }] } };
  assert.equal((await cluster.admin.request(`${PODS}/gated/status`, { ...patch, body })).status, 200);
  await world.ready('gated');
  await cluster.kubectl('label', 'pod/gated', 'color=blue');
  await cluster.kubectl('annotate', 'pod/gated', 'note=x');
  const after = await world.get('gated');
  assert.equal(conditionOf(after, 'example.com/fed')?.message, 'by hand', 'what others say survives our writes');
  assert.deepEqual(containerIds(after), containerIds(before));
  await world.delete('gated');
  await world.gone('gated');
}

async function deadlines(world: PodCluster): Promise<void> {
  await world.create('short', { activeDeadlineSeconds: 2, terminationGracePeriodSeconds: 1 });
  await world.create('shortened', { activeDeadlineSeconds: 600, terminationGracePeriodSeconds: 1 });
  await world.ready('shortened');
  const patch = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const;
  const body = { spec: { activeDeadlineSeconds: 1 } };
  assert.equal((await world.cluster.admin.request(`${PODS}/shortened`, { ...patch, body })).status, 200);
  for (const name of ['short', 'shortened']) {
    const pod = await world.become(name, 'past its deadline', phaseIs('Failed'));
    assert.equal(pod.status?.reason, 'DeadlineExceeded');
    assert.match(pod.status?.message ?? '', /^Pod was active on the node longer than the specified deadline/);
    await world.delete(name);
  }
}

async function debug(world: PodCluster): Promise<void> {
  await world.create('patient', { terminationGracePeriodSeconds: 1 });
  const before = await world.ready('patient');
  const image = '--image=lab.local/busybox:1';
  await world.cluster.kubectl('debug', 'patient', image, '-c', 'doctor', '--', 'sleep', '3600');
  const after = await world.become('patient', 'with a debug container', (pod) =>
    (pod.status?.ephemeralContainerStatuses ?? []).some(({ name, state }) => name === 'doctor' && state.running),
  );
  assert.deepEqual(containerIds(after), containerIds(before));
  await world.delete('patient');
  await world.gone('patient');
}

async function graces(world: PodCluster): Promise<void> {
  const deaf = runs('main', "trap '' TERM; while true; do sleep 0.1; done");
  for (const name of ['patient-one', 'hurried', 'forced']) {
    const seconds = name === 'patient-one' ? 3 : 600;
    await world.create(name, { terminationGracePeriodSeconds: seconds, containers: [deaf] });
  }
  for (const name of ['patient-one', 'hurried', 'forced']) await world.ready(name);
  const begun = performance.now();
  await world.delete('patient-one');
  await world.delete('hurried');
  await world.become('hurried', 'being deleted', ({ metadata }) => metadata.deletionTimestamp !== undefined);
  await world.delete('hurried', { gracePeriodSeconds: 1 });
  await world.gone('hurried');
  await world.gone('patient-one');
  const took = performance.now() - begun;
  assert.ok(took > 2900, `the grace of 3 s was ended after ${took} ms`);
  await world.cluster.kubectl('delete', 'pod/forced', '--force', '--grace-period=0', '--wait=false');
  await world.gone('forced');
  // Its name is free at the API server; here the new one waits until the old one is gone, which has 600 s.
  await world.create('forced', { containers: [stays('main')] });
  const pod = await world.become('forced', 'seen', (one) => one.metadata.uid !== '');
  assert.notEqual(pod.status?.phase, 'Running');
  await world.delete('forced', { gracePeriodSeconds: 0 });
}

async function finalizer(world: PodCluster): Promise<void> {
  await world.create('kept', { terminationGracePeriodSeconds: 1 }, { finalizers: ['example.com/wait'] });
  await world.listens('kept');
  await world.delete('kept');
  const pod = await world.become('kept', 'ended', (one) => one.metadata.deletionGracePeriodSeconds === 0);
  assert.equal(pod.status?.phase, 'Succeeded');
  const requests = await world.requestsOf('kept', 'delete');
  assert.equal(requests.filter((request) => request === 'delete').length, 1);
  const patch = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const;
  await world.cluster.admin.request(`${PODS}/kept`, { ...patch, body: { metadata: { finalizers: null } } });
  await world.gone('kept');
}

async function preemption(world: PodCluster): Promise<void> {
  const { cluster } = world;
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  await cluster.admin.create(classes, { metadata: { name: 'high' }, value: 1000 });
  const node = (await cluster.admin.get(`/api/v1/nodes/${NODE}`)) as { status?: { allocatable?: { cpu?: string } } };
  const cpu = node.status?.allocatable?.cpu ?? '';
  const big = stays('main', { resources: { requests: { cpu } } });
  await world.create('low', { containers: [big], terminationGracePeriodSeconds: 1 });
  await world.ready('low');
  await world.create('high', { containers: [big], priorityClassName: 'high', terminationGracePeriodSeconds: 1 });
  await world.ready('high');
  await assert.rejects(world.get('low'), /not found/);
  await world.delete('high');
  await world.gone('high');
}

async function drain({ cluster, list }: PodCluster): Promise<void> {
  const spec = { replicas: 3, selector: { matchLabels: { app: 'moved' } }, template: template('moved') };
  await cluster.admin.create(`${APPS}/deployments`, { metadata: { name: 'moved' }, spec });
  await cluster.kubectl('rollout', 'status', 'deployment/moved', '--timeout=180s');
  const before = (await list('app=moved')).map(({ metadata }) => metadata.uid);
  await cluster.kubectl('drain', NODE, '--ignore-daemonsets', '--force', '--timeout=180s');
  await eventually('the old ones are gone', async () =>
    (await list('app=moved')).every(({ metadata, spec: { nodeName } }) => !before.includes(metadata.uid) && !nodeName),
  );
  await cluster.kubectl('uncordon', NODE);
  await cluster.kubectl('rollout', 'status', 'deployment/moved', '--timeout=180s');
  await cluster.kubectl('delete', 'deployment/moved');
}

async function mirrors(world: PodCluster): Promise<void> {
  const { cluster } = world;
  const name = `static-${NODE}`;
  const spec = { ...PLAIN, containers: [stays('main')] };
  const { automountServiceAccountToken: _, ...plain } = spec;
  const file = await writeStaticPod(cluster.node, { name: 'static', spec: plain });
  const first = await world.ready(name);
  const { annotations = {}, ownerReferences = [] } = first.metadata;
  const hash = annotations['kubernetes.io/config.hash'];
  assert.match(hash ?? '', /^[0-9a-f]{32}$/);
  assert.equal(annotations['kubernetes.io/config.mirror'], hash);
  assert.equal(annotations['kubernetes.io/config.source'], 'file');
  const node = await cluster.admin.get(`/api/v1/nodes/${NODE}`);
  const owner = { apiVersion: 'v1', kind: 'Node', name: NODE, uid: node.metadata?.['uid'], controller: true };
  assert.deepEqual(ownerReferences, [owner]);

  await cluster.kubectl('delete', `pod/${name}`, '--wait=false');
  const second = await world.become(name, 'back', (pod) => pod.metadata.uid !== first.metadata.uid && isReady(pod));
  assert.deepEqual(containerIds(second), containerIds(first), 'its pod ran on');
  assert.equal(restarts(second), 0);

  await writeStaticPod(cluster.node, { name: 'static', spec: { ...plain, containers: [stays('other')] } });
  const third = await world.become(
    name,
    'the new one',
    (pod) => pod.spec.containers[0]?.name === 'other' && isReady(pod),
  );
  assert.notEqual(third.metadata.annotations?.['kubernetes.io/config.hash'], hash);

  await rm(file);
  await world.gone(name);
}
