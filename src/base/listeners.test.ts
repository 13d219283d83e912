import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createListeners } from './listeners.ts';
import { createManualClock } from './manual-clock.ts';
import { createTestSupervisor } from './supervise-testing.ts';

interface Update {
  readonly pod: string;
  readonly version: number;
}

function setUp() {
  const clock = createManualClock();
  const guarded: string[] = [];
  const supervisor = createTestSupervisor(clock, { onGuarded: (name) => void guarded.push(name) });
  const listeners = createListeners<Update>({
    supervisor,
    clock,
    keyOf: ({ pod }) => pod,
    about: ({ pod }) => ({ pod }),
  });
  return { clock, guarded, listeners };
}

const update = (pod: string, version: number): Update => ({ pod, version });

describe('listeners', () => {
  it('notifies all of them, whatever one of them throws', () => {
    const { guarded, listeners } = setUp();
    const heard: string[] = [];
    listeners.add('bad', () => {
      throw new Error('broken');
    });
    const remove = listeners.add('good', ({ pod }) => void heard.push(pod));
    listeners.notify(update('web', 1));
    remove();
    listeners.notify(update('db', 1));
    assert.deepEqual(heard, ['web']);
    assert.deepEqual(guarded, ['bad', 'bad']);
  });

  it('repeats the latest update to a listener that failed, for that object alone', async () => {
    const { clock, listeners } = setUp();
    const heard: string[] = [];
    let broken = true;
    listeners.add('flaky', ({ pod, version }) => {
      if (broken && pod === 'web') throw new Error('broken');
      heard.push(`${pod} ${version}`);
    });
    listeners.notify(update('web', 1));
    listeners.notify(update('db', 1));
    listeners.notify(update('web', 2));
    broken = false;
    await clock.advance(5000);
    assert.deepEqual(heard, ['db 1', 'web 2']);
    await clock.advance(600_000);
    assert.equal(heard.length, 2, 'notified once');
  });

  it('gives up on an update that always fails, and on a listener that left', async () => {
    const { clock, guarded, listeners } = setUp();
    const remove = listeners.add('bad', () => {
      throw new Error('broken');
    });
    listeners.notify(update('web', 1));
    await clock.advance(7_200_000);
    assert.equal(guarded.length, 20);
    assert.equal(clock.sleepers(), 0);
    listeners.notify(update('web', 2));
    assert.equal(clock.sleepers(), 1);
    remove();
    assert.equal(clock.sleepers(), 0);
    listeners.add('bad', () => {
      throw new Error('broken');
    });
    listeners.notify(update('web', 3));
    listeners.stop();
    assert.equal(clock.sleepers(), 0);
    listeners.notify(update('web', 4));
    assert.equal(clock.sleepers(), 0, 'the last updates of a kubelet that stops are not repeated');
  });
});
