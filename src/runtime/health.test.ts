import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSilentLogger, type Logger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createRuntimeHealth } from './health.ts';

function setUp() {
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  const log: Logger = { ...createSilentLogger(), info: note, error: note };
  const clock = createManualClock();
  const runtime = { up: false, calls: 0 };
  const health = createRuntimeHealth({
    clock,
    supervisor: createTestSupervisor(clock),
    log,
    endpoint: 'unix:///run/x.sock',
    version: () => {
      runtime.calls += 1;
      return runtime.up
        ? Promise.resolve({ runtimeName: 'containerd', runtimeVersion: '2.4.2' })
        : Promise.reject(new Error('connect ENOENT'));
    },
  });
  return { lines, clock, runtime, health };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('health of the container runtime', () => {
  it('waits for the runtime with growing pauses and reports each change once', async () => {
    const { lines, clock, runtime, health } = setUp();
    const stopping = new AbortController();
    health.start(stopping.signal);
    await turn();
    await clock.advance(100);
    await turn();
    await clock.advance(200);
    await turn();
    assert.deepEqual(lines, ['Container runtime does not answer']);
    assert.equal(runtime.calls, 3);
    runtime.up = true;
    await clock.advance(400);
    await turn();
    assert.deepEqual(lines, ['Container runtime does not answer', 'Container runtime answers']);
    assert.equal(clock.sleepers(), 0);
    await health.stop?.();
  });

  it('asks again for every check', async () => {
    const { runtime, health, lines } = setUp();
    const { signal } = new AbortController();
    assert.match((await health.check(signal)) ?? '', /unix:\/\/\/run\/x\.sock does not answer: connect ENOENT/);
    runtime.up = true;
    assert.equal(await health.check(signal), undefined);
    runtime.up = false;
    assert.match((await health.check(signal)) ?? '', /does not answer/);
    assert.equal(lines.length, 3);
  });

  it('stops while it waits', async () => {
    const { health, clock } = setUp();
    const stopping = new AbortController();
    health.start(stopping.signal);
    await turn();
    stopping.abort(new Error('enough'));
    await health.stop?.();
    assert.equal(clock.sleepers(), 0);
  });
});
