/** Clients that are slow, many, wrong or up to no good, by bytes on real sockets. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { open as openAs, ROUTES, raw as rawAs, statusesOf } from './routes-testing.ts';
import { ask, createFakeReviews, createTestPki, startTestServer, type TestPki } from './testing.ts';

let pki: TestPki;
before(async () => {
  pki = await createTestPki();
});
after(() => pki.remove());

const start = (more: Parameters<typeof startTestServer>[3] = {}, reviews = createFakeReviews()) =>
  startTestServer(pki, ROUTES, reviews, more);

const open = (port: number) => openAs(pki, port);
const raw = (port: number, bytes: string) => rawAs(pki, port, bytes);

/** A connection on which the server has let a user in. */
async function openKnown(port: number) {
  const socket = await open(port);
  socket.write('GET /pods HTTP/1.1\r\nHost: n\r\n\r\n');
  await once(socket, 'data');
  return socket;
}

describe('malformed HTTP', () => {
  const head = 'Host: n\r\n';
  for (const [what, bytes, wanted] of [
    ['two lengths', `POST /pods HTTP/1.1\r\n${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, [400]],
    [
      'the same length twice',
      `POST /pods HTTP/1.1\r\n${head}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`,
      [400],
    ],
    [
      'a length and chunks',
      `POST /pods HTTP/1.1\r\n${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /throws HTTP/1.1\r\n${head}\r\n`,
      [400],
    ],
    [
      'chunks that are not last',
      `POST /pods HTTP/1.1\r\n${head}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
      [400],
    ],
    ['a space before the colon', `GET /pods HTTP/1.1\r\n${head}Content-Length : 0\r\n\r\n`, [400]],
    ['a folded header', `GET /pods HTTP/1.1\r\n${head}X: a\r\n b\r\nConnection: close\r\n\r\n`, [400]],
    ['a bare line feed', `GET /pods HTTP/1.1\nHost: n\n\n`, [400]],
    ['a length that is none', `POST /pods HTTP/1.1\r\n${head}Content-Length: +5\r\n\r\nhello`, [400]],
    ['no host', `GET /pods HTTP/1.1\r\n\r\n`, [400]],
    ['an address of another server', `GET http://evil/pods HTTP/1.1\r\n${head}Connection: close\r\n\r\n`, [400]],
    ['a control character in the path', `GET /echo/a%00/b HTTP/1.1\r\n${head}Connection: close\r\n\r\n`, [400]],
    ['a broken escape', `GET /echo/%zz/b HTTP/1.1\r\n${head}Connection: close\r\n\r\n`, [400]],
    ['a head without end', `GET /pods HTTP/1.1\r\n${head}X: ${'x'.repeat(1_050_000)}`, [431]],
    ['noise', `\u0016\u0003\u0001nonsense\r\n\r\n`, [400]],
    [
      'a request behind a body that no one reads',
      `POST /pods HTTP/1.1\r\n${head}Content-Length: 1000000\r\n\r\nGET /throws HTTP/1.1\r\n${head}\r\n`,
      [200],
    ],
    [
      'two requests in a row',
      `GET /pods HTTP/1.1\r\n${head}\r\nGET /pods HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
      [200, 200],
    ],
  ] as const) {
    it(`${what}: ${wanted}, and nothing after it is handled as a request`, async () => {
      await using running = await start();
      const text = await raw(running.server.ports().secure, bytes);
      assert.deepEqual(statusesOf(text), wanted, text.slice(0, 300));
      assert.doesNotMatch(text, /broken inside/);
    });
  }

  it('a CONNECT request is refused', async () => {
    await using running = await start();
    assert.equal(await raw(running.server.ports().secure, 'CONNECT evil:443 HTTP/1.1\r\nHost: evil\r\n\r\n'), '');
  });

  it('redirects stay on this server', async () => {
    await using running = await start();
    const { status, headers } = await ask(running.server.ports().secure, pki.ca, {
      path: '//evil.example/%2e%2e/pods?x=1',
    });
    assert.deepEqual([status, headers.location], [307, '/pods?x=1']);
  });
});

describe('clients that are slow or many', () => {
  it('have a deadline for the head and for the body', async () => {
    await using running = await start({ limits: { headWithinMs: 100, requestWithinMs: 200, checkEveryMs: 20 } });
    const port = running.server.ports().secure;
    assert.deepEqual(statusesOf(await raw(port, 'GET /pods HTTP/1.1\r\nHost: n\r\n')), [408]);
    const slow = await raw(port, 'POST /body HTTP/1.1\r\nHost: n\r\nContent-Length: 10\r\n\r\nhalf');
    assert.doesNotMatch(slow, /200 OK/);
  });

  it('are accepted up to a limit, and again after others have disconnected', async () => {
    await using running = await start({ limits: { mostConnections: 3 } });
    const port = running.server.ports().secure;
    const held = await Promise.all([openKnown(port), openKnown(port), openKnown(port)]);
    await assert.rejects(open(port), /disconnected|reset|socket/i);
    held[0].destroy();
    // The server hears of it a moment later.
    const again = async (): Promise<number> => {
      const answer = await ask(port, pki.ca, { path: '/pods', pem: pki.clients.admin }).catch(() => undefined);
      return answer?.status ?? (await again());
    };
    assert.equal(await again(), 200);
    for (const socket of held) socket.destroy();
  });
});

describe('unauthenticated connections', () => {
  const strange = async (port: number, localAddress = '127.0.0.1') => {
    const through = connect({ host: '127.0.0.1', port, localAddress });
    const socket = await openAs(pki, port, { cert: '', key: '', socket: through });
    socket.on('error', () => undefined);
    return socket;
  };
  const closed = (socket: Socket) => (socket.closed ? Promise.resolve([]) : once(socket, 'close'));
  const limits = { mostConnections: 20, mostUnauthenticated: 6, mostUnauthenticatedOfAddress: 4 };

  it('beyond the limit of their address are closed for the next one, the oldest first', async () => {
    await using running = await start({ limits });
    const port = running.server.ports().secure;
    // Not even a handshake: bytes that never come.
    const first = connect({ host: '127.0.0.1', port });
    await once(first, 'connect');
    const others = [await strange(port), await strange(port), await strange(port)];
    const next = await strange(port);
    await closed(first);
    assert.deepEqual(
      [...others, next].map((socket) => socket.closed),
      [false, false, false, false],
    );
    assert.match(running.metrics.render(), /dropped_total\{reason="address",server_type="readwrite"\} 1\n/);
    for (const socket of [...others, next]) socket.destroy();
  });

  it('of one address leave room for another: those of the address with the most are closed', async () => {
    await using running = await start({ limits });
    const port = running.server.ports().secure;
    const crowd = [];
    for (let at = 0; at < 4; at += 1) crowd.push(await strange(port, '127.0.0.2'));
    const calm = [await strange(port, '127.0.0.3'), await strange(port, '127.0.0.3')];
    const late = await strange(port, '127.0.0.4');
    await closed(crowd[0] as Socket);
    assert.ok([...calm, late].every((socket) => !socket.closed));
    const { status } = await ask(port, pki.ca, { path: '/pods', pem: pki.clients.admin });
    assert.equal(status, 200);
    for (const socket of [...crowd, ...calm, late]) socket.destroy();
  });

  it('do not displace those that are authenticated by certificate or token', async () => {
    await using running = await start({ limits });
    const port = running.server.ports().secure;
    const known = await openKnown(port);
    const byToken = await strange(port);
    byToken.write('GET /pods HTTP/1.1\r\nHost: n\r\nAuthorization: Bearer admin-token\r\n\r\n');
    await once(byToken, 'data');
    for (let at = 0; at < 12; at += 1) await strange(port);
    for (const socket of [known, byToken]) {
      socket.write('GET /pods HTTP/1.1\r\nHost: n\r\nAuthorization: Bearer admin-token\r\n\r\n');
      const [answer] = await once(socket, 'data');
      assert.match(String(answer), /^HTTP\/1\.1 200 /);
      socket.destroy();
    }
  });

  it('are closed after the refusal of a request', async () => {
    await using running = await start();
    const port = running.server.ports().secure;
    const again = 'GET /pods HTTP/1.1\r\nHost: n\r\n\r\n';
    for (const [bytes, status] of [
      ['GET /pods HTTP/1.1\r\nHost: n\r\n\r\n', 401],
      ['GET /pods HTTP/1.1\r\nHost: n\r\nAuthorization: Bearer nobody-token\r\n\r\n', 403],
      ['GET /nowhere HTTP/1.1\r\nHost: n\r\n\r\n', 404],
      [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: n\r\n\r\n`, 414],
      [`GET /pods?${'x'.repeat(30_000)} HTTP/1.1\r\nHost: n\r\n\r\n`, 414],
      [`GET /exec/p?command=${'x'.repeat(70_000)} HTTP/1.1\r\nHost: n\r\n\r\n`, 431],
    ] as const) {
      const socket = await strange(port);
      socket.write(bytes);
      let text = '';
      // What is sent after the end breaks the connection: the answer is there by then.
      socket.on('data', (chunk) => {
        text += chunk;
        socket.write(again);
      });
      await new Promise((resolve) => socket.once('close', resolve));
      assert.deepEqual(statusesOf(text), [status]);
    }
  });

  it('become authenticated by a certificate before their first request, and may then send a long command', async () => {
    await using running = await start();
    const port = running.server.ports().secure;
    const status = async (path: string) => (await ask(port, pki.ca, { path, pem: pki.clients.admin })).status;
    assert.deepEqual(
      [await status(`/exec/p?command=${'x'.repeat(500_000)}`), await status(`/pods?${'x'.repeat(500_000)}`)],
      [400, 414],
    );
  });

  it('can not send many requests without waiting for answers', async () => {
    await using running = await start();
    const port = running.server.ports().secure;
    const hang = 'GET /hang HTTP/1.1\r\nHost: n\r\n\r\n';
    assert.equal(await raw(port, hang.repeat(30)), '');
    const upgrade = 'GET /exec/p HTTP/1.1\r\nHost: n\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';
    assert.equal(await raw(port, `${hang}${upgrade}`), '');
  });

  it('do not prevent the server from stopping', async () => {
    const running = await start();
    const port = running.server.ports().secure;
    const waiting = connect({ host: '127.0.0.1', port });
    await once(waiting, 'connect');
    await running[Symbol.asyncDispose]();
    await closed(waiting);
  });
});

describe('upgrades', () => {
  const upgrade = (path: string, more = '') =>
    `GET ${path} HTTP/1.1\r\nHost: n\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${more}\r\n`;

  it('hand over the socket with every early byte', async () => {
    await using running = await start();
    const socket = await open(running.server.ports().secure);
    socket.write(`${upgrade('/exec/p')}early`);
    let text = '';
    for await (const chunk of socket) {
      text += chunk;
      if (text.endsWith('early')) socket.write(' late');
      if (text.endsWith(' late')) break;
    }
    assert.match(text, /^HTTP\/1\.1 101 .*\r\n\r\nearly late$/s);
  });

  it('may end one direction and still receive output', async () => {
    await using running = await start();
    const port = running.server.ports().secure;
    const halfOpen = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    const socket = await openAs(pki, port, { socket: halfOpen });
    socket.end(`${upgrade('/exec/late')}early`);
    let text = '';
    for await (const chunk of socket) text += chunk;
    assert.match(text, /^HTTP\/1\.1 101 .*\r\n\r\nyou said early$/s);
  });

  it('that are refused close the connection, and what follows is not read', async () => {
    await using running = await start();
    const text = await raw(running.server.ports().secure, `${upgrade('/exec/none')}${upgrade('/exec/p')}`);
    assert.deepEqual(statusesOf(text), [404]);
    assert.match(text, /"message":"pod does not exist"/);
  });

  it('to a path without upgrades are answered as plain requests', async () => {
    await using running = await start();
    const text = await raw(
      running.server.ports().secure,
      upgrade('/pods').replace('Connection: Upgrade', 'Connection: Upgrade, close'),
    );
    assert.deepEqual(statusesOf(text), [200]);
  });

  it('are closed after the idle timeout', async () => {
    await using running = await start({ streamIdleMs: 50 });
    const text = await raw(running.server.ports().secure, upgrade('/exec/p'));
    assert.deepEqual(statusesOf(text), [101]);
  });

  it('are closed when the server stops', async () => {
    const running = await start();
    const ended = raw(running.server.ports().secure, upgrade('/exec/p'));
    while (!running.lines.some(({ message }) => message === 'Audit')) await new Promise((turn) => setImmediate(turn));
    await running[Symbol.asyncDispose]();
    assert.deepEqual(statusesOf(await ended).slice(1), []);
  });
});
