/** The whole part, with real files and servers; the test moves the clock. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Container } from '../api/container.ts';
import { containerId, podUid, sandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock, type ManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { ObservedContainer } from '../model/observation.ts';
import { serve } from './checks/testing.ts';
import { createProbes, type ProbedUpdate } from './probes.ts';

const id = containerId('c1');
const START = 1_700_000_000_000;

function updateOf(container: Container, startedAt: number): ProbedUpdate {
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

function kubelet(t: TestContext, root: string, startedAt: number) {
  const stop = new AbortController();
  const events: string[] = [];
  const woken = { count: 0 };
  const clock = createManualClock(startedAt);
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
  return { probes, events, woken, clock, end };
}

function podDirectory(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'probes-'));
  mkdirSync(join(root, 'u'));
  t.after(() => rmSync(root, { recursive: true }));
  return root;
}

/** Waits for answers of a real server, of which no clock knows. */
async function until(look: () => boolean): Promise<void> {
  while (!look()) await new Promise((resolve) => setImmediate(resolve));
}

test('verdicts outlive the process that found them', { timeout: 120_000 }, async (t) => {
  const root = podDirectory(t);
  let status = 200;
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.writeHead(status).end();
  });
  const port = await serve(t, server);
  const probe = { httpGet: { port }, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 2 };
  const container = { name: 'c', startupProbe: probe, readinessProbe: probe };
  /** So long that the next check begins, and until its request was answered. */
  const nextCheck = async ({ clock }: { readonly clock: ManualClock }) => {
    const before = requests;
    await clock.advance(1100);
    await until(() => requests > before);
  };
  const first = kubelet(t, root, START);
  first.probes.follow(updateOf(container, START));
  await first.clock.advance(0);
  await until(() => first.probes.results().startup.get(id) === 'success');
  await first.clock.advance(0);
  await until(() => first.probes.results().readiness.get(id) === 'success');
  await first.end();

  const second = kubelet(t, root, START + 10_000);
  second.probes.follow(updateOf(container, START));
  assert.equal(second.probes.results().startup.get(id), 'success');
  assert.equal(second.probes.results().readiness.get(id), 'success');
  await nextCheck(second);
  assert.equal(second.woken.count, 0, 'nothing has changed');
  status = 500;
  await nextCheck(second);
  await until(() => second.events.length === 1);
  assert.equal(second.probes.results().readiness.get(id), 'success', 'one failure changes nothing');
  await nextCheck(second);
  await until(() => second.probes.results().readiness.get(id) === 'failure');
  assert.equal(second.events.at(-1), 'Readiness probe failed: HTTP probe failed with statuscode: 500');
  await second.end();

  const third = kubelet(t, root, START + 20_000);
  third.probes.follow(updateOf(container, START));
  assert.equal(third.probes.results().readiness.get(id), 'failure');
  assert.equal(third.probes.results().startup.get(id), 'success');
});
