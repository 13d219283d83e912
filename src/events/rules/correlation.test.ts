import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCorrelator, DEFAULT_LIMITS, type Event, type InvolvedObject } from './correlation.ts';

const object: InvolvedObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  name: 'web',
  namespace: 'default',
  uid: 'u1',
  fieldPath: 'spec.containers{c}',
};

let serial = 0;
const event = ({ at = 0, ...more }: Partial<Event> & { readonly at?: number } = {}): Event => ({
  name: `web.${++serial}`,
  namespace: 'default',
  object,
  type: 'Warning',
  reason: 'BackOff',
  message: 'again',
  annotations: {},
  firstAt: at,
  lastAt: at,
  count: 1,
  ...more,
});

const quiet = { ...DEFAULT_LIMITS, spamBurst: 1000 };

test('correlation: the same event again is counted under its first name', () => {
  const correlator = createCorrelator(quiet);
  const first = correlator.correlate(event({ at: 10 })).event;
  const second = correlator.correlate(event({ at: 20 })).event;
  assert.deepEqual(second, { ...first, lastAt: 20, count: 2 });
  assert.equal(correlator.correlate(event({ at: 30 })).event.count, 3);
});

for (const [name, other] of Object.entries({
  message: { message: 'else' },
  reason: { reason: 'Killing' },
  type: { type: 'Normal' },
  container: { object: { ...object, fieldPath: 'spec.containers{d}' } },
  pod: { object: { ...object, uid: 'u2' } },
} satisfies Record<string, Partial<Event>>)) {
  test(`correlation: another ${name} is another event`, () => {
    const correlator = createCorrelator(quiet);
    const first = correlator.correlate(event()).event;
    const second = correlator.correlate(event(other)).event;
    assert.equal(second.count, 1);
    assert.notEqual(second.name, first.name);
  });
}

test('correlation: from the tenth message on, events of one reason become one', () => {
  const correlator = createCorrelator(quiet);
  const correlated = Array.from(
    { length: 12 },
    (_, at) => correlator.correlate(event({ at, message: `m${at}` })).event,
  );
  assert.deepEqual(
    correlated.map(({ count, message }) => [count, message]),
    [
      ...Array.from({ length: 9 }, (_, at) => [1, `m${at}`]),
      [1, '(combined from similar events): m9'],
      [2, '(combined from similar events): m10'],
      [3, '(combined from similar events): m11'],
    ],
  );
  assert.equal(new Set(correlated.slice(9).map(({ name }) => name)).size, 1);
});

test('correlation: after a pause messages are distinguished again', () => {
  const correlator = createCorrelator(quiet);
  for (let at = 0; at < 12; at++) correlator.correlate(event({ at, message: `m${at}` }));
  const within = correlator.correlate(event({ at: 11 + quiet.similarWithinMs, message: 'x' })).event;
  assert.equal(within.message, '(combined from similar events): x');
  const later = correlator.correlate(event({ at: 12 + 2 * quiet.similarWithinMs, message: 'y' })).event;
  assert.equal(later.message, 'y');
});

test('correlation: 25 at once, then one in five minutes; others are not held back', () => {
  const correlator = createCorrelator();
  const spam = (more: Partial<Event> & { readonly at?: number }) => correlator.correlate(event(more)).spam;
  for (let count = 0; count < 25; count++) assert.equal(spam({ at: count }), false, `event ${count}`);
  assert.equal(spam({ at: 100 }), true);
  assert.equal(spam({ at: 100, type: 'Normal' }), false);
  assert.equal(spam({ at: 100, object: { ...object, uid: 'u2' } }), false);
  assert.equal(spam({ at: 299_000 }), true);
  assert.equal(spam({ at: 300_100 }), false);
  assert.equal(spam({ at: 300_200 }), true);
});

test('correlation: counting goes on while an object is held back', () => {
  const correlator = createCorrelator();
  for (let count = 0; count < 39; count++) correlator.correlate(event());
  assert.deepEqual(
    [correlator.correlate(event())].map(({ event: { count }, spam }) => [count, spam]),
    [[40, true]],
  );
});

test('correlation: memory is bounded, and what was forgotten starts again', () => {
  const correlator = createCorrelator({ ...quiet, memory: 10 });
  correlator.correlate(event());
  for (let pod = 0; pod < 10; pod++) correlator.correlate(event({ object: { ...object, uid: `other${pod}` } }));
  assert.equal(correlator.correlate(event()).event.count, 1);
});
