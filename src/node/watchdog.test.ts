import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import { createWatchdog } from './watchdog.ts';

test('the watchdog is notified twice in each period, and only while every check is well', async () => {
  const clock = createManualClock();
  const sent: string[] = [];
  const logged: unknown[] = [];
  let problem: string | undefined;
  const life = new AbortController();
  const watchdog = createWatchdog(
    {
      clock,
      log: { ...createSilentLogger(), error: (message, values) => void logged.push([message, values]) },
      supervisor: createTestSupervisor(clock, { beforeRound: throwOnce('systemd watchdog') }),
      checks: () => [
        { name: 'log', check: () => undefined },
        { name: 'syncloop', check: () => problem },
        { name: 'container-runtime', check: () => 'is away' },
      ],
      notify: (state) => void sent.push(`${clock.now()} ${state}`),
    },
    30_000,
  );
  await watchdog.start(life.signal);
  await clock.advance(60_000);
  // 200 ms later than at once: its first round failed.
  const expected = [200, 15_200, 30_200, 45_200].map((at) => `${at} WATCHDOG=1`);
  assert.deepEqual(sent, expected);
  problem = 'no pass for 5m';
  await clock.advance(30_000);
  assert.deepEqual(sent, expected);
  assert.deepEqual(logged.at(-1), [
    'Do not notify watchdog this iteration as the kubelet is reportedly not healthy',
    { check: 'syncloop', reason: 'no pass for 5m' },
  ]);
  problem = undefined;
  await clock.advance(15_000);
  assert.deepEqual(sent.at(-1), '90200 WATCHDOG=1');
  life.abort();
});
