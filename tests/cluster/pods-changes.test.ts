/** What becomes of pods that are changed, stopped or made to go while they run. One cluster serves the whole file. */
import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Pod } from '../../src/api/pod.ts';
import { busyboxImage } from '../../tools/machine/images.ts';
import { makeImage } from '../../tools/machine/oci/image.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { lab } from '../lab/lab.ts';
import { writeStaticPod } from '../lab/static-pods.ts';
import { runs } from '../node/pod-support.ts';
import {
  conditionOf,
  eventually,
  isReady,
  NODE,
  PODS,
  type PodCluster,
  podCluster,
  restarts,
  stays,
} from './pods-support.ts';

test('pods that change', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  const world = await podCluster(t);
  const images = await pushImages(world);
  await Promise.all([
    t.test('a new image is started, whatever the restart policy', () => newImage(world, images)),
    t.test('a new image ends the crash back-off', () => newImageAfterCrashes(world, images)),
    t.test('a preStop hook that never returns runs until its container is killed', () => endlessHook(world)),
    t.test('a static pod whose file is deleted and written again is restarted', () => rewritten(world)),
  ]);
  await t.test('who made room for a critical pod has ended as its containers did', () => victims(world));
});

interface Images {
  readonly before: string;
  readonly after: string;
}

/** The second one is slow to come, so that what the pod looks like meanwhile is reported. */
async function pushImages({ cluster }: PodCluster): Promise<Images> {
  const registry = await lab.registry(cluster.node);
  const busybox = await busyboxImage();
  const push = (tag: string) =>
    registry.push(makeImage({ ...busybox, names: [], config: { ...busybox.config, Labels: { tag } } }), `app:${tag}`);
  const images = { before: await push('before'), after: await push('after') };
  await registry.setFaults([{ match: 'manifests/after', does: { kind: 'delay', ms: 500 } }]);
  return images;
}

async function changeImage({ cluster }: PodCluster, pod: string, image: string): Promise<void> {
  const body = { spec: { containers: [{ name: 'main', image }] } };
  const contentType = 'application/strategic-merge-patch+json';
  const answer = await cluster.admin.request(`${PODS}/${pod}`, { method: 'PATCH', body, contentType });
  assert.equal(answer.status, 200, answer.text);
}

const mainOf = (pod: Pod) => pod.status?.containerStatuses?.find(({ name }) => name === 'main');

async function newImage(world: PodCluster, { before, after }: Images): Promise<void> {
  const main = { ...stays('main'), image: before, imagePullPolicy: 'Always' };
  const pods = [
    { name: 'changed-never', restartPolicy: 'Never', containers: [main] },
    { name: 'changed-on-failure', restartPolicy: 'OnFailure', containers: [main] },
    { name: 'changed-of-two', restartPolicy: 'Never', containers: [main, stays('other')] },
  ];
  await Promise.all(
    pods.map(async ({ name, ...spec }) => {
      await world.create(name, spec);
      await world.ready(name);
      await changeImage(world, name, after);
      const isNew = (pod: Pod) => isReady(pod) && mainOf(pod)?.image === after;
      const pod = await world.become(name, 'running with the new image', isNew);
      assert.deepEqual([pod.status?.phase, mainOf(pod)?.restartCount, restarts(pod)], ['Running', 1, 1], name);
      await world.delete(name);
    }),
  );
}

async function newImageAfterCrashes(world: PodCluster, { before, after }: Images): Promise<void> {
  await world.create('crashing', { containers: [{ ...runs('main', 'exit 1'), image: before }] });
  const hasCrashed = (times: number) => (pod: Pod) =>
    restarts(pod) >= times && mainOf(pod)?.state.waiting?.reason === 'CrashLoopBackOff';
  await world.become('crashing', 'waiting for its fourth start', hasCrashed(3));
  const changed = performance.now();
  await changeImage(world, 'crashing', after);
  await world.become(
    'crashing',
    'started with the new image',
    (pod) => mainOf(pod)?.image === after && restarts(pod) > 3,
  );
  const waited = performance.now() - changed;
  assert.ok(waited < 35_000, `the back-off was 40 s, and it waited ${waited} ms`);
  await world.delete('crashing');
}

async function endlessHook(world: PodCluster): Promise<void> {
  const loop = 'while true; do echo hook > /proc/1/fd/1; sleep 0.1; done';
  const lifecycle = { preStop: { exec: { command: ['sh', '-c', loop] } } };
  const deaf = runs('main', 'trap "echo signal" TERM; while true; do sleep 0.1; done', { lifecycle });
  await world.create('endless', { terminationGracePeriodSeconds: 2, containers: [deaf] });
  const { uid } = (await world.ready('endless')).metadata;
  // Read through one descriptor, because the file goes with its pod.
  const path = `/var/log/pods/default_endless_${uid}/main/0.log`;
  const follow = `exec 3< ${path}; echo following; while [ -e ${path} ]; do cat <&3; sleep 0.1; done; cat <&3`;
  const follower = await world.cluster.node.start({ name: 'follower', argv: ['sh', '-c', follow] });
  await follower.waitForLog(/^following$/, 120_000);
  await world.delete('endless');
  await world.gone('endless');
  await follower.exited;
  const lines = (await readFile(follower.logFile, 'utf8')).trim().split('\n');
  const timeOf = (line = '') => Date.parse(line.split(' ')[0] ?? '');
  const [signal, last] = ['signal', 'hook'].map((word) => timeOf(lines.findLast((line) => line.endsWith(word))));
  assert.ok((last ?? 0) - (signal ?? 0) > 1000, `the hook goes on after the signal:\n${lines.join('\n')}`);
  await untilEvent(world, 'endless', 'FailedPreStopHook');
}

async function untilEvent({ cluster }: PodCluster, pod: string, reason: string): Promise<void> {
  const selector = `involvedObject.name=${pod},reason=${reason}`;
  await eventually(`event ${reason} of ${pod}`, async () => {
    const list = await cluster.admin.get(
      `/api/v1/namespaces/default/events?fieldSelector=${encodeURIComponent(selector)}`,
    );
    return (list['items'] as readonly unknown[]).length > 0;
  });
}

async function rewritten(world: PodCluster): Promise<void> {
  const spec = { terminationGracePeriodSeconds: 2, containers: [stays('main')] };
  const path = await writeStaticPod(world.cluster.node, { name: 'rewritten', spec });
  const name = `rewritten-${NODE}`;
  const first = await world.ready(name);
  const text = await readFile(path, 'utf8');
  await rm(path);
  await writeFile(path, text);
  const second = await world.become(name, 'restarted once', (pod) => isReady(pod) && restarts(pod) === 1);
  assert.equal(second.metadata.uid, first.metadata.uid, 'the mirror stays');
  await rm(path);
  await world.gone(name);
}

/** As under the reference: a victim whose containers ended with success has succeeded, and only the condition tells why it ended. */
async function victims(world: PodCluster): Promise<void> {
  const node = (await world.cluster.admin.get(`/api/v1/nodes/${NODE}`)) as {
    status?: { allocatable?: { cpu?: string } };
  };
  const needs = (cpu = '') => ({ resources: { requests: { cpu } } });
  const fails = runs('main', 'trap "exit 3" TERM; while true; do sleep 0.1; done', needs('100m'));
  const expected = {
    'victim-succeeds': {
      spec: { containers: [stays('main', needs('100m'))] },
      end: ['Succeeded', undefined, undefined],
    },
    'victim-fails': {
      spec: { containers: [fails] },
      end: ['Failed', 'Preempting', 'Preempted in order to admit critical pod'],
    },
  };
  for (const [name, { spec }] of Object.entries(expected)) await world.create(name, { nodeName: NODE, ...spec });
  await world.listens('victim-succeeds');
  await world.ready('victim-fails');
  const critical = stays('main', needs(node.status?.allocatable?.cpu));
  await world.create('critical', { nodeName: NODE, priorityClassName: 'system-node-critical', containers: [critical] });
  await world.ready('critical');
  for (const [name, { end }] of Object.entries(expected)) {
    const pod = await world.become(name, 'ended', ({ status }) => /^(?:Succeeded|Failed)$/.test(status?.phase ?? ''));
    assert.deepEqual([pod.status?.phase, pod.status?.reason, pod.status?.message], end, name);
    assert.equal(conditionOf(pod, 'DisruptionTarget')?.reason, 'TerminationByKubelet', name);
    assert.notEqual(mainOf(pod)?.state.terminated, undefined, name);
  }
}
