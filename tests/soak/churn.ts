/**
 * A node that never rests: pods come, change, crash and go at random, and so do the kubelet and the container runtime. At every
 * moment no container may be there twice; whenever it is left alone for a while, the node must have exactly what its manifests say;
 * and at the end nothing may be left. The same seed makes the same choices.
 */
import assert from 'node:assert/strict';
import { glob, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Container, ContainerState, PodSandboxState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { living, randomNumbers } from '../node/better-support.ts';
import { type PodNode, podNode, until } from '../node/pod-support.ts';
import { type ChurnPod, randomPod } from './churn-pods.ts';

export interface ChurnSettings {
  readonly seconds: number;
  /** Most pods at once. */
  readonly pods: number;
  readonly seed: number;
}

/** How often each thing is done, as parts of all steps. */
const WEIGHTS = {
  create: 30,
  edit: 12,
  remove: 20,
  crash: 15,
  wait: 15,
  killKubelet: 5,
  killRuntime: 2,
  hangRuntime: 1,
} as const;
type Step = keyof typeof WEIGHTS;

const LONGEST_PAUSE_MS = 400;
/** After so many steps the node is left alone until it is as it should be. */
const STEPS_BETWEEN_RESTS = 25;
/** Crash loops wait; a runtime that was killed comes back; the machine may be busy. */
const AT_REST_WITHIN_MS = 120_000;

interface World {
  readonly place: PodNode;
  readonly random: () => number;
  /** By pod name: what its manifest says now. */
  readonly wanted: Map<string, ChurnPod>;
  readonly counts: Map<string, number>;
  made: number;
}

export async function churn(t: TestContext, { seconds, pods, seed }: ChurnSettings): Promise<void> {
  t.diagnostic(`seed ${seed}`);
  const place = await podNode(t, { config: { crashLoopBackOff: { maxContainerRestartPeriod: '2s' } } });
  const world: World = { place, random: randomNumbers(seed), wanted: new Map(), counts: new Map(), made: 0 };
  const end = performance.now() + seconds * 1000;
  const watching = new AbortController();
  const watched = watchForDoubles(place, watching);
  try {
    for (let steps = 1; performance.now() < end; steps += 1) {
      watching.signal.throwIfAborted();
      await takeStep(world, pods);
      await delay(world.random() * LONGEST_PAUSE_MS);
      if (steps % STEPS_BETWEEN_RESTS === 0) await untilAtRest(world);
    }
    await untilAtRest(world);
    for (const name of world.wanted.keys()) await removePod(world, name);
    await untilNothingIsLeft(place);
    watching.signal.throwIfAborted();
  } finally {
    watching.abort(ENOUGH);
    await watched;
    t.diagnostic([...world.counts].map(([step, count]) => `${step} ${count}`).join(', '));
  }
}

async function takeStep(world: World, mostPods: number): Promise<void> {
  const step = chooseStep(world.random(), world.wanted.size, mostPods);
  world.counts.set(step, (world.counts.get(step) ?? 0) + 1);
  const { node } = world.place;
  switch (step) {
    case 'create':
      world.made += 1;
      return await putPod(world, `p${world.made}`);
    case 'edit':
      return await putPod(world, pick(world));
    case 'remove':
      return await removePod(world, pick(world));
    case 'crash':
      return await crashOne(world);
    case 'wait':
      return await delay(world.random() * 2000);
    case 'killKubelet':
      await node.kubelet.kill();
      await delay(world.random() * 1000);
      return await node.kubelet.start();
    case 'killRuntime':
      node.containerd.kill('SIGKILL');
      await until('the runtime is gone', () => (node.containerd.isRunning() ? undefined : true));
      await delay(world.random() * 1000);
      return await node.containerd.start();
    case 'hangRuntime':
      node.containerd.kill('SIGSTOP');
      await delay(world.random() * 3000);
      return node.containerd.kill('SIGCONT');
  }
}

function chooseStep(randomly: number, present: number, most: number): Step {
  const possible = Object.entries(WEIGHTS).filter(([step]) => {
    if (step === 'create') return present < most;
    return present > 0 || !['edit', 'remove', 'crash'].includes(step);
  });
  let left = randomly * possible.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [step, weight] of possible) {
    left -= weight;
    if (left < 0) return step as Step;
  }
  return 'wait';
}

function pick({ random, wanted }: World): string {
  const names = [...wanted.keys()];
  return names[Math.floor(random() * names.length)] ?? '';
}

async function putPod({ place, random, wanted }: World, name: string): Promise<void> {
  const pod = randomPod(random);
  wanted.set(name, pod);
  await place.write(name, pod.spec);
}

async function removePod({ place, wanted }: World, name: string): Promise<void> {
  wanted.delete(name);
  await rm(join(place.node.manifestsDirectory, `${name}.yaml`));
}

/** Kills the process of a container, as an error in it would. One that has ended by itself meanwhile is as good. */
async function crashOne({ place, random }: World): Promise<void> {
  const running = await place.cri.containers.list(
    { state: { state: ContainerState.CONTAINER_RUNNING } },
    AbortSignal.timeout(60_000),
  );
  const victim = running[Math.floor(random() * running.length)];
  if (victim === undefined) return;
  await place.node.containerd.ctr('tasks', 'kill', '--signal', 'SIGKILL', victim.id).catch((error: unknown) => {
    if (!/not found|already finished/.test(String(error))) throw error;
  });
}

const listAll = async ({ cri }: PodNode) =>
  await Promise.all([
    cri.sandboxes.list(undefined, AbortSignal.timeout(60_000)),
    cri.containers.list(undefined, AbortSignal.timeout(60_000)),
  ]);

/** A container belongs to a place in a pod: of these, one at most may run, whatever the pod's manifest said before. */
async function doubledOf({ cri }: PodNode, containers: readonly Container[]): Promise<readonly string[]> {
  const placeOf = ({ labels, metadata }: Container) => `${labels['io.kubernetes.pod.name']}/${metadata?.name}`;
  const running = containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
  const suspects = running.filter((one) => running.some((other) => other !== one && placeOf(other) === placeOf(one)));
  const places = (await living(cri, suspects)).map(placeOf);
  return places.filter((place, index) => places.indexOf(place) !== index);
}

const ENOUGH = new Error('the churn is over');

/** Aborts with what it has found. */
async function watchForDoubles(place: PodNode, watching: AbortController): Promise<void> {
  while (!watching.signal.aborted) {
    // The runtime may be away: then there is nothing to see.
    const doubled = await listAll(place)
      .then(([, containers]) => doubledOf(place, containers))
      .catch(() => []);
    if (doubled.length > 0) watching.abort(new Error(`running twice: ${doubled.join(', ')}`));
    await delay(100);
  }
}

async function untilAtRest(world: World): Promise<void> {
  let wrong = '';
  await until(
    'the node is at rest',
    async () => {
      wrong = await differences(world);
      return wrong === '' ? true : undefined;
    },
    AT_REST_WITHIN_MS,
  ).catch((error: unknown) => {
    throw new Error(`the node does not come to rest: ${wrong}`, { cause: error });
  });
  // The look for what is left at the end must be able to find something.
  const alive = [...world.wanted.values()].some(({ atRest }) => atRest.length > 0);
  if (alive) assert.ok((await podCgroups(world.place)).length > 0, 'running pods have cgroups');
}

async function differences({ place, wanted }: World): Promise<string> {
  const [sandboxes, containers] = await listAll(place);
  const ready = sandboxes.filter(({ state }) => state === PodSandboxState.SANDBOX_READY);
  const running = containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
  const suffix = `-${place.node.nodeName}`;
  const nameOf = (labels: Readonly<Record<string, string>>) =>
    (labels['io.kubernetes.pod.name'] ?? '').slice(0, -suffix.length);
  const expected = [...wanted].flatMap(([name, pod]) => pod.atRest.map((container) => `${name}/${container}`));
  const found = running.map(({ labels, metadata }) => `${nameOf(labels)}/${metadata?.name}`);
  const expectedReady = [...wanted].filter(([, pod]) => pod.atRest.length > 0).map(([name]) => name);
  const strangers = [...sandboxes, ...containers]
    .map(({ labels }) => nameOf(labels))
    .filter((name) => !wanted.has(name));
  return [
    compare('containers', expected, found),
    compare(
      'sandboxes',
      expectedReady,
      ready.map(({ labels }) => nameOf(labels)),
    ),
    ...new Set(strangers.map((name) => `${name} should be gone`)),
  ]
    .filter((text) => text !== '')
    .join('; ');
}

function compare(what: string, expected: readonly string[], found: readonly string[]): string {
  const missing = expected.filter((one) => !found.includes(one));
  const extra = found.filter((one, index) => !expected.includes(one) || found.indexOf(one) !== index);
  if (missing.length === 0 && extra.length === 0) return '';
  return `${what}: missing ${missing.join(' ') || 'none'}, too many ${extra.join(' ') || 'none'}`;
}

async function podCgroups({ node }: PodNode): Promise<readonly string[]> {
  const world = node.world.cgroup.slice(1);
  const patterns = [`/sys/fs/cgroup/*/${world}/kubepods`, `/sys/fs/cgroup/${world}/kubepods`];
  return await Array.fromAsync(glob(patterns.flatMap((path) => [`${path}/pod*`, `${path}/*/pod*`])));
}

/** Neither in the runtime nor on disk nor among the cgroups. */
async function untilNothingIsLeft(place: PodNode): Promise<void> {
  const { node } = place;
  let left: readonly string[] = [];
  await until(
    'nothing is left',
    async () => {
      const [sandboxes, containers] = await listAll(place);
      left = [
        ...sandboxes.map(({ id }) => `sandbox ${id}`),
        ...containers.map(({ id }) => `container ${id}`),
        ...(await readdir(join(node.kubeletDirectory, 'pods'))).map((name) => `directory ${name}`),
        ...(await readdir(node.podLogsDirectory)).map((name) => `logs ${name}`),
        ...(await readdir(node.containerLogsDirectory)).map((name) => `link ${name}`),
        ...(await podCgroups(place)).map((path) => `cgroup ${path}`),
      ];
      return left.length === 0 ? true : undefined;
    },
    AT_REST_WITHIN_MS,
  ).catch((error: unknown) => {
    throw new Error(`left behind: ${left.slice(0, 10).join(', ')}`, { cause: error });
  });
}
