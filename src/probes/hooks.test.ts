import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { LifecycleHandler } from '../api/container.ts';
import { containerId } from '../api/ids.ts';
import type { Clock } from '../base/clock.ts';
import { createSystemClock } from '../base/clock.ts';
import { createManualClock } from '../base/manual-clock.ts';
import type { ExecSync } from './checks/exec.ts';
import { closedPort, never, serve, serveTcp } from './checks/testing.ts';
import { createHooks } from './probes.ts';

const pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [] } };
const noExec: ExecSync = () => Promise.reject(new Error('rpc error: code = Unknown desc = no exec here'));

function hooks({ clock = createSystemClock() as Clock, execSync = noExec } = {}) {
  const events: string[] = [];
  const count = { fallbacks: 0 };
  const runner = createHooks(
    {
      clock,
      execSync,
      nodeIps: () => ['127.0.0.1'],
      record: ({ reason, message }) => events.push(`${reason} ${message}`),
      onHttpFallback: () => {
        count.fallbacks += 1;
      },
    },
    { kubernetesVersion: 'v1.36.4' },
  );
  const container = { name: 'c', ports: [] };
  return {
    events,
    count,
    run: (handler: LifecycleHandler, signal = never, podIps = ['127.0.0.1']) =>
      runner.run({ kind: 'postStart', handler, pod, container, containerId: containerId('id'), podIps }, signal),
  };
}

const place = 'for Container "c" in Pod "p_n(u)" failed - error:';

function echo(t: TestContext, seen: unknown[], status = 200): Promise<number> {
  const server = createServer(({ url, headers }, response) => {
    seen.push([url, headers['user-agent'], headers['x-a'], headers.authorization]);
    response.writeHead(status).end();
  });
  return serve(t, server);
}

test('an HTTP hook has been heard, whatever the answer', async (t) => {
  const seen: unknown[] = [];
  const port = await echo(t, seen, 500);
  const { run } = hooks();
  assert.equal(await run({ httpGet: { port, path: '/bye', httpHeaders: [{ name: 'X-A', value: 'b' }] } }), undefined);
  assert.deepEqual(seen, [['/bye', 'kube-lifecycle/1.36', 'b', undefined]]);
});

test('an HTTP hook that no one hears says why', async (t) => {
  const { run } = hooks();
  const port = await closedPort(t);
  assert.equal(
    await run({ httpGet: { port, path: '/x' } }),
    `HTTP lifecycle hook (/x) ${place} Get "http://127.0.0.1:${port}/x": dial tcp 127.0.0.1:${port}: connect: connection refused`,
  );
  assert.equal(
    await run({ httpGet: { port: 'web', path: '/x' } }),
    `HTTP lifecycle hook (/x) ${place} port "web": the container has no port of that name`,
  );
  assert.equal(
    await run({ httpGet: { port, path: '/x' } }, never, []),
    `HTTP lifecycle hook (/x) ${place} the pod has no IP address that is known`,
  );
});

test('an HTTPS hook to a plain server is heard there, without its credentials, and that is reported and counted', async (t) => {
  const seen: unknown[] = [];
  const port = await echo(t, seen);
  const { run, events, count } = hooks();
  const httpHeaders = [
    { name: 'Authorization', value: 'Bearer secret' },
    { name: 'X-A', value: 'b' },
  ];
  assert.equal(await run({ httpGet: { port, scheme: 'HTTPS', path: '/x', httpHeaders } }), undefined);
  assert.deepEqual(seen, [['/x', 'kube-lifecycle/1.36', 'b', undefined]]);
  assert.deepEqual(events, [
    `LifecycleHTTPFallback request to HTTPS lifecycle hook 127.0.0.1:${port} got HTTP response, retry with HTTP succeeded`,
  ]);
  assert.equal(count.fallbacks, 1);
});

test('a TCP hook', async (t) => {
  const { run } = hooks();
  const port = await serveTcp(t, (socket) => socket.resume());
  assert.equal(await run({ tcpSocket: { port } }), undefined);
  const closed = await closedPort(t);
  assert.equal(
    await run({ tcpSocket: { port: closed } }),
    `TCP lifecycle hook ${place} dial tcp 127.0.0.1:${closed}: connect: connection refused`,
  );
});

test('a sleep hook takes its time, and less when it is not wanted any more', async () => {
  const clock = createManualClock(0);
  const { run } = hooks({ clock });
  let over = false;
  const sleeping = run({ sleep: { seconds: 5 } }).then((problem) => {
    over = true;
    return problem;
  });
  await clock.advance(4_999);
  assert.equal(over, false);
  await clock.advance(1);
  assert.equal(await sleeping, undefined);
  const stop = new AbortController();
  const cut = run({ sleep: { seconds: 5 } }, stop.signal);
  stop.abort(new Error('the grace is over'));
  await assert.rejects(cut, /the grace is over/);
});

test('an exec hook: the words of a failure', async () => {
  const answer = { stdout: Buffer.from('out'), stderr: Buffer.from('err'), exitCode: 2 };
  const failing = hooks({ execSync: () => Promise.resolve(answer) });
  assert.equal(
    await failing.run({ exec: { command: ['a', 'b'] } }),
    `Exec lifecycle hook ([a b]) ${place} command 'a b' exited with 2: err, message: "outerr"`,
  );
  assert.equal(
    await hooks().run({ exec: { command: ['a'] } }),
    `Exec lifecycle hook ([a]) ${place} rpc error: code = Unknown desc = no exec here, message: ""`,
  );
});

test('a handler without a way', async () => {
  assert.match((await hooks().run({})) ?? '', /^Cannot run handler: /);
});
