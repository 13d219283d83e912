import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError, codeOf, type ErrorCode } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import type { KubeRequest } from '../kube/kube.ts';
import { createApiSink } from './api-sink.ts';
import type { Event } from './rules/correlation.ts';

const event = (more: Partial<Event> = {}): Event => ({
  name: 'web.17a',
  namespace: 'ns',
  object: {
    apiVersion: 'v1',
    kind: 'Pod',
    name: 'web',
    namespace: 'ns',
    uid: 'u1',
    resourceVersion: '42',
    fieldPath: 'spec.containers{c}',
  },
  type: 'Warning',
  reason: 'BackOff',
  message: 'again',
  annotations: {},
  firstAt: 1_700_000_000_400,
  lastAt: 1_700_000_000_400,
  count: 1,
  ...more,
});
const again = event({ count: 2, lastAt: 1_700_000_009_900 });
const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Answers are taken in turn; when they are used up, all goes well. */
function setUp(...answers: readonly (Error | undefined)[]) {
  const clock = createManualClock();
  const left = [...answers];
  const requests: KubeRequest[] = [];
  const listeners = new Set<() => void>();
  const client = {
    request: <A>(request: KubeRequest) => {
      requests.push(request);
      const answer = left.shift();
      return answer === undefined ? Promise.resolve({} as A) : Promise.reject<A>(answer);
    },
  };
  const onBack = (_name: string, listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const send = createApiSink(
    { clock, log: createSilentLogger(), client, random: () => 0.5, onBack },
    { nodeName: 'node1' },
  );
  const verbs = () => requests.map(({ method, path }) => `${method} ${path.replace('/api/v1/namespaces/', '')}`);
  return { clock, requests, verbs, listeners, send: (one = event(), signal = never) => send(one, signal) };
}
const fail = (code: ErrorCode, data = {}) => new CodedError(code, `it was ${code}`, { data });

test('event sink: the form of a new one', async () => {
  const { requests, send } = setUp();
  await send(event({ annotations: { a: 'b' } }));
  assert.deepEqual(requests, [
    {
      method: 'POST',
      path: '/api/v1/namespaces/ns/events',
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'web.17a', namespace: 'ns', annotations: { a: 'b' } },
        involvedObject: {
          kind: 'Pod',
          namespace: 'ns',
          name: 'web',
          uid: 'u1',
          apiVersion: 'v1',
          resourceVersion: '42',
          fieldPath: 'spec.containers{c}',
        },
        reason: 'BackOff',
        message: 'again',
        source: { component: 'kubelet', host: 'node1' },
        firstTimestamp: '2023-11-14T22:13:20Z',
        lastTimestamp: '2023-11-14T22:13:20Z',
        count: 1,
        type: 'Warning',
        eventTime: null,
        reportingComponent: 'kubelet',
        reportingInstance: 'node1',
      },
    },
  ]);
});

test('event sink: one about the node has no namespace and no field', async () => {
  const { requests, send } = setUp();
  const object = { apiVersion: 'v1', kind: 'Node', name: 'node1', namespace: '', uid: 'node1', fieldPath: '' } as const;
  await send(event({ object, namespace: 'default' }));
  const body = requests[0]?.body as { readonly involvedObject: unknown };
  assert.deepEqual(body.involvedObject, { kind: 'Node', name: 'node1', uid: 'node1', apiVersion: 'v1' });
  assert.equal(requests[0]?.path, '/api/v1/namespaces/default/events');
});

test('event sink: one that happens again is patched', async () => {
  const { requests, verbs, send } = setUp();
  await send();
  await send(again);
  assert.deepEqual(verbs(), ['POST ns/events', 'PATCH ns/events/web.17a']);
  assert.deepEqual(requests[1], {
    method: 'PATCH',
    path: '/api/v1/namespaces/ns/events/web.17a',
    patch: 'strategic',
    body: { count: 2, lastTimestamp: '2023-11-14T22:13:29Z', message: 'again' },
  });
});

const ENDING = { status: { kind: 'Status', details: { causes: [{ reason: 'NamespaceTerminating' }] } } };

// Answers of the server, in turn, to a first and a second happening; the requests; whether the last one threw.
const CASES: Readonly<
  Record<string, readonly [readonly (Error | undefined)[], readonly Event[], readonly string[], string?]>
> = {
  'counted twice before it was ever sent: made, not patched': [[], [again], ['POST ns/events']],
  'its time was up at the server: created again': [
    [undefined, fail('notFound')],
    [event(), again],
    ['POST ns/events', 'PATCH ns/events/web.17a', 'POST ns/events'],
  ],
  'there already, as an answer was lost: patched': [
    [fail('exists')],
    [event()],
    ['POST ns/events', 'PATCH ns/events/web.17a'],
  ],
  'its namespace is ending: dropped without a word': [[fail('denied', ENDING)], [event()], ['POST ns/events']],
  'not allowed: dropped': [[fail('denied')], [event()], ['POST ns/events'], 'denied'],
  'no such namespace: dropped': [[fail('notFound')], [event()], ['POST ns/events'], 'notFound'],
  'not valid: dropped': [[fail('invalid')], [event()], ['POST ns/events'], 'invalid'],
  'changed by another client: dropped': [
    [undefined, fail('conflict')],
    [event(), again],
    ['POST ns/events', 'PATCH ns/events/web.17a'],
    'conflict',
  ],
};

for (const [name, [answers, sent, expected, thrown]] of Object.entries(CASES)) {
  test(`event sink: ${name}`, async () => {
    const { verbs, send } = setUp(...answers);
    const errors: unknown[] = [];
    for (const one of sent) await send(one).catch((error: unknown) => errors.push(error));
    assert.deepEqual(verbs(), expected);
    assert.deepEqual(errors.map(codeOf), thrown === undefined ? [] : [thrown]);
  });
}

for (const code of ['unavailable', 'deadline', 'unauthenticated'] as const) {
  test(`event sink: ${code}: tried again after a while`, async () => {
    const { clock, verbs, send } = setUp(fail(code), fail(code));
    const sending = send();
    await settled();
    await clock.advance(4999);
    assert.equal(verbs().length, 1, 'a random part of ten seconds at first');
    await clock.advance(1);
    assert.equal(verbs().length, 2);
    await clock.advance(10_000);
    await sending;
    assert.equal(verbs().length, 3);
  });
}

test('event sink: given up after twelve tries', async () => {
  const { clock, verbs, send } = setUp(...Array.from({ length: 20 }, () => fail('unavailable')));
  const sending = send().catch((error: unknown) => error);
  for (let n = 0; n < 30; n++) {
    await settled();
    await clock.advance(10_000);
  }
  assert.match(String(await sending), /not written in 12 tries/);
  assert.equal(verbs().length, 12);
});

test('event sink: the server is back: no more waiting', async () => {
  const { verbs, send, listeners } = setUp(fail('unavailable'));
  const sending = send();
  await settled();
  for (const listener of listeners) listener();
  await sending;
  assert.equal(verbs().length, 2);
  assert.equal(listeners.size, 0);
});

test('event sink: a stop ends the waiting', async () => {
  const { send, listeners } = setUp(fail('unavailable'));
  const stopping = new AbortController();
  const sending = send(event(), stopping.signal);
  await settled();
  stopping.abort('stopped');
  await assert.rejects(sending, (error) => error === 'stopped');
  assert.equal(listeners.size, 0);
});
