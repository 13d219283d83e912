/** The whole part, with real time, files and servers. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Container } from '../api/container.ts';
import { containerId, podUid, sandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { createSystemClock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { ObservedContainer } from '../model/observation.ts';
import { serve } from './checks/testing.ts';
import { createProbes, type ProbeNews } from './probes.ts';

const id = containerId('c1');

function newsOf(container: Container, startedAt: number): ProbeNews {
  const pod: Pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [container] } };
  const seen = { id, sandboxId: sandboxId('s'), name: container.name, state: 'running', startedAt };
  const sandbox = { id: sandboxId('s'), attempt: 0, ready: true, createdAt: startedAt, hostNetwork: false };
  const observation = {
    uid: podUid('u'),
    name: 'p',
    namespace: 'n',
    takenAt: 0,
    sandboxes: [{ ...sandbox, ips: ['127.0.0.1'], runtimeHandler: '' }],
    containers: [seen as unknown as ObservedContainer],
  };
  return { kind: 'view', view: { uid: podUid('u'), pod, step: 'syncing', observation } };
}

function kubelet(t: TestContext, root: string) {
  const stop = new AbortController();
  const events: string[] = [];
  const woken = { count: 0 };
  const clock = createSystemClock();
  const probes = createProbes(
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log: createSilentLogger(),
      record: ({ message }) => events.push(message),
      wake: () => {
        woken.count += 1;
      },
      execSync: () => Promise.reject(new Error('no runtime')),
      expand: (words) => ({ ok: true, value: words }),
      nodeIps: () => [],
      podDirectory: (uid) => join(root, uid),
    },
    { kubernetesVersion: 'v1.36.4' },
  );
  void probes.start(stop.signal);
  const end = async () => {
    stop.abort(new Error('killed'));
    await probes.stop?.();
  };
  t.after(end);
  const sleep = (ms: number) => clock.sleep(ms, new AbortController().signal);
  return { probes, events, woken, clock, sleep, end };
}

function podDirectory(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'probes-'));
  mkdirSync(join(root, 'u'));
  t.after(() => rmSync(root, { recursive: true }));
  return root;
}

async function until(what: string, look: () => boolean): Promise<void> {
  const end = performance.now() + 10_000;
  while (!look()) {
    if (performance.now() > end) assert.fail(`${what}: not within 10 s`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A server on a thread of its own, which goes on while this one stands still. It tells of each request, and answers after 200 ms. */
async function serveBeside(t: TestContext): Promise<{ readonly port: number; asked(): Promise<unknown> }> {
  const code = `
    const { createServer } = require('node:http');
    const { parentPort } = require('node:worker_threads');
    const server = createServer((_, response) => {
      parentPort.postMessage('asked');
      setTimeout(() => response.end('ok'), 200);
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
  `;
  const worker = new Worker(code, { eval: true });
  t.after(() => worker.terminate());
  const [port] = await once(worker, 'message');
  return { port: Number(port), asked: () => once(worker, 'message') };
}

test('a stall of 3 s fails no probe', async (t) => {
  const { port, asked } = await serveBeside(t);
  const { probes, events, clock, sleep } = kubelet(t, podDirectory(t));
  const probe = { httpGet: { port }, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 1 };
  probes.follow(newsOf({ name: 'c', readinessProbe: probe, livenessProbe: probe }, clock.now()));
  await until('the container is ready', () => probes.results().readiness.get(id) === 'success');
  for (let stall = 0; stall < 2; stall += 1) {
    await asked();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000);
    await sleep(500);
  }
  await until('liveness was asked', () => probes.results().liveness.get(id) === 'success');
  assert.equal(probes.results().readiness.get(id), 'success');
  assert.deepEqual(events, []);
});

test('verdicts outlive the process that found them', async (t) => {
  const root = podDirectory(t);
  let status = 200;
  const port = await serve(
    t,
    createServer((_, response) => void response.writeHead(status).end()),
  );
  const probe = { httpGet: { port }, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 2 };
  const container = { name: 'c', startupProbe: probe, readinessProbe: probe };
  const started = Date.now();
  const first = kubelet(t, root);
  first.probes.follow(newsOf(container, started));
  await until('the container is ready', () => first.probes.results().readiness.get(id) === 'success');
  await first.end();

  const second = kubelet(t, root);
  second.probes.follow(newsOf(container, started));
  assert.equal(second.probes.results().startup.get(id), 'success');
  assert.equal(second.probes.results().readiness.get(id), 'success');
  await second.sleep(1500);
  assert.equal(second.woken.count, 0, 'nothing has moved');
  status = 500;
  await until('the container is not ready', () => second.probes.results().readiness.get(id) === 'failure');
  assert.equal(second.events.at(-1), 'Readiness probe failed: HTTP probe failed with statuscode: 500');
  await second.end();

  const third = kubelet(t, root);
  third.probes.follow(newsOf(container, started));
  assert.equal(third.probes.results().readiness.get(id), 'failure');
  assert.equal(third.probes.results().startup.get(id), 'success');
});
