import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createSystemClock } from '../../base/clock.ts';
import { createFileCalls } from '../../host/file-calls.ts';
import { createGuardedFiles } from '../../host/guarded-files.ts';
import type { Answer, Exchange } from '../routes.ts';
import { createNodeLogRoute } from './node-logs.ts';

/** A journal that knows one service, and says how it was asked. */
const JOURNAL = `#!/bin/sh
[ "$1" = --field ] && { echo kubelet.service; exit 0; }
echo "journal: $*"
`;

const place = mkdtempSync(join(tmpdir(), 'node-logs-'));
const [programs, directory] = [join(place, 'bin'), join(place, 'log')];
mkdirSync(programs);
mkdirSync(join(directory, 'app'), { recursive: true });
writeFileSync(join(programs, 'journalctl'), JOURNAL);
chmodSync(join(programs, 'journalctl'), 0o755);
writeFileSync(join(directory, 'app/app.log'), 'from a file\n');
writeFileSync(join(directory, 'digits'), '0123456789');

const routeOf = (query: boolean) =>
  createNodeLogRoute(
    {
      clock: createSystemClock(),
      files: createGuardedFiles(createFileCalls()),
      environment: { PATH: `${programs}:/usr/bin:/bin` },
    },
    { directory, query },
  );
const routes = { on: routeOf(true), off: routeOf(false) };

function serve(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', 'http://x');
  const [, which, ...path] = decodeURIComponent(url.pathname).split('/');
  const answer = ({ status, body = '', type, headers }: Answer) =>
    response.writeHead(status, { 'Content-Type': type ?? 'text/plain', ...headers }).end(body);
  const asked = { request, response, answer, query: url.searchParams, parameters: { path: path.join('/') } };
  const exchange = { ...asked, signal: new AbortController().signal } as unknown as Exchange;
  void routes[which === 'off' ? 'off' : 'on'].handle(exchange);
}

const server = createServer(serve);
let origin = '';
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(place, { recursive: true });
});

const COMMON = '--utc --no-pager --output=short-precise';
for (const [path, status, text] of [
  ['/on/?query=kubelet', 200, `journal: ${COMMON} --unit=kubelet\n`],
  ['/on/?query=kubelet&tailLines=5', 200, `journal: ${COMMON} --pager-end --lines=5 --unit=kubelet\n`],
  ['/on/?query=app', 200, 'from a file\n'],
  ['/on/?query=kubelet&query=app', 200, `journal: ${COMMON} --unit=kubelet\nfrom a file\n`],
  [
    '/on/?query=app&tailLines=5',
    200,
    '\noptions present and query resolved to log files for [app]\ntry without specifying options\n',
  ],
  ['/on/?query=nobody', 200, '\nlog not found for nobody\n'],
  ['/on/?query=/app/app.log', 200, 'from a file\n'],
  ['/on/?query=/nothing', 406, 'query: Invalid value: ["/nothing"]: statat /nothing: no such file or directory\n'],
  ['/on/?query=../secret', 406, 'query: Invalid value: ["../secret"]: statat ../secret: no such file or directory\n'],
  ['/on/?query=', 400, 'query: Invalid value: [""]: may not be empty\n'],
  ['/on/digits?query=kubelet', 406, 'path not allowed in query mode\n'],
  // Switched off, a query means nothing.
  ['/off/digits?query=kubelet', 200, '0123456789'],
  [
    '/off/app/',
    200,
    '<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n<a href="app.log">app.log</a>\n</pre>\n',
  ],
  ['/off/nothing', 404, '404 page not found\n'],
  ['/off/a%2f..%2fdigits', 400, 'invalid URL path\n'],
] as const) {
  test(`${path} is ${status}`, async () => {
    const answer = await fetch(`${origin}${path}`, { redirect: 'manual', headers: { 'accept-encoding': 'identity' } });
    assert.deepEqual([answer.status, await answer.text()], [status, text]);
  });
}

test('a directory without its slash is redirected, a range of a file is served, and answers are compressed', async () => {
  const directoryAnswer = await fetch(`${origin}/off/app`, { redirect: 'manual' });
  assert.deepEqual([directoryAnswer.status, directoryAnswer.headers.get('location')], [301, 'app/']);
  const part = await fetch(`${origin}/off/digits`, { headers: { range: 'bytes=2-4' } });
  assert.deepEqual([part.status, await part.text(), part.headers.get('content-range')], [206, '234', 'bytes 2-4/10']);
  const beyond = await fetch(`${origin}/off/digits`, { headers: { range: 'bytes=20-' } });
  assert.equal(beyond.status, 416);
  const packed = await fetch(`${origin}/on/?query=app`, { headers: { 'accept-encoding': 'gzip' } });
  assert.deepEqual([packed.headers.get('content-encoding'), await packed.text()], ['gzip', 'from a file\n']);
});
