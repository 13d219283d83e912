/** When a connection is opened, given up and closed: by a clock that stands still and connections that do as they are told. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CodedError, codeOf, describeError } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock, type ManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { HttpReply } from '../wire/http-reply.ts';
import { createConnections } from './connections.ts';
import type { Call, Link } from './link.ts';

const CALL: Call = { method: 'GET', path: '/', headers: {}, body: undefined, endless: false };
const { signal } = new AbortController();

class FakeLink implements Link {
  readonly #closed = Promise.withResolvers<void>();
  readonly closed = this.#closed.promise;
  bytes = 0;
  room = 10;
  pings = 0;
  /** Whether pings are answered. */
  alive = true;
  calls = 0;
  end: string | undefined;
  suspect: () => void = () => undefined;
  refuse = false;

  open(): Promise<HttpReply> {
    if (this.refuse) return Promise.reject(new CodedError('unavailable', 'refused', { data: { refused: true } }));
    this.calls += 1;
    return Promise.resolve({ httpStatus: 200 } as HttpReply);
  }
  hasRoom(): boolean {
    return this.end === undefined && this.calls < this.room;
  }
  active(): number {
    return this.calls;
  }
  retire(reason: Error): void {
    this.#finish(`retired: ${describeError(reason)}`);
  }
  destroy(reason: Error): void {
    this.#finish(`destroyed: ${describeError(reason)}`);
  }
  received(): number {
    return this.bytes;
  }
  ping = (): Promise<void> => {
    this.pings += 1;
    return this.alive ? Promise.resolve() : new Promise(() => undefined);
  };
  onSuspicion(listener: () => void): void {
    this.suspect = listener;
  }
  #finish(how: string): void {
    this.end ??= how;
    this.#closed.resolve();
  }
}

function createTestConnections(clock: ManualClock, dial?: (attempt: number) => Promise<FakeLink>) {
  const links: FakeLink[] = [];
  let dials = 0;
  const connections = createConnections({
    clock,
    supervisor: createTestSupervisor(clock),
    log: createSilentLogger(),
    random: () => 1,
    server: 'https://kube',
    dial: async () => {
      dials += 1;
      const link = (await dial?.(dials)) ?? new FakeLink();
      links.push(link);
      return link;
    },
  });
  return { connections, links, dials: () => dials };
}

describe('connections', () => {
  test('are one, until it has no room for a call', async () => {
    const clock = createManualClock();
    const { connections, links } = createTestConnections(clock);
    await Promise.all(Array.from({ length: 25 }, () => connections.open(CALL, signal)));
    assert.deepEqual(
      links.map(({ calls }) => calls),
      [10, 10, 5],
    );
  });

  test('that are idle are closed, except one', async () => {
    const clock = createManualClock();
    const { connections, links } = createTestConnections(clock);
    await Promise.all(Array.from({ length: 25 }, () => connections.open(CALL, signal)));
    for (const link of links) link.calls = 0;
    for (let look = 0; look < 8; look += 1) await clock.advance(10_000);
    assert.deepEqual(links.map(({ end }) => end ?? 'open').toSorted(), [
      'open',
      'retired: no longer needed',
      'retired: no longer needed',
    ]);
  });

  test('that are silent are pinged every half minute, and kept while they answer', async () => {
    const clock = createManualClock();
    const { connections, links } = createTestConnections(clock);
    await connections.open(CALL, signal);
    for (let look = 0; look < 12; look += 1) await clock.advance(10_000);
    assert.equal(links[0]?.pings, 4);
    assert.equal(links[0]?.end, undefined);
  });

  test('that receive something are not pinged', async () => {
    const clock = createManualClock();
    const { connections, links } = createTestConnections(clock);
    await connections.open(CALL, signal);
    const [link] = links;
    assert.ok(link !== undefined);
    for (let look = 0; look < 12; look += 1) {
      link.bytes += 1;
      await clock.advance(10_000);
    }
    assert.equal(link.pings, 0);
  });

  test('that do not answer a ping are closed after a quarter of a minute', async () => {
    const clock = createManualClock();
    const { connections, links } = createTestConnections(clock);
    await connections.open(CALL, signal);
    const [link] = links;
    assert.ok(link !== undefined);
    link.alive = false;
    await clock.advance(44_999);
    assert.equal(link.end, undefined);
    await clock.advance(1);
    assert.match(link.end ?? '', /^destroyed: https:\/\/kube does not answer/);
    await connections.open(CALL, signal);
    assert.equal(links.length, 2);
  });

  test('that do not answer a ping but receive a long list are kept', async () => {
    const clock = createManualClock();
    const { connections, links } = createTestConnections(clock);
    await connections.open(CALL, signal);
    const [link] = links;
    assert.ok(link !== undefined);
    link.alive = false;
    await clock.advance(31_000);
    link.bytes += 1;
    await clock.advance(15_000);
    assert.equal(link.end, undefined);
  });

  test('are pinged at once, and only once, when calls get no answer in time', async () => {
    const clock = createManualClock();
    const { connections, links } = createTestConnections(clock);
    await connections.open(CALL, signal);
    const [link] = links;
    assert.ok(link !== undefined);
    link.suspect();
    link.suspect();
    assert.equal(link.pings, 1);
    await new Promise((resolve) => setImmediate(resolve));
    link.alive = false;
    link.suspect();
    await clock.advance(5_000);
    assert.match(link.end ?? '', /^destroyed/);
  });

  test('are retried with a growing back-off of at most a second', async () => {
    const clock = createManualClock();
    const times: number[] = [];
    const { connections } = createTestConnections(clock, () => {
      times.push(clock.mono());
      return Promise.reject(new CodedError('unavailable', 'no one there'));
    });
    const tryAll = async () => {
      for (let tries = 0; tries < 8; tries += 1) {
        await assert.rejects(connections.open(CALL, signal), (error) => {
          assert.equal(codeOf(error), 'unavailable');
          assert.equal(describeError(error), 'failed to connect to the API server https://kube: no one there');
          return true;
        });
      }
    };
    const tried = tryAll();
    await new Promise((resolve) => setImmediate(resolve));
    for (let step = 0; step < 500; step += 1) {
      await clock.advance(10);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await tried;
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    assert.deepEqual(gaps, [50, 100, 200, 400, 800, 1_000, 1_000]);
  });

  test('share one attempt among all waiting calls, and each call may give up', async () => {
    const clock = createManualClock();
    const dialled = Promise.withResolvers<FakeLink>();
    const { connections, dials } = createTestConnections(clock, () => dialled.promise);
    const own = new AbortController();
    const impatient = connections.open(CALL, own.signal);
    const patient = connections.open(CALL, signal);
    own.abort('enough');
    await assert.rejects(impatient, (error) => error === 'enough');
    dialled.resolve(new FakeLink());
    await patient;
    assert.equal(dials(), 1);
  });

  test('that refuse every call are not retried for ever', async () => {
    const clock = createManualClock();
    const { connections, links } = createTestConnections(clock, () => {
      const link = new FakeLink();
      link.refuse = true;
      return Promise.resolve(link);
    });
    await assert.rejects(connections.open(CALL, signal), /refused/);
    assert.equal(links.length, 1);
  });

  test('are opened again after they were renewed or cut', async () => {
    const clock = createManualClock();
    const { connections, links } = createTestConnections(clock);
    await connections.open(CALL, signal);
    connections.renew('new certificate');
    await connections.open(CALL, signal);
    connections.reconnect('heartbeats fail');
    await connections.open(CALL, signal);
    assert.deepEqual(
      links.map(({ end }) => end),
      ['retired: new certificate', 'destroyed: heartbeats fail', undefined],
    );
  });

  test('fail all calls after the client was closed', async () => {
    const clock = createManualClock();
    const { connections, links } = createTestConnections(clock);
    await connections.open(CALL, signal);
    await connections.close();
    assert.match(links[0]?.end ?? '', /^destroyed/);
    await assert.rejects(connections.open(CALL, signal), /the client was closed/);
    await clock.advance(0);
    assert.equal(clock.sleepers(), 0);
  });
});
