/** Lists that must stay right whatever the server does to the watch. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { apiPath, fieldEquals } from '../api/api-path.ts';
import { createManualClock, type ManualClock } from '../base/manual-clock.ts';
import type { KubeObject, WatchRequest } from './kube.ts';
import {
  createTestPki,
  type FakeServer,
  type Handler,
  type KeyPair,
  sendJson,
  sendStatus,
  startFakeServer,
  startRelay,
  startTestKube,
  type TestPki,
  until,
} from './testing.ts';

type Response = Parameters<Handler>[1];

const object = (name: string, version: number) => ({
  metadata: { name, uid: name, resourceVersion: String(version) },
});
const event = (type: string, name: string, version: number) =>
  `${JSON.stringify({ type, object: object(name, version) })}\n`;
const bookmark = (version: number) =>
  `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } })}\n`;
const failure = (code: number, reason: string) =>
  `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code, reason, message: reason } })}\n`;

/** Moves the clock on in steps until it is so. While a request is under way, which takes real time, the clock stands still. */
async function passUntil(clock: ManualClock, stepMs: number, isSo: () => boolean, turnMs = 10): Promise<void> {
  const turn = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const end = performance.now() + 60_000;
  while (!isSo()) {
    assert.ok(performance.now() < end, 'not within a minute');
    await clock.advance(stepMs);
    await turn(turnMs);
    const soon = performance.now() + 1000;
    while (!isSo() && clock.sleepers() < 2 && performance.now() < soon) await turn(2);
  }
}

interface Script {
  /** What each list gets, then each watch; the last of them goes on for ever. */
  readonly lists: readonly ((response: Response) => void)[];
  readonly watches: readonly ((response: Response) => void)[];
}

const list =
  (version: number, ...names: readonly string[]) =>
  (response: Response) =>
    sendJson(response, 200, {
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: { resourceVersion: String(version) },
      items: names.map((name) => object(name, version)),
    });
/** Sends these lines, and leaves the watch open. */
const lines =
  (...text: readonly string[]) =>
  (response: Response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    for (const line of text) response.write(line);
  };
const linesAndEnd =
  (...text: readonly string[]) =>
  (response: Response) => {
    lines(...text)(response);
    response.end();
  };
const cutAfter =
  (...text: readonly string[]) =>
  (response: Response) => {
    response.writeHead(200);
    response.write(text.join(''), () => void response.stream.session?.socket.destroy());
  };

describe('a watch', () => {
  let pki: TestPki;
  let pair: KeyPair;
  before(async () => {
    pki = await createTestPki();
    pair = await pki.issue('server', 'kube', ['127.0.0.1']);
  });
  after(() => pki[Symbol.asyncDispose]());

  const run = async (
    script: Script,
    more: { readonly clock?: ManualClock; readonly port?: (server: FakeServer) => Promise<number> } & Partial<
      WatchRequest<KubeObject>
    > = {},
  ) => {
    const server = await startFakeServer({ pair });
    const asked: string[] = [];
    const received: string[] = [];
    let lists = 0;
    let watches = 0;
    server.handle((seen, response) => {
      const version = seen.query.get('resourceVersion');
      if (seen.path === '/readyz') return sendJson(response, 200, {});
      if (seen.query.get('watch') === 'true') {
        asked.push(`watch ${version}`);
        script.watches[Math.min(watches, script.watches.length - 1)]?.(response);
        watches += 1;
      } else {
        asked.push(`list ${version}`);
        script.lists[Math.min(lists, script.lists.length - 1)]?.(response);
        lists += 1;
      }
    });
    const port = (await more.port?.(server)) ?? server.port;
    const t = await startTestKube({
      directory: pki.directory,
      cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority': pki.ca.cert },
      ...(more.clock === undefined ? {} : { clock: more.clock }),
    });
    const watch = t.kube.watch({
      path: apiPath`/api/v1/pods`,
      ...more,
      listener: more.listener ?? {
        replaced: (objects) => received.push(`= ${objects.map(({ metadata }) => metadata.name).join(' ')}`),
        changed: ({ metadata }) => received.push(`+ ${metadata.name} ${metadata.resourceVersion}`),
        removed: ({ metadata }) => received.push(`- ${metadata.name} ${metadata.resourceVersion}`),
      },
    });
    await watch.start(t.signal);
    return {
      server,
      kube: t.kube,
      asked,
      received,
      watch,
      [Symbol.asyncDispose]: async () => {
        await watch.stop?.();
        await t[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  };

  test('skips items that are not objects, and continues after a listener has thrown', async () => {
    const received: string[] = [];
    const receive = (objects: readonly KubeObject[]) => {
      for (const { metadata } of objects) {
        if (metadata.name === 'bad') throw new TypeError('bad object');
        received.push(metadata.name);
      }
    };
    const odd = (response: Response) =>
      sendJson(response, 200, { metadata: { resourceVersion: '5' }, items: [null, 7, {}, object('a', 5)] });
    const listener = {
      replaced: receive,
      changed: (one: KubeObject) => receive([one]),
      removed: (one: KubeObject) => receive([one]),
    };
    const events = [event('ADDED', 'bad', 6), event('DELETED', 'bad', 7), event('ADDED', 'b', 8)];
    const w = await run({ lists: [odd], watches: [lines(...events)] }, { listener });
    await using _ = w;
    await until(() => received.length === 2, 'both good objects');
    assert.deepEqual(
      [received, w.asked],
      [
        ['a', 'b'],
        ['list 0', 'watch 5'],
      ],
    );
  });

  test('lists, then reports every change', async () => {
    const script = {
      lists: [list(5, 'a', 'b')],
      watches: [lines(event('ADDED', 'c', 6), event('MODIFIED', 'a', 7), event('DELETED', 'b', 8))],
    };
    await using w = await run(script, { fieldSelector: fieldEquals('spec.nodeName', 'n'), labelSelector: 'a=b' });
    await until(() => w.received.length === 4, 'all changes');
    assert.deepEqual(w.received, ['= a b', '+ c 6', '+ a 7', '- b 8']);
    assert.deepEqual(w.asked, ['list 0', 'watch 5']);
    const [listed, watched] = w.server.seen;
    for (const seen of [listed, watched]) {
      assert.equal(seen?.query.get('fieldSelector'), 'spec.nodeName=n');
      assert.equal(seen?.query.get('labelSelector'), 'a=b');
    }
    assert.equal(watched?.query.get('allowWatchBookmarks'), 'true');
    assert.equal(watched?.query.get('timeoutSeconds'), '300');
  });

  test('adds the kind to objects of a list, as those of a watch have it', async () => {
    const found: unknown[] = [];
    const nothing = () => undefined;
    const listener = { replaced: (all: readonly unknown[]) => found.push(...all), changed: nothing, removed: nothing };
    await using _ = await run({ lists: [list(5, 'a')], watches: [lines()] }, { listener });
    await until(() => found.length === 1, 'the list');
    assert.deepEqual(found, [{ apiVersion: 'v1', kind: 'Pod', ...object('a', 5) }]);
  });

  const whole = (version: number) => {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    return `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version), annotations } } })}\n`;
  };

  test('gets the list over the watch itself, in one request', async () => {
    const first = [event('ADDED', 'a', 3), bookmark(4), event('ADDED', 'b', 2), whole(5)];
    const script = { lists: [], watches: [lines(...first, event('MODIFIED', 'a', 6))] };
    await using w = await run(script, { inOne: true });
    await until(() => w.received.length === 2, 'the list and a change');
    assert.deepEqual(w.received, ['= a b', '+ a 6']);
    assert.deepEqual(w.asked, ['watch 0']);
    const [watched] = w.server.seen;
    assert.equal(watched?.query.get('sendInitialEvents'), 'true');
    assert.equal(watched?.query.get('resourceVersionMatch'), 'NotOlderThan');
  });

  test('an empty list over a watch is a list', async () => {
    await using w = await run({ lists: [], watches: [lines(whole(5))] }, { inOne: true });
    await until(() => w.received.length === 1, 'the list');
    assert.deepEqual(w.received, ['= ']);
  });

  test('restarts a list over a watch that was cut, and resumes after a complete one', async () => {
    const watches = [
      cutAfter(event('ADDED', 'a', 3)),
      cutAfter(event('ADDED', 'b', 4), whole(5), event('ADDED', 'c', 6)),
      linesAndEnd(failure(410, 'Expired')),
      lines(event('ADDED', 'd', 9), whole(9)),
    ];
    await using w = await run({ lists: [], watches }, { inOne: true });
    await until(() => w.received.length === 3, 'all lists');
    assert.deepEqual(w.received, ['= b', '+ c 6', '= d']);
    assert.deepEqual(w.asked, ['watch 0', 'watch 0', 'watch 6', 'watch 6']);
    const watched = w.server.seen.filter(({ query }) => query.get('watch') === 'true');
    assert.equal(watched[3]?.query.get('sendInitialEvents'), 'true');
  });

  test('uses a separate list if the server supports no list over a watch', async () => {
    const refuse = (response: Response) => sendStatus(response, 422, 'Invalid');
    const script = { lists: [list(5, 'a')], watches: [refuse, lines(event('ADDED', 'b', 6))] };
    await using w = await run(script, { inOne: true });
    await until(() => w.received.length === 2, 'the list and a change');
    assert.deepEqual(w.received, ['= a', '+ b 6']);
    assert.deepEqual(w.asked, ['watch 0', 'list 0', 'watch 5']);
  });

  test('accepts an empty list', async () => {
    const none = (response: Response) => sendJson(response, 200, { metadata: { resourceVersion: '5' }, items: null });
    await using w = await run({ lists: [none], watches: [lines()] });
    await until(() => w.received.length === 1, 'the list');
    assert.deepEqual(w.received, ['= ']);
  });

  test('resumes where it was: after its timeout, a bookmark, a cut, an incomplete line', async () => {
    const torn = event('ADDED', 'ü', 9);
    const script = {
      lists: [list(5)],
      watches: [
        linesAndEnd(event('ADDED', 'a', 6)),
        linesAndEnd(bookmark(7)),
        cutAfter(event('ADDED', 'b', 8), torn.slice(0, 30)),
        lines(torn.slice(0, 20), torn.slice(20), event('DELETED', 'a', 10)),
      ],
    };
    await using w = await run(script);
    await until(() => w.received.length === 5, 'all changes');
    assert.deepEqual(w.received, ['= ', '+ a 6', '+ b 8', '+ ü 9', '- a 10']);
    assert.deepEqual(w.asked, ['list 0', 'watch 5', 'watch 6', 'watch 7', 'watch 8']);
  });

  test('reads lines however they are split, even in the middle of a character', async () => {
    const text = Buffer.from(event('ADDED', 'äöü€', 6) + event('ADDED', 'b', 7) + event('ADDED', 'c', 8));
    const byBytes = (response: Response) => {
      response.writeHead(200);
      for (const byte of text) response.write(Buffer.from([byte]));
    };
    await using w = await run({ lists: [list(5)], watches: [byBytes] });
    await until(() => w.received.length === 4, 'all changes');
    assert.deepEqual(w.received.slice(1), ['+ äöü€ 6', '+ b 7', '+ c 8']);
  });

  for (const [how, gone] of [
    ['an answer', (response: Response) => sendStatus(response, 410, 'Expired')],
    ['an event', linesAndEnd(failure(410, 'Expired'))],
  ] as const) {
    test(`lists again when its version is gone, reported by ${how}`, async () => {
      const script = {
        lists: [list(5, 'a', 'b'), list(20, 'b', 'c')],
        watches: [linesAndEnd(event('MODIFIED', 'a', 6)), gone, lines()],
      };
      await using w = await run(script);
      await until(() => w.asked.length === 5, 'the new watch');
      assert.deepEqual(w.received, ['= a b', '+ a 6', '= b c']);
      assert.deepEqual(w.asked, ['list 0', 'watch 5', 'watch 6', 'list 6', 'watch 20']);
    });
  }

  test('requests the newest list when even the list is refused as gone or as too new', async () => {
    const tooNew = (response: Response) =>
      sendJson(response, 504, {
        kind: 'Status',
        reason: 'Timeout',
        details: { causes: [{ reason: 'ResourceVersionTooLarge' }] },
      });
    for (const refuse of [tooNew, (response: Response) => sendStatus(response, 410, 'Expired')]) {
      const clock = createManualClock();
      const gone = (response: Response) => sendStatus(response, 410, 'Expired');
      const script = { lists: [list(5), refuse, list(9, 'a')], watches: [gone, lines()] };
      await using w = await run(script, { clock });
      await until(() => w.asked.length === 3, 'the second list');
      await until(() => clock.sleepers() >= 2, 'the wait');
      await passUntil(clock, 200, () => w.asked.length >= 4);
      await until(() => w.asked.length === 5, 'the new watch');
      assert.deepEqual(w.asked, ['list 0', 'watch 5', 'list 5', 'list ', 'watch 9']);
    }
  });

  test('continues after a listener has thrown', async () => {
    const taken: string[] = [];
    const listener = {
      replaced: () => {
        throw new Error('not today');
      },
      changed: ({ metadata }: KubeObject) => {
        if (metadata.name === 'a') throw new Error('not this one');
        taken.push(metadata.name);
      },
      removed: () => undefined,
    };
    const script = { lists: [list(5)], watches: [lines(event('ADDED', 'a', 6), event('ADDED', 'b', 7))] };
    await using w = await run(script, { listener });
    await until(() => taken.length === 1, 'what came after');
    assert.deepEqual(taken, ['b']);
    assert.deepEqual(w.asked, ['list 0', 'watch 5']);
  });

  const invalid: readonly [string, string][] = [
    ['no JSON', '{"type":\n'],
    ['no event', '[]\n'],
    ['no version', '{"type":"ADDED","object":{"metadata":{}}}\n'],
    ['no object', '{"type":"ADDED","object":null}\n'],
    ['an unknown type', `${JSON.stringify({ type: 'CHANGED', object: object('a', 6) })}\n`],
    ['an error of the server', failure(500, 'InternalError')],
  ];
  for (const [what, line] of invalid) {
    test(`retries after ${what}, and lists again when it repeats`, async () => {
      const clock = createManualClock();
      const script = {
        lists: [list(5, 'a'), list(9, 'b')],
        watches: [lines(line), lines(line), lines(line), lines(event('ADDED', 'c', 10))],
      };
      await using w = await run(script, { clock });
      await passUntil(clock, 500, () => w.received.length >= 3);
      assert.deepEqual(w.asked, ['list 0', 'watch 5', 'watch 5', 'watch 5', 'list 5', 'watch 9']);
      assert.deepEqual(w.received, ['= a', '= b', '+ c 10']);
    });
  }

  test('has a growing back-off that a success resets', async () => {
    const clock = createManualClock();
    const refuse = (response: Response) => sendStatus(response, 404, 'NotFound');
    const refusals = Array.from({ length: 7 }, () => refuse);
    const script = { lists: [...refusals, list(5)], watches: [linesAndEnd(event('ADDED', 'a', 6)), refuse, lines()] };
    await using w = await run(script, { clock });
    const times: number[] = [];
    let known = 0;
    for (let step = 0; step < 1_000 && w.asked.length < 11; step += 1) {
      await until(() => clock.sleepers() >= 2, 'the wait');
      if (w.asked.length > known) times.push(clock.now());
      known = w.asked.length;
      await clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
      if (step % 4 === 0) await new Promise((resolve) => setTimeout(resolve, 3));
    }
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    const wanted = [800, 800, 1_600, 3_200, 6_400, 12_800, 15_000];
    for (const [index, want] of wanted.entries()) {
      const gap = gaps[index] ?? 0;
      assert.ok(gap >= want && gap < want + 1_000, `gap ${index} is ${gap} instead of ${want}: ${gaps}`);
    }
    assert.deepEqual(w.asked.slice(-4), ['list 0', 'watch 5', 'watch 6', 'watch 6']);
  });

  test('retries soon when its first list is forbidden, since it may be allowed in a moment', async () => {
    const clock = createManualClock();
    const deny = (response: Response) => sendStatus(response, 403, 'Forbidden');
    await using w = await run({ lists: [deny, deny, deny, list(5)], watches: [lines()] }, { clock });
    await passUntil(clock, 10, () => w.received.length > 0);
    assert.deepEqual(w.received, ['= ']);
    assert.ok(clock.now() < 400, `only after ${clock.now()} ms`);
  });

  test('waits before the next request to a server that is too busy', async () => {
    const clock = createManualClock();
    const busy = (response: Response) => sendStatus(response, 429, 'TooManyRequests');
    await using w = await run({ lists: [list(5)], watches: [busy, lines()] }, { clock });
    await until(() => w.asked.length === 2, 'the first try');
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(w.asked.length, 2);
    await until(() => clock.sleepers() >= 2, 'the wait');
    await clock.advance(800);
    await until(() => w.asked.length === 3, 'the second try');
    assert.deepEqual(w.asked, ['list 0', 'watch 5', 'watch 5']);
  });

  test('slows down for a server that ends every watch at once', async () => {
    const clock = createManualClock();
    await using w = await run({ lists: [list(5)], watches: [linesAndEnd()] }, { clock });
    await until(() => w.asked.length === 3, 'two tries');
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(w.asked, ['list 0', 'watch 5', 'watch 5']);
  });

  test('resumes soon after an outage, even with a long back-off', async () => {
    const clock = createManualClock();
    let down = false;
    const w = await run({ lists: [list(5)], watches: [lines(bookmark(6))] }, { clock });
    await using _ = w;
    await until(() => w.asked.length === 2, 'the first watch');
    const backs: number[] = [];
    w.kube.onBack('test', () => backs.push(clock.now()));
    w.server.handle((seen, response) => {
      if (down) sendStatus(response, 503, 'ServiceUnavailable');
      else if (seen.path === '/readyz') sendJson(response, 200, {});
      else {
        w.asked.push(`watch ${seen.query.get('resourceVersion')}`);
        lines(bookmark(7))(response);
      }
    });
    down = true;
    w.server.cut();
    for (let step = 0; step < 120; step += 1) {
      await clock.advance(500);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    assert.equal(w.asked.length, 2);
    down = false;
    const back = clock.now();
    await passUntil(clock, 500, () => w.asked.length >= 3, 200);
    assert.deepEqual(w.asked.slice(2), ['watch 6']);
    assert.ok(clock.now() - back <= 4_000, `only ${clock.now() - back} ms after the server was back`);
    assert.equal(backs.length, 1);
  });

  test('detects a server that stopped answering, and misses no change', async () => {
    const clock = createManualClock();
    const relay = Promise.withResolvers<Awaited<ReturnType<typeof startRelay>>>();
    const script = { lists: [list(5)], watches: [lines(event('ADDED', 'a', 6)), lines(event('ADDED', 'b', 7))] };
    await using w = await run(script, {
      clock,
      port: async (server) => {
        relay.resolve(await startRelay(server.port));
        return (await relay.promise).port;
      },
    });
    await using way = await relay.promise;
    await until(() => w.received.length === 2, 'the first event');
    way.block(true);
    for (let step = 0; step < 12; step += 1) {
      await clock.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    way.block(false);
    await passUntil(clock, 1_000, () => w.received.length >= 3);
    assert.deepEqual(w.received, ['= ', '+ a 6', '+ b 7']);
    assert.deepEqual(w.asked, ['list 0', 'watch 5', 'watch 6']);
  });

  test('ends when it is stopped', async () => {
    const w = await run({ lists: [list(5)], watches: [lines(event('ADDED', 'a', 6))] });
    await using _ = w;
    await until(() => w.received.length === 2, 'the first event');
    await w.watch.stop?.();
    w.server.cut();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(w.received, ['= ', '+ a 6']);
    assert.deepEqual(w.asked, ['list 0', 'watch 5']);
  });
});
