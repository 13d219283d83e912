import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createListeners } from './listeners.ts';
import { createManualClock } from './manual-clock.ts';
import { createTestSupervisor } from './supervise-testing.ts';

interface News {
  readonly pod: string;
  readonly version: number;
}

function setUp() {
  const clock = createManualClock();
  const guarded: string[] = [];
  const supervisor = createTestSupervisor(clock, { onGuarded: (name) => void guarded.push(name) });
  const listeners = createListeners<News>({
    supervisor,
    clock,
    keyOf: ({ pod }) => pod,
    about: ({ pod }) => ({ pod }),
  });
  return { clock, guarded, listeners };
}

const news = (pod: string, version: number): News => ({ pod, version });

describe('listeners', () => {
  it('tells all of them, whatever one of them throws', () => {
    const { guarded, listeners } = setUp();
    const heard: string[] = [];
    listeners.add('bad', () => {
      throw new Error('broken');
    });
    const remove = listeners.add('good', ({ pod }) => void heard.push(pod));
    listeners.tell(news('web', 1));
    remove();
    listeners.tell(news('db', 1));
    assert.deepEqual(heard, ['web']);
    assert.deepEqual(guarded, ['bad', 'bad']);
  });

  it('tells the latest news again to who failed, for that object alone', async () => {
    const { clock, listeners } = setUp();
    const heard: string[] = [];
    let broken = true;
    listeners.add('flaky', ({ pod, version }) => {
      if (broken && pod === 'web') throw new Error('broken');
      heard.push(`${pod} ${version}`);
    });
    listeners.tell(news('web', 1));
    listeners.tell(news('db', 1));
    listeners.tell(news('web', 2));
    broken = false;
    await clock.advance(5000);
    assert.deepEqual(heard, ['db 1', 'web 2']);
    await clock.advance(600_000);
    assert.equal(heard.length, 2, 'told once');
  });

  it('gives up on news that always fail, and on who is gone', async () => {
    const { clock, guarded, listeners } = setUp();
    const remove = listeners.add('bad', () => {
      throw new Error('broken');
    });
    listeners.tell(news('web', 1));
    await clock.advance(7_200_000);
    assert.equal(guarded.length, 20);
    assert.equal(clock.sleepers(), 0);
    listeners.tell(news('web', 2));
    assert.equal(clock.sleepers(), 1);
    remove();
    assert.equal(clock.sleepers(), 0);
    listeners.add('bad', () => {
      throw new Error('broken');
    });
    listeners.tell(news('web', 3));
    listeners.stop();
    assert.equal(clock.sleepers(), 0);
    listeners.tell(news('web', 4));
    assert.equal(clock.sleepers(), 0, 'the last news of a kubelet that stops are told once');
  });
});
