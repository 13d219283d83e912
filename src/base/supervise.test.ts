import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Logger, LogValues } from './logger.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { createSupervisor, type Loop, type SupervisorDeps } from './supervise.ts';

interface Line {
  readonly message: string;
  readonly values: LogValues | undefined;
}

function collectingLog(lines: Line[]): Logger {
  const put = (message: string, values?: LogValues) => void lines.push({ message, values });
  const log: Logger = { info: put, warn: put, error: put, v: () => log, with: () => log, named: () => log };
  return log;
}

function setUp(more: Partial<SupervisorDeps> = {}) {
  const clock = createManualClock();
  const lines: Line[] = [];
  const failures: string[] = [];
  const stop = new AbortController();
  const supervisor = createSupervisor({
    clock,
    log: collectingLog(lines),
    random: () => 1,
    onFailure: (loop) => void failures.push(loop),
    ...more,
  });
  return { clock, lines, failures, stop, supervisor };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A pass every second. */
const ticking = (clock: ManualClock, pass: Loop['pass'], more: Partial<Loop> = {}): Loop => ({
  name: 'ticks',
  pass,
  rest: (signal) => clock.sleep(1000, signal),
  ...more,
});

describe('supervisor', () => {
  it('restarts a loop that throws, after a back-off, and says so', async () => {
    const { clock, lines, failures, stop, supervisor } = setUp();
    let passes = 0;
    const loop = ticking(clock, () => {
      passes += 1;
      if (passes === 2) throw new Error('broken');
    });
    const done = supervisor.run({ ...loop, about: { path: '/a' } }, stop.signal);
    await settle();
    await clock.advance(1000);
    assert.equal(passes, 2);
    assert.deepEqual(failures, ['ticks']);
    assert.equal(lines[0]?.message, 'Loop failed, restarting it');
    assert.equal(lines[0]?.values?.['loop'], 'ticks');
    assert.equal(lines[0]?.values?.['path'], '/a');
    await clock.advance(200);
    assert.equal(passes, 3, 'the failed pass is repeated without the rest');
    assert.equal(lines[1]?.message, 'Loop recovered');
    await clock.advance(1000);
    assert.equal(passes, 4);
    stop.abort('stopped');
    await done;
  });

  it('is unhealthy while a loop keeps failing, and well again when it has recovered', async () => {
    const { clock, stop, supervisor } = setUp();
    let broken = true;
    const loop = ticking(clock, () => {
      if (broken) throw new Error('no disk');
    });
    void supervisor.run(loop, stop.signal);
    await clock.advance(1000);
    assert.equal(supervisor.problem(), undefined, 'a few failures are a passing trouble');
    await clock.advance(10_000);
    assert.equal(supervisor.problem(), 'loop "ticks" keeps failing: no disk');
    broken = false;
    await clock.advance(60_000);
    assert.equal(supervisor.problem(), undefined);
    stop.abort('stopped');
  });

  it('backs off ever longer, up to half a minute', async () => {
    const { clock, failures, stop, supervisor } = setUp();
    void supervisor.run(
      ticking(clock, () => {
        throw new Error('broken');
      }),
      stop.signal,
    );
    await settle();
    await clock.advance(3_600_000);
    assert.ok(failures.length > 100 && failures.length < 135, `${failures.length} failures in an hour`);
    stop.abort('stopped');
  });

  it('takes an abort for the end, in a pass, a rest and a back-off', async () => {
    for (const [at, pass] of [
      [
        0,
        (signal: AbortSignal) =>
          new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ],
      [500, () => undefined],
      [
        100,
        () => {
          throw new Error('broken');
        },
      ],
    ] as const) {
      const { clock, lines, failures, stop, supervisor } = setUp();
      const done = supervisor.run(ticking(clock, pass), stop.signal);
      await settle();
      await clock.advance(at);
      const before = [lines.length, failures.length];
      stop.abort('stopped');
      await done;
      assert.deepEqual([lines.length, failures.length], before);
      assert.deepEqual(supervisor.loops(), []);
    }
  });

  it('ends a loop that is done, and waits first where asked to', async () => {
    const { clock, stop, supervisor } = setUp();
    let passes = 0;
    const loop = ticking(
      clock,
      () => {
        passes += 1;
      },
      { restFirst: true, isDone: () => passes === 2 },
    );
    const done = supervisor.run(loop, stop.signal);
    assert.equal(passes, 0);
    await clock.advance(1000);
    assert.equal(passes, 1);
    await clock.advance(1000);
    await done;
    assert.equal(passes, 2);
  });

  it('is well with one bad one of many, and unhealthy when most are bad', async () => {
    const { clock, stop, supervisor } = setUp();
    const bad = () => {
      throw new Error('bad pod');
    };
    const start = (pass: Loop['pass']) => void supervisor.run(ticking(clock, pass, { oneOfMany: true }), stop.signal);
    start(bad);
    await clock.advance(10_000);
    assert.equal(supervisor.problem(), undefined);
    start(bad);
    await clock.advance(10_000);
    assert.match(supervisor.problem() ?? '', /bad pod/);
    for (let i = 0; i < 2; i += 1) start(() => undefined);
    assert.equal(supervisor.problem(), undefined);
    stop.abort('stopped');
  });

  it('lets a test fail any pass', async () => {
    const faults = new Set(['ticks']);
    const { clock, failures, stop, supervisor } = setUp({
      beforeRound: (loop) => {
        if (faults.delete(loop)) throw new Error('injected');
      },
    });
    let passes = 0;
    void supervisor.run(
      ticking(clock, () => {
        passes += 1;
      }),
      stop.signal,
    );
    assert.deepEqual(supervisor.loops(), ['ticks']);
    await settle();
    await clock.advance(200);
    assert.deepEqual([passes, failures], [1, ['ticks']]);
    stop.abort('stopped');
  });

  it('guards a call: logged with its name, counted, and nothing thrown', () => {
    const guarded: string[] = [];
    const { lines, supervisor } = setUp({ onGuarded: (name) => void guarded.push(name) });
    const call = () => {
      throw new Error('bad pod');
    };
    assert.equal(supervisor.guard('metrics', { pod: 'default/web' }, call), false);
    assert.equal(
      supervisor.guard('metrics', {}, () => undefined),
      true,
    );
    assert.deepEqual(guarded, ['metrics']);
    assert.deepEqual(
      lines.map(({ message, values }) => [message, values?.['listener'], values?.['pod']]),
      [['Listener failed', 'metrics', 'default/web']],
    );
  });
});
