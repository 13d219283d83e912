/** Passes over a pod that is resized: how often it is tried, and what is reported of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Action } from '../model/plan.ts';
import { createWorkerWorld, makePod, settle, type WorkerWorld } from './testing.ts';
import { createWorker } from './worker.ts';

const sized = (cpu: string) =>
  makePod('u', { containers: [{ name: 'c', image: 'image', resources: { requests: { cpu } } }] });

/** A pod that has 1 CPU, and whose resizes end as the test says. */
function resizing(problem: () => string | undefined) {
  const world: WorkerWorld = createWorkerWorld();
  const reports: string[] = [];
  let tries = 0;
  let cpu = '1';
  const deps = {
    ...world.deps,
    decisions: { ...world.deps.decisions, resize: { podLevel: true, initContainers: true } },
    inForce: () => ({ containers: { c: { requests: { cpu } } }, pod: undefined }),
    resizes: {
      observed: (_: unknown, isResizing: boolean) => void reports.push(isResizing ? 'resizing' : 'at rest'),
      failed: (_: unknown, message: string) => void reports.push(message),
    },
    act: {
      ...world.node.act,
      carryOut: async (actions: readonly Action[], context: Parameters<typeof world.node.act.carryOut>[1]) => {
        const isOther = ({ kind }: Action) => kind !== 'pod-resize';
        const outcomes = await world.node.act.carryOut(actions.filter(isOther), context);
        if (actions.every(isOther)) return outcomes;
        tries += 1;
        if (problem() === undefined) cpu = context.pod.spec.containers[0]?.resources?.requests?.['cpu'] ?? '';
        return [...outcomes, { kind: 'resize' as const, problem: problem(), tookMs: 1 }];
      },
    },
  };
  const state = { step: 'syncing', pod: sized('1') } as const;
  const worker = createWorker(deps, { state, isNew: true, begins: false }, world.life.signal);
  void worker.start();
  return { world, worker, reports, tries: () => tries };
}

test('a resize that fails is tried again after a while, not in every pass; another one at once', async () => {
  let problem: string | undefined = 'in use';
  const { world, worker, reports, tries } = resizing(() => problem);
  await settle(world.clock);
  worker.send({ kind: 'pod', pod: sized('2') });
  await settle(world.clock);
  assert.equal(tries(), 1);
  assert.deepEqual(reports.slice(-3), ['resizing', 'in use', 'resizing']);
  worker.send({ kind: 'pod', pod: sized('2') });
  await settle(world.clock);
  assert.equal(tries(), 1, 'the same spec in another object is no other resize');
  worker.send({ kind: 'pod', pod: sized('3') });
  await settle(world.clock);
  assert.equal(tries(), 2);
  await world.clock.advance(10_000);
  await settle(world.clock);
  assert.equal(tries(), 3);
  problem = undefined;
  await world.clock.advance(10_000);
  await settle(world.clock);
  assert.equal(tries(), 4);
  assert.equal(reports.at(-1), 'at rest');
  assert.equal(world.clock.sleepers(), 0, 'nothing is left to do');
});

test('a resize that is taken back after it failed leaves no work behind', async () => {
  const { world, worker, reports } = resizing(() => 'in use');
  await settle(world.clock);
  worker.send({ kind: 'pod', pod: sized('2') });
  await settle(world.clock);
  worker.send({ kind: 'pod', pod: sized('1') });
  await settle(world.clock);
  await world.clock.advance(60_000);
  await settle(world.clock);
  assert.equal(reports.at(-1), 'at rest');
  assert.equal(world.clock.sleepers(), 0);
});
