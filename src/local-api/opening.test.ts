import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import { createOpening } from './opening.ts';

function open(failures: number) {
  const clock = createManualClock();
  const logged: string[] = [];
  const done: string[] = [];
  const life = new AbortController();
  const supervisor = createTestSupervisor(clock, { beforeRound: throwOnce('local API open') });
  const log = { ...createSilentLogger(), error: (message: string) => void logged.push(message) };
  let left = failures;
  const opening = createOpening({ clock, log, supervisor }, () => {
    done.push('open');
    left -= 1;
    return left < 0 ? Promise.resolve() : Promise.reject(new Error('ENOSPC'));
  });
  const port = opening.after('port', { name: '', start: () => void done.push('port') });
  return { clock, logged, done, life, opening, port };
}

test('opening: what waits for it starts at once where nothing fails', async () => {
  const { opening, port, done, logged, life } = open(0);
  await opening.start(life.signal);
  await port.start(life.signal);
  assert.deepEqual(done, ['open', 'port']);
  assert.deepEqual(logged, []);
  await opening.stop();
});

test('opening: a failure does not stop the start, and is tried again until it goes well', async () => {
  const { opening, port, done, logged, life, clock } = open(3);
  await opening.start(life.signal);
  await port.start(life.signal);
  assert.deepEqual(done, ['open']);
  await clock.advance(60_000);
  assert.deepEqual(done, ['open', 'open', 'open', 'open', 'port']);
  assert.equal(logged.length, 3);
  await clock.advance(600_000);
  assert.equal(done.length, 5, 'and then no more');
  await opening.stop();
});

test('opening: an end in between is no failure', async () => {
  const { opening, port, done, life, clock } = open(1000);
  await opening.start(life.signal);
  await port.start(life.signal);
  life.abort();
  await opening.stop();
  await clock.advance(600_000);
  assert.deepEqual(done, ['open']);
});
