import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sandboxId } from '../api/ids.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createRemovals, createRemovalTurn, createSandboxStops } from './removals.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function setUp(atOnce = 2) {
  const clock = createManualClock();
  const removals = createRemovals(clock, atOnce);
  const kubelet = new AbortController();
  const granted: string[] = [];
  const turns = new Map<string, Disposable>();
  const take = (name: string) => {
    removals.take(kubelet.signal).then(
      (turn) => {
        granted.push(name);
        turns.set(name, turn);
      },
      () => granted.push(`${name} rejected`),
    );
  };
  const giveBack = (name: string) => turns.get(name)?.[Symbol.dispose]();
  return { clock, removals, kubelet, granted, take, giveBack };
}

test('removals wait until no sandbox is being stopped, and then only so many run at once', async () => {
  const { clock, removals, granted, take, giveBack } = setUp();
  const first = removals.stopping();
  const second = removals.stopping();
  for (const name of ['a', 'b', 'c']) take(name);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await settle();
  assert.deepEqual(granted, [], 'a stop that ended counts once');
  second[Symbol.dispose]();
  await settle();
  assert.deepEqual(granted, ['a', 'b']);
  giveBack('a');
  await settle();
  assert.deepEqual(granted, ['a', 'b', 'c']);
  assert.equal(clock.sleepers(), 0);
});

test('a stop that hangs holds up removals for a while, not for ever', async () => {
  const { clock, removals, granted, take } = setUp();
  removals.stopping();
  take('a');
  await settle();
  await clock.advance(9999);
  await settle();
  assert.deepEqual(granted, []);
  await clock.advance(1);
  await settle();
  assert.deepEqual(granted, ['a']);
});

test('when the kubelet stops no one waits any more', async () => {
  const { clock, removals, kubelet, granted, take } = setUp();
  removals.stopping();
  take('a');
  await settle();
  kubelet.abort(new Error('the kubelet is stopping'));
  await settle();
  assert.deepEqual([granted, clock.sleepers()], [['a rejected'], 0]);
});

test('a pass does not wait for its turn: it is woken; a turn that comes too late is given back', async () => {
  const { removals, kubelet, granted, take } = setUp(1);
  const woken: string[] = [];
  const passOf = (name: string) => ({ signal: kubelet.signal, wake: () => void woken.push(name) });
  const [one, two, three] = [createRemovalTurn(removals), createRemovalTurn(removals), createRemovalTurn(removals)];
  one.request(passOf('one'));
  one.request(passOf('one'));
  two.request(passOf('two'));
  three.request(passOf('three'));
  await settle();
  assert.deepEqual([woken, one.isHeld(), two.isHeld()], [['one'], true, false]);
  two.release();
  one.release();
  await settle();
  assert.deepEqual([woken, two.isHeld(), three.isHeld()], [['one', 'three'], false, true]);
  three.release();
  take('last');
  await settle();
  assert.deepEqual(granted, ['last']);
});

test('only the stops of sandboxes count, from their beginning to their end, well or not', async () => {
  const { removals, granted, take } = setUp();
  const { note } = createSandboxStops(removals);
  const subject = { kind: 'sandbox-stop', id: sandboxId('s') } as const;
  note({ kind: 'begun', subject: { kind: 'cgroup' } });
  take('a');
  await settle();
  note({ kind: 'begun', subject });
  take('b');
  await settle();
  assert.deepEqual(granted, ['a']);
  note({ kind: 'failed', subject, failure: { reason: '', message: '' } });
  await settle();
  assert.deepEqual(granted, ['a', 'b']);
});
