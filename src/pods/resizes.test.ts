import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Random } from '../../tests/plan/random-pod.ts';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { podRequests } from '../api/pod-resources.ts';
import { parseQuantity, quantityMilliValue } from '../api/quantity.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';

import type { PodEvent } from '../model/event.ts';
import { type Allocations, createAllocations } from './allocations.ts';
import { createResizes, type Resizes } from './resizes.ts';
import { describeShortage, findShortages } from './rules/shortages.ts';

const CAPACITY = 1000;
const allocatable = new Map(
  Object.entries({ cpu: `${CAPACITY}m`, memory: '1Gi', pods: '100' }).map(([name, text]) => {
    const quantity = parseQuantity(text);
    assert.ok(quantity.ok);
    return [name, quantity.value];
  }),
);

function makePod(uid: string, cpu: number, generation: number, priority = 0): Pod {
  const resources = { requests: { cpu: `${cpu}m` } };
  return {
    metadata: { name: uid, namespace: 'default', uid, generation },
    spec: { containers: [{ name: 'c', image: 'i', resources }], priority },
  };
}

const cpuOf = (pod: Pod): number => {
  const cpu = podRequests(pod, { podLevel: true, overhead: true }).get('cpu');
  return cpu === undefined ? 0 : Number(quantityMilliValue(cpu));
};

/** A node whose pods are resized: what workers do is done when the test says so. */
class Node {
  readonly directory: string;
  readonly events: PodEvent[] = [];
  readonly counted: string[] = [];
  pods: Pod[] = [];
  allocations: Allocations;
  resizes: Resizes;
  isDue = false;
  /** What the kernel has, by UID: no kubelet's death changes it. */
  readonly kernel = new Map<string, number>();

  constructor(directory: string) {
    this.directory = directory;
    [this.allocations, this.resizes] = this.#boot();
  }

  #boot(): [Allocations, Resizes] {
    const log = createSilentLogger();
    const allocations = createAllocations(log, { directory: this.directory, podLevel: true });
    const resizes = createResizes(
      {
        clock: createManualClock(),
        log,
        record: (event) => this.events.push(event),
        admit: (pod, admitted) => {
          const others = admitted.filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
          const [shortage] = findShortages({ pod, others, allocatable, podLevel: true });
          if (shortage === undefined) return { kind: 'admitted' };
          return { kind: 'rejected', reason: `OutOf${shortage.resource}`, message: describeShortage(shortage) };
        },
        resizeMeter: {
          requested: ({ resource, requirement, operation }) =>
            void this.counted.push(`${resource} ${requirement} ${operation}`),
          infeasible: () => undefined,
          deferredAccepted: (trigger) => void this.counted.push(trigger),
        },
      },
      {
        allocations,
        podLevel: true,
        retry: () => {
          this.isDue = true;
        },
        preempt: () => undefined,
        publish: () => undefined,
      },
    );
    return [allocations, resizes];
  }

  /** The kubelet dies; what is on disk and in the kernel stays. */
  async restart(): Promise<void> {
    this.resizes.stop();
    [this.allocations, this.resizes] = this.#boot();
    await this.allocations.load();
  }

  allocated(): readonly Pod[] {
    return this.pods.map((pod) => this.allocations.withAllocated(pod));
  }

  async reconcile(): Promise<void> {
    do {
      this.isDue = false;
      const pods = this.allocated();
      this.resizes.judge(pods, pods, 'pods_added');
    } while (this.isDue);
    await this.allocations.save();
  }

  async add(pod: Pod): Promise<void> {
    const used = this.allocated().reduce((sum, one) => sum + cpuOf(this.allocations.reserved(one)), 0);
    if (used + cpuOf(pod) > CAPACITY) return;
    this.pods.push(pod);
    this.allocations.grant(pod);
    this.kernel.set(pod.metadata.uid, cpuOf(pod));
    await this.allocations.save();
  }

  remove(uid: string): void {
    this.pods = this.pods.filter(({ metadata }) => metadata.uid !== uid);
    this.allocations.forget(podUid(uid));
    this.resizes.forget(podUid(uid));
    this.kernel.delete(uid);
  }

  resize(uid: string, cpu: number): void {
    this.pods = this.pods.map((pod) =>
      pod.metadata.uid === uid ? makePod(uid, cpu, (pod.metadata.generation ?? 0) + 1, pod.spec.priority) : pod,
    );
  }

  isOpen(pod: Pod): boolean {
    const known = this.allocations.inForce(podUid(pod.metadata.uid))?.containers['c'];
    return known?.requests?.['cpu'] !== pod.spec.containers[0]?.resources?.requests?.['cpu'];
  }

  /** A pass of a pod's worker; `diesAfter`: after which of its steps the kubelet dies. */
  async work(pod: Pod, diesAfter?: number): Promise<void> {
    const steps = [
      () => this.allocations.begin(pod, ['c']),
      () => Promise.resolve(this.kernel.set(pod.metadata.uid, cpuOf(pod))),
      () => this.allocations.done(pod, ['c']),
    ];
    if (!this.isOpen(pod)) return this.resizes.observed(pod, false);
    this.resizes.observed(pod, true);
    for (const [at, step] of steps.entries()) {
      if (at === diesAfter) return await this.restart();
      await step();
    }
    this.resizes.observed(pod, false);
  }

  check(what: string): void {
    const inKernel = [...this.kernel.values()].reduce((sum, cpu) => sum + cpu, 0);
    assert.ok(inKernel <= CAPACITY, `${what}: ${inKernel} of ${CAPACITY} are in force`);
    const allocated = this.allocated().reduce((sum, pod) => sum + cpuOf(pod), 0);
    assert.ok(allocated <= CAPACITY, `${what}: ${allocated} of ${CAPACITY} are allocated`);
  }
}

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'resizes-'));
  await run(directory).finally(() => rm(directory, { recursive: true }));
}

test('no order of resizes, ends and deaths of the kubelet over-commits the node, and whoever fits gets room in the end', () =>
  inDirectory(async (directory) => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = new Random(seed);
      const below = (limit: number) => random.number(Math.max(limit, 1));
      const node = new Node(join(directory, String(seed)));
      for (let at = 0; at < 40; at += 1) {
        const what = `seed ${seed}, step ${at}`;
        const pod = node.pods[below(node.pods.length)];
        const choice = below(10);
        if (pod === undefined || choice < 2) await node.add(makePod(`p${at}`, 50 + 50 * below(8), 1, below(3)));
        else if (choice === 2) node.remove(pod.metadata.uid);
        else if (choice < 6) node.resize(pod.metadata.uid, 50 + 50 * below(16));
        else if (choice === 6) await node.restart();
        else await node.work(node.allocations.withAllocated(pod), below(2) === 0 ? below(3) : undefined);
        node.check(`${what}, before the judgement`);
        await node.reconcile();
        node.check(what);
      }
      for (let round = 0; round < 10; round += 1) {
        for (const pod of node.allocated()) await node.work(pod);
        await node.reconcile();
      }
      for (const pod of node.allocated()) {
        assert.ok(!node.isOpen(pod), `seed ${seed}: a resize does not end`);
        assert.equal(node.kernel.get(pod.metadata.uid), cpuOf(pod));
        const requested = node.allocations.requested(pod);
        const others = node.allocated().filter((one) => one !== pod);
        const used = others.reduce((sum, one) => sum + cpuOf(one), 0);
        assert.ok(
          requested === undefined || used + cpuOf(requested) > CAPACITY,
          `seed ${seed}: ${pod.metadata.uid} fits and waits`,
        );
      }
    }
  }));

test('a death between every two steps of a resize ends in the same state as none', () =>
  inDirectory(async (directory) => {
    for (const [name, diesAfter] of [
      ['none', undefined],
      ['first', 0],
      ['second', 1],
      ['third', 2],
    ] as const) {
      for (const cpu of [50, 400]) {
        const node = new Node(join(directory, `${name}-${cpu}`));
        await node.add(makePod('p', 100, 1));
        await node.reconcile();
        node.resize('p', cpu);
        await node.reconcile();
        for (const dies of [diesAfter, undefined, undefined]) {
          for (const pod of node.allocated()) await node.work(pod, dies);
          await node.reconcile();
        }
        assert.equal(node.kernel.get('p'), cpu);
        assert.deepEqual(node.allocations.inForce(podUid('p'))?.containers['c']?.requests, { cpu: `${cpu}m` });
        assert.equal(node.resizes.of(podUid('p'))?.inProgress, undefined);
      }
    }
  }));

test('a taken-back resize during an interrupted one is made good: what is in force was not known', () =>
  inDirectory(async (directory) => {
    const node = new Node(directory);
    await node.add(makePod('p', 100, 1));
    await node.reconcile();
    node.resize('p', 400);
    await node.reconcile();
    const [pod] = node.allocated();
    assert.ok(pod !== undefined);
    await node.work(pod, 2);
    node.resize('p', 100);
    for (let round = 0; round < 3; round += 1) {
      await node.reconcile();
      for (const one of node.allocated()) await node.work(one);
    }
    assert.equal(node.kernel.get('p'), 100);
  }));

test('conditions, events and counts of a resize that waits for room', () =>
  inDirectory(async (directory) => {
    const node = new Node(directory);
    await node.add(makePod('small', 100, 1));
    await node.add(makePod('large', 800, 1));
    await node.reconcile();
    node.resize('small', 300);
    await node.reconcile();
    const { pending } = node.resizes.of(podUid('small')) ?? {};
    assert.deepEqual(
      [pending?.reason, pending?.message],
      ['Deferred', "Node didn't have enough resource: cpu, requested: 300, used: 800, capacity: 1000"],
    );
    node.resize('large', 600);
    await node.reconcile();
    assert.equal(node.resizes.of(podUid('small'))?.pending?.reason, 'Deferred', 'until the other one has shrunk');
    for (const pod of node.allocated()) await node.work(pod);
    await node.reconcile();
    for (const pod of node.allocated()) await node.work(pod);
    assert.deepEqual(
      node.events.map(({ type, reason, pod }) => `${type} ${reason} ${pod.name}`),
      [
        'Warning ResizeDeferred small',
        'Normal ResizeStarted large',
        'Normal ResizeCompleted large',
        'Normal ResizeStarted small',
        'Normal ResizeCompleted small',
      ],
    );
    const [first] = node.events;
    assert.match(
      first?.message ?? '',
      /^Pod resize OutOfcpu: \{"containers":\[\{"name":"c","resources":\{"requests":\{"cpu":"300m"\}\}\}\],"generation":2,"error":"Node didn't/,
    );
    assert.deepEqual(node.counted, ['cpu requests increase', 'cpu requests decrease', 'pods_added']);
  }));
