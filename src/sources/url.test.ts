import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger, type Logger } from '../base/logger.ts';
import { createManualClock, type ManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { EventInput } from '../model/event.ts';
import { createSources } from './sources.ts';

const manifest = (name: string, image = 'x:1') =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: c\n    image: ${image}\n`;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const answerWith =
  (body: string, headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(200, headers).end(body);
  };

/** A real server on this machine whose answer can be changed, and a clock that the test moves. */
async function setUp(
  t: TestContext,
  first: Answer,
  more: { readonly stateDirectory?: string; readonly path?: string } = {},
) {
  let answer = first;
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const manual = createManualClock(1_700_000_000_000);
  // How often the source has gone to rest until its next question.
  let rests = 0;
  const clock: ManualClock = {
    ...manual,
    sleep: (ms, signal) => {
      if (ms === 20_000) rests += 1;
      return manual.sleep(ms, signal);
    },
  };
  const events: EventInput[] = [];
  const lines: string[] = [];
  const seen: { readonly pods: readonly Pod[]; readonly heard: boolean }[] = [];
  const note = (message: string, values?: object) => lines.push(`${message} ${JSON.stringify(values)}`);
  const log: Logger = { ...createSilentLogger(), info: note, warn: note, error: note, named: () => log };
  const { path = '/pods', ...state } = more;
  const sources = createSources(
    {
      nodeName: 'node1',
      staticPodPath: '',
      fileCheckFrequencyMs: 20_000,
      staticPodUrl: `http://user:secret@127.0.0.1:${port}${path}?token=secret`,
      staticPodUrlHeader: { 'X-Key': ['secret', 'second'] },
      httpCheckFrequencyMs: 20_000,
      preventApiReferences: true,
      ...state,
    },
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log,
      inotify: { watch: () => ({ close: () => undefined }) },
      record: (event) => events.push(event),
      onDesired: (pods, heard) => seen.push({ pods, heard }),
    },
  );
  t.after(async () => {
    await sources.stop?.();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const until = async (what: string, isTrue: () => boolean) => {
    const deadline = performance.now() + 60_000;
    while (!isTrue()) {
      assert.ok(performance.now() < deadline, `${what} did not happen; log: ${lines.join('\n')}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  /** Lets the source ask once more and waits until it sleeps again. */
  const askAgain = async (next: Answer) => {
    answer = next;
    const before = rests;
    await clock.advance(20_000);
    await until('the answer read', () => rests > before);
  };
  const images = () =>
    Object.fromEntries((seen.at(-1)?.pods ?? []).map((pod) => [pod.metadata.name, pod.spec.containers[0]?.image]));
  const start = async () => {
    await sources.start(new AbortController().signal);
    await until('the answer read', () => rests > 0);
  };
  return { clock, requests, events, lines, seen, sources, start, askAgain, until, images, port };
}

test('URL source: pods, headers, and the marks of the source', async (t) => {
  const { requests, seen, start, images } = await setUp(t, answerWith(manifest('web')));
  await start();
  assert.deepEqual(images(), { 'web-node1': 'x:1' });
  assert.equal(seen.at(-1)?.heard, true);
  const pod = seen.at(-1)?.pods[0];
  assert.equal(pod?.metadata.annotations?.['kubernetes.io/config.source'], 'http');
  assert.equal(pod?.spec.tolerations, undefined);
  assert.deepEqual(requests[0]?.headersDistinct['x-key'], ['secret', 'second']);
  assert.equal(requests[0]?.url, '/pods?token=secret');
});

test('URL source: requested again at its interval, and nothing published without a change', async (t) => {
  const { seen, start, askAgain, images } = await setUp(t, answerWith(manifest('web')));
  await start();
  await askAgain(answerWith(manifest('web')));
  assert.equal(seen.length, 1);
  await askAgain(answerWith(`${manifest('web', 'x:2')}---\n${manifest('db')}`));
  assert.deepEqual(images(), { 'web-node1': 'x:2', 'db-node1': 'x:1' });
  await askAgain(answerWith('{"apiVersion":"v1","kind":"PodList","items":[]}'));
  assert.deepEqual(images(), {});
});

test('URL source: an unchanged answer is asked for with its ETag', async (t) => {
  const { requests, seen, start, askAgain, images } = await setUp(t, answerWith(manifest('web'), { ETag: '"one"' }));
  await start();
  await askAgain((_, response) => response.writeHead(304).end());
  assert.equal(requests[1]?.headers['if-none-match'], '"one"');
  assert.equal(seen.length, 1);
  await askAgain(answerWith(manifest('web', 'x:2'), { ETag: '"two"' }));
  assert.deepEqual(images(), { 'web-node1': 'x:2' });
  await askAgain((_, response) => response.writeHead(304).end());
  assert.equal(requests[3]?.headers['if-none-match'], '"two"');
});

for (const { name, bad, line } of [
  { name: 'an error', bad: (_, response) => response.writeHead(503).end('down'), line: /answered with status 503/ },
  { name: 'not found', bad: (_, response) => response.writeHead(404).end(), line: /answered with status 404/ },
  { name: 'a cut connection', bad: (_, response) => response.destroy(), line: /no answer/ },
  {
    name: 'an answer cut in the middle',
    bad: (_, response) => {
      response.writeHead(200, { 'Content-Length': '1000' });
      response.write(manifest('other'), () => response.destroy());
    },
    line: /Failed to read pods from URL/,
  },
  { name: 'no text', bad: (_, response) => response.writeHead(200).end(Buffer.from([0xff, 0xfe])), line: /not UTF-8/ },
  { name: 'a page of HTML', bad: answerWith('<html><body>Sorry</body></html>'), line: /must be a Pod/ },
  { name: 'nothing at all', bad: answerWith(''), line: /empty/ },
  { name: 'broken YAML', bad: answerWith('kind: ['), line: /not valid YAML/ },
  { name: 'an invalid pod', bad: answerWith(manifest('Web')), line: /metadata\.name: Invalid value/ },
  { name: 'too much', bad: answerWith(`# ${'x'.repeat(11 * 1024 * 1024)}`), line: /longer than 10485760 bytes/ },
  {
    name: 'redirects without end',
    bad: (_, response) => response.writeHead(302, { Location: '/again' }).end(),
    line: /stopped after 10 redirects/,
  },
] satisfies { readonly name: string; readonly bad: Answer; readonly line: RegExp }[]) {
  test(`URL source: ${name} keeps the last good state`, async (t) => {
    const { seen, lines, start, askAgain, images } = await setUp(t, answerWith(manifest('web')));
    await start();
    const [before] = seen.at(-1)?.pods ?? [];
    await askAgain(bad);
    assert.match(lines.join('\n'), line);
    assert.deepEqual(seen.at(-1)?.pods, [before]);
    await askAgain(answerWith(manifest('web', 'x:2')));
    assert.deepEqual(images(), { 'web-node1': 'x:2' });
  });

  test(`URL source: ${name} at the start leaves an answer to wait for, and no secret in the log`, async (t) => {
    const { seen, lines, start, askAgain } = await setUp(t, bad);
    await start();
    assert.ok(seen.every(({ pods, heard }) => pods.length === 0 && !heard));
    assert.doesNotMatch(lines.join('\n'), /secret/);
    await askAgain(answerWith(manifest('web')));
    assert.deepEqual(seen.at(-1)?.pods.length, 1);
    assert.equal(seen.at(-1)?.heard, true);
  });
}

test('URL source: a server that does not answer is given up after ten seconds', async (t) => {
  const { clock, lines, requests, sources, until, seen } = await setUp(t, () => undefined);
  await sources.start(new AbortController().signal);
  await until('a request', () => requests.length === 1);
  assert.equal(clock.sleepers(), 1, 'the deadline');
  await clock.advance(10_000);
  await until('the failure', () => lines.length > 0);
  assert.match(lines[0] ?? '', /no answer within 10000 ms/);
  assert.deepEqual(seen, []);
});

test('URL source: a failure is logged once while it lasts, and its end too', async (t) => {
  const down: Answer = (_, response) => response.writeHead(503).end();
  const { lines, start, askAgain } = await setUp(t, down);
  await start();
  await askAgain(down);
  await askAgain(down);
  await askAgain(answerWith(manifest('web')));
  assert.deepEqual(
    lines.map((line) => line.split(' {')[0]),
    ['Failed to read pods from URL', 'Successfully read pods from URL'],
  );
});

test('URL source: redirects are followed, secrets only to the same server', async (t) => {
  const other = createServer((request, response) => {
    seenByOther.push(request);
    response.end(manifest('web'));
  });
  const seenByOther: IncomingMessage[] = [];
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const { requests, start, images } = await setUp(t, (request, response) => {
    const location = request.url?.startsWith('/pods') ? '/here' : `http://127.0.0.1:${port}/there`;
    response.writeHead(302, { Location: location }).end();
  });
  await start();
  assert.deepEqual(images(), { 'web-node1': 'x:1' });
  assert.equal(requests[0]?.headers.authorization, `Basic ${Buffer.from('user:secret').toString('base64')}`);
  assert.equal(seenByOther[0]?.headers.authorization, undefined);
  assert.equal(seenByOther[0]?.url, '/there');
});

test('URL source: with the server away at the start, the pods of the kubelet before go on', async (t) => {
  const stateDirectory = mkdtempSync(join(tmpdir(), 'kubelet-ts-last-good-'));
  t.after(() => rmSync(stateDirectory, { recursive: true, force: true }));
  let down = false;
  const answer: Answer = (_, response) => (down ? response.writeHead(500).end() : response.end(manifest('web')));
  const first = await setUp(t, answer, { stateDirectory });
  await first.start();
  await first.sources.stop?.();
  down = true;
  const again = createSourcesLike(first.port, stateDirectory);
  await again.sources.start(new AbortController().signal);
  t.after(() => again.sources.stop?.());
  await first.until('the pods of before', () => again.seen.length > 0);
  assert.deepEqual(
    again.seen.map(({ pods, heard }) => [pods.map((pod) => pod.metadata.uid), heard]),
    [[first.seen[0]?.pods.map((pod) => pod.metadata.uid), false]],
  );
});

function createSourcesLike(port: number, stateDirectory: string) {
  const seen: { readonly pods: readonly Pod[]; readonly heard: boolean }[] = [];
  const sources = createSources(
    {
      nodeName: 'node1',
      staticPodPath: '',
      fileCheckFrequencyMs: 20_000,
      staticPodUrl: `http://127.0.0.1:${port}/pods`,
      staticPodUrlHeader: {},
      httpCheckFrequencyMs: 20_000,
      preventApiReferences: true,
      stateDirectory,
    },
    {
      clock: createManualClock(),
      supervisor: createTestSupervisor(createManualClock()),
      log: createSilentLogger(),
      inotify: { watch: () => ({ close: () => undefined }) },
      record: () => undefined,
      onDesired: (pods, heard) => seen.push({ pods, heard }),
    },
  );
  return { seen, sources };
}
