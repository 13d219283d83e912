import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSilentLogger, type Logger, type LogValues } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { EventInput } from '../model/event.ts';
import { createEvents, type EventsConfig, type EventsDeps } from './events.ts';

const pod = { uid: 'u1', name: 'web', namespace: 'default' };
const config: EventsConfig = { nodeName: 'node1', remember: 100, perSecond: 0, burst: 1 };

function setUp(more: Partial<EventsDeps> = {}, settings: Partial<EventsConfig> = {}) {
  const clock = createManualClock(1_700_000_000_000);
  const lines: (LogValues | undefined)[] = [];
  const log: Logger = {
    ...createSilentLogger(),
    info: (_, values) => lines.push(values),
    warn: (message, values) => lines.push({ message, ...values }),
    named: () => log,
  };
  return {
    clock,
    lines,
    events: createEvents({ ...config, ...settings }, { clock, log, supervisor: createTestSupervisor(clock), ...more }),
  };
}

const pulled: EventInput = { pod, container: 'spec.containers{c}', type: 'Normal', reason: 'Pulled', message: 'here' };

test('events: to the log and to the store, counted', () => {
  const { clock, lines, events } = setUp();
  events.record(pulled);
  void clock.advance(5);
  events.record(pulled);
  events.record({ node: true, type: 'Warning', reason: 'CgroupV1', message: 'old' });
  assert.deepEqual(
    events.list().map(({ namespace, object, reason, count, firstAt, lastAt }) => ({
      namespace,
      object,
      reason,
      count,
      ms: lastAt - firstAt,
    })),
    [
      {
        namespace: 'default',
        object: { apiVersion: 'v1', kind: 'Pod', ...pod, fieldPath: 'spec.containers{c}' },
        reason: 'Pulled',
        count: 2,
        ms: 5,
      },
      {
        namespace: 'default',
        object: { apiVersion: 'v1', kind: 'Node', name: 'node1', uid: 'node1', namespace: '', fieldPath: '' },
        reason: 'CgroupV1',
        count: 1,
        ms: 0,
      },
    ],
  );
  assert.deepEqual(
    lines.map((line) => [line?.['object'], line?.['reason'], line?.['count']]),
    [
      ['default/web', 'Pulled', undefined],
      ['default/web', 'Pulled', 2],
      ['node1', 'CgroupV1', undefined],
    ],
  );
});

test('events: of one pod, bounded, the longest unchanged forgotten first', () => {
  const { events } = setUp({}, { remember: 3 });
  const record = (reason: string, uid = 'u1') => events.record({ ...pulled, pod: { ...pod, uid }, reason });
  record('A');
  record('B', 'u2');
  record('C');
  record('A');
  record('D');
  assert.deepEqual(
    events.list().map(({ reason }) => reason),
    ['C', 'A', 'D'],
  );
  assert.deepEqual(events.list({ uid: 'u2' }), []);
  assert.deepEqual(events.list({ uid: 'u1' }).length, 3);
});

test('events: names are unique within a millisecond and fit for an object', () => {
  const { events } = setUp({}, { remember: 3000 });
  for (let n = 0; n < 3000; n++) {
    events.record({ ...pulled, pod: { ...pod, uid: `u${n}`, name: n % 2 ? 'x'.repeat(253) : 'web' } });
  }
  const names = events.list().map(({ name }) => name);
  assert.equal(new Set(names).size, 3000);
  for (const name of names) assert.match(name, /^[a-z0-9.]{1,253}$/);
});

test('events: one who never stops is counted but no longer logged', () => {
  const { lines, events } = setUp();
  for (let n = 0; n < 100; n++) events.record(pulled);
  assert.equal(lines.length, 25);
  assert.equal(events.list()[0]?.count, 100);
});

test('events: listeners hear what is recorded until they stop', () => {
  const { events } = setUp();
  const heard: number[] = [];
  const stop = events.subscribe('test', ({ count }) => heard.push(count));
  events.record(pulled);
  events.record(pulled);
  stop();
  events.record(pulled);
  assert.deepEqual(heard, [1, 2]);
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('events: the sink gets them no faster than allowed, the newest state of each', async () => {
  const sent: [string, number][] = [];
  const send = ({ reason, count }: { reason: string; count: number }) => {
    sent.push([reason, count]);
    return Promise.resolve();
  };
  const { clock, events } = setUp({ send }, { perSecond: 10, burst: 2 });
  for (const reason of ['A', 'B', 'C', 'C', 'D']) events.record({ ...pulled, reason });
  events.start(new AbortController().signal);
  await settled();
  assert.deepEqual(sent, [
    ['A', 1],
    ['B', 1],
  ]);
  await clock.advance(100);
  await settled();
  assert.deepEqual(sent.slice(2), [['C', 2]]);
  await clock.advance(100);
  await settled();
  assert.deepEqual(sent.slice(3), [['D', 1]]);
  await events.stop?.();
});

test('events: a sink that fails loses that event only, and one that hangs does not hold the stop', async () => {
  let fail = true;
  const sent: string[] = [];
  const { lines, events } = setUp({
    send: async ({ reason }, signal) => {
      if (reason === 'Hang')
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      if (fail) throw new Error('away');
      sent.push(reason);
    },
  });
  events.start(new AbortController().signal);
  events.record({ ...pulled, reason: 'Lost' });
  await settled();
  fail = false;
  events.record({ ...pulled, reason: 'Kept' });
  await settled();
  events.record({ ...pulled, reason: 'Hang' });
  await settled();
  await events.stop?.();
  assert.deepEqual(sent, ['Kept']);
  assert.equal(lines.filter((line) => line?.['err'] === 'away').length, 1);
});

test('events: a sink that is away for long costs no more memory than its queue', async () => {
  const release = Promise.withResolvers<void>();
  const sent: string[] = [];
  const { lines, events } = setUp({
    send: async ({ object }) => {
      await release.promise;
      sent.push(object.uid);
    },
  });
  events.start(new AbortController().signal);
  for (let n = 0; n < 1500; n++) events.record({ ...pulled, pod: { ...pod, uid: `u${n}` } });
  release.resolve();
  while (sent.length < 1000) await settled();
  await settled();
  assert.equal(sent.length, 1000);
  assert.equal(sent.at(-1), 'u1499');
  assert.equal(lines.at(-1)?.['count'], 500);
  await events.stop?.();
});

test('texts are bounded, in memory and on the way to the API server, also those that were combined', async () => {
  const sent: string[] = [];
  const send = ({ message }: { message: string }) => {
    sent.push(message);
    return Promise.resolve();
  };
  const { events } = setUp({ send });
  events.start(new AbortController().signal);
  events.record({ ...pulled, reason: `OutOf${'x'.repeat(300)}`, message: 'ä'.repeat(1_000_000) });
  for (let n = 0; n < 12; n++) events.record({ ...pulled, message: `${n}${'y'.repeat(5000)}` });
  await settled();
  for (const { message, reason } of events.list()) {
    assert.ok(Buffer.byteLength(message) <= 1024 && reason.length <= 128);
    assert.ok(message.endsWith(' ...'));
  }
  assert.equal(events.list()[0]?.message, `${'ä'.repeat(510)} ...`);
  assert.match(events.list().at(-1)?.message ?? '', /^\(combined from similar events\): /);
  assert.ok(sent.length > 1 && sent.every((message) => Buffer.byteLength(message) <= 1024));
  await events.stop?.();
});
