import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId, podUid, sandboxId } from '../api/ids.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { emptyObservation } from '../model/observation.ts';
import type { Action } from '../model/plan.ts';
import type { Pass } from './pass.ts';
import { createStopRequests } from './stop-requests.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));
const observation = emptyObservation(podUid('u'), 'p', 'n', 0);
const stop = (name: string): Action => ({
  ...{ kind: 'container-stop', id: containerId(name), name, role: 'regular', message: 'm', reason: 'Unknown' },
  graceSeconds: 30,
});
const sandbox: Action = { kind: 'sandbox-stop', id: sandboxId('s'), reason: 'r' };

function setUp() {
  const clock = createManualClock();
  const carried: { readonly kinds: readonly string[]; readonly end: PromiseWithResolvers<void> }[] = [];
  const seen: string[] = [];
  const pass = {
    signal: new AbortController().signal,
    wake: () => void seen.push('woken'),
    lookAgainAt: (time: number) => void seen.push(`at ${time}`),
  } as unknown as Pass;
  const requests = createStopRequests({
    clock,
    log: createSilentLogger(),
    carryOut: (_pass, _observation, actions) => {
      const end = Promise.withResolvers<void>();
      carried.push({ kinds: actions.map(({ kind }) => kind), end });
      return end.promise;
    },
  });
  const send = (actions: readonly Action[], until = 30_000) => requests.send(pass, observation, actions, until);
  return { clock, requests, pass, seen, carried, send };
}

test('the only container and its sandbox stop in one go; wake-ups on the way need no read of the runtime', async () => {
  const { requests, pass, seen, carried, send } = setUp();
  assert.equal(requests.needsNoRead(pass, 30_000), false);
  send([stop('a'), sandbox]);
  assert.deepEqual(carried[0]?.kinds, ['container-stop', 'sandbox-stop']);
  assert.equal(requests.includeSandboxes(), true);
  assert.equal(requests.needsNoRead(pass, 30_000), true);
  carried[0]?.end.resolve();
  await settle();
  assert.deepEqual(seen, ['at 3000', 'woken']);
  assert.deepEqual([requests.needsNoRead(pass, 30_000), requests.includeSandboxes()], [false, false]);
});

test('a stop that takes long is read once in a while, so that an end is published', async () => {
  const { clock, requests, pass, send } = setUp();
  send([stop('a'), sandbox]);
  assert.equal(requests.needsNoRead(pass, 30_000), true);
  await clock.advance(2999);
  assert.equal(requests.needsNoRead(pass, 30_000), true);
  await clock.advance(1);
  assert.equal(requests.needsNoRead(pass, 30_000), false);
  assert.equal(requests.needsNoRead(pass, 30_000), true);
});

test('a shorter grace is a new request for the containers alone; the first one goes on to the sandbox', async () => {
  const { requests, pass, carried, send } = setUp();
  send([stop('a'), sandbox]);
  assert.equal(requests.needsNoRead(pass, 5000), false);
  send([stop('a'), sandbox]);
  assert.equal(carried.length, 1, 'the same request again changes nothing');
  send([stop('a'), sandbox], 5000);
  assert.deepEqual(carried[1]?.kinds, ['container-stop']);
  carried[1]?.end.resolve();
  await settle();
  assert.equal(requests.includeSandboxes(), true, 'the first request is still under way');
  carried[0]?.end.resolve();
  await settle();
  assert.equal(requests.includeSandboxes(), false);
});

test('of several containers each end is read, and the sandbox has a pass of its own', () => {
  const { requests, pass, carried, send } = setUp();
  send([stop('a'), stop('b'), sandbox]);
  assert.deepEqual(carried[0]?.kinds, ['container-stop', 'container-stop']);
  assert.deepEqual([requests.needsNoRead(pass, 30_000), requests.includeSandboxes()], [false, false]);
});

test('a stop that fails is tried again', async () => {
  const { requests, pass, seen, carried, send } = setUp();
  send([stop('a'), sandbox]);
  carried[0]?.end.reject(new Error('no'));
  await settle();
  assert.deepEqual(seen, ['at 1000']);
  assert.equal(requests.needsNoRead(pass, 30_000), false);
});
