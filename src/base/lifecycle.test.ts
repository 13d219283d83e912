import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLifecycle, type Part } from './lifecycle.ts';
import { createManualClock } from './manual-clock.ts';

function recorder() {
  const events: string[] = [];
  const part = (name: string, more: Partial<Part> = {}): Part => ({
    name,
    start: () => void events.push(`start ${name}`),
    stop: () => void events.push(`stop ${name}`),
    ...more,
  });
  return { events, part };
}

const deps = () => ({ clock: createManualClock(), stopWithinMs: 800 });
const never = () => new Promise<void>(() => undefined);

describe('lifecycle', () => {
  it('starts in order and stops in reverse', async () => {
    const { events, part } = recorder();
    const lifecycle = createLifecycle([part('a'), part('b')], deps());
    assert.equal(lifecycle.starting(), 'a');
    await lifecycle.start();
    assert.equal(lifecycle.starting(), undefined);
    assert.deepEqual(await lifecycle.stop(new Error('enough')), { failed: [], unfinished: [] });
    assert.deepEqual(events, ['start a', 'start b', 'stop b', 'stop a']);
  });

  it('stops what was started when a part fails to start, and reports the first error', async () => {
    const { events, part } = recorder();
    const broken = part('b', { start: () => Promise.reject(new Error('no socket')) });
    const lifecycle = createLifecycle([part('a'), broken, part('c')], deps());
    await assert.rejects(lifecycle.start(), /no socket/);
    assert.deepEqual(events, ['start a', 'stop a']);
    assert.equal(lifecycle.starting(), 'b');
  });

  it('goes on stopping after a part fails to stop, and names it', async () => {
    const { events, part } = recorder();
    const broken = part('b', {
      stop: () => {
        throw new Error('stuck');
      },
    });
    const lifecycle = createLifecycle([part('a'), broken], deps());
    await lifecycle.start();
    const report = await lifecycle.stop('bye');
    assert.deepEqual(
      report.failed.map(({ part: name, error }) => [name, String(error)]),
      [['b', 'Error: stuck']],
    );
    assert.deepEqual(events, ['start a', 'start b', 'stop a']);
  });

  it('gives up at the deadline and names the parts that were left', async () => {
    const { part } = recorder();
    const { clock, stopWithinMs } = deps();
    const lifecycle = createLifecycle([part('a'), part('b', { stop: never })], { clock, stopWithinMs });
    await lifecycle.start();
    const stopped = lifecycle.stop('bye');
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(stopWithinMs);
    assert.deepEqual(await stopped, { failed: [], unfinished: ['b', 'a'] });
  });

  it('aborts a start that waits, and starts nothing after it', async () => {
    const { events, part } = recorder();
    const waits = part('b', {
      start: (signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    const lifecycle = createLifecycle([part('a'), waits, part('c')], deps());
    const started = assert.rejects(lifecycle.start(), /signal came/);
    await new Promise((resolve) => setImmediate(resolve));
    await lifecycle.stop(new Error('signal came'));
    await started;
    assert.deepEqual(events, ['start a', 'stop a']);
  });

  it('stops a part whose start succeeds although stopping has begun', async () => {
    const { events, part } = recorder();
    const gate = Promise.withResolvers<void>();
    const lifecycle = createLifecycle([part('a', { start: () => gate.promise })], deps());
    const started = assert.rejects(lifecycle.start());
    const stopped = lifecycle.stop(new Error('too late'));
    gate.resolve();
    await Promise.all([started, stopped]);
    assert.deepEqual(events, ['stop a']);
  });

  it('stops once, however often it is asked', async () => {
    const { events, part } = recorder();
    const lifecycle = createLifecycle([part('a')], deps());
    await lifecycle.start();
    await Promise.all([lifecycle.stop('one'), lifecycle.stop('two')]);
    assert.deepEqual(events, ['start a', 'stop a']);
  });
});
