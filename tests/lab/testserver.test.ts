/** The test server's image does what tests ask of it, seen through a real kubelet's probes and a real runtime. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TESTSERVER_IMAGE } from './images/testserver.ts';
import { type LabNode, lab } from './lab.ts';
import { eventually, readPodLog, untilLogged, writeStaticPod } from './static-pods.ts';

interface ContainerStatus {
  readonly ready: boolean;
  readonly restartCount: number;
  readonly lastState: {
    readonly terminated?: { readonly exitCode: number; readonly message?: string; readonly reason: string };
  };
}

interface PodStatus {
  readonly podIP?: string;
  readonly containerStatuses?: readonly ContainerStatus[];
}

/** Through the kubelet's read-only port. */
async function statusOf(node: LabNode, pod: string): Promise<PodStatus | undefined> {
  const list = JSON.parse((await node.gate.request('http://127.0.0.1:10255/pods')).text()) as {
    items: readonly { metadata: { name: string }; status: PodStatus }[] | null;
  };
  return list.items?.find((item) => item.metadata.name === `${pod}-${node.nodeName}`)?.status;
}

const untilContainer = (node: LabNode, pod: string, what: string, holds: (status: ContainerStatus) => boolean) =>
  eventually(`${pod}: ${what}`, async () => {
    const status = await statusOf(node, pod);
    const container = status?.containerStatuses?.[0];
    return container !== undefined && holds(container) ? { ...container, ip: status?.podIP ?? '' } : undefined;
  });

const probe = { periodSeconds: 1, failureThreshold: 1 };

test('HTTP, HTTPS, gRPC and TCP answer the probes of a kubelet, and readiness follows requests', async (t) => {
  await using node = await lab.reference({ test: t });
  const args = ['-https=:8443', '-grpc=:9000', '-tcp=:7000'];
  const probes = {
    http: { httpGet: { path: '/readyz', port: 8080 } },
    https: { httpGet: { path: '/readyz', port: 8443, scheme: 'HTTPS' } },
    grpc: { grpc: { port: 9000 } },
    tcp: { tcpSocket: { port: 7000 } },
  };
  for (const [name, handler] of Object.entries(probes)) {
    const container = { name: 'main', image: TESTSERVER_IMAGE, args, readinessProbe: { ...handler, ...probe } };
    await writeStaticPod(node, { name, spec: { containers: [container] } });
  }
  const ready = (name: string) => untilContainer(node, name, 'ready', (status) => status.ready);
  const ips = { http: (await ready('http')).ip, grpc: (await ready('grpc')).ip };
  await Promise.all([ready('https'), ready('tcp')]);

  await node.gate.request(`http://${ips.http}:8080/set/ready?to=false`);
  await node.gate.request(`http://${ips.grpc}:8080/set/grpc?to=NOT_SERVING`);
  const unready = (name: string) => untilContainer(node, name, 'not ready', (status) => !status.ready);
  await Promise.all([unready('http'), unready('grpc')]);
  const hits = JSON.parse((await node.gate.request(`http://${ips.http}:8080/hits`)).text()) as Record<string, number>;
  assert.ok((hits['/readyz'] ?? 0) >= 2);
});

test('it exits with the code and the message asked for, and is killed for its memory', async (t) => {
  await using node = await lab.reference({ test: t });
  const exits = {
    name: 'main',
    image: TESTSERVER_IMAGE,
    args: ['-exit-after=200ms', '-exit-code=7', '-termination-message=bye'],
  };
  const eats = {
    name: 'main',
    image: TESTSERVER_IMAGE,
    args: ['-memory=100000000'],
    resources: { limits: { memory: '40Mi' } },
  };
  await writeStaticPod(node, { name: 'exits', spec: { containers: [exits] } });
  await writeStaticPod(node, { name: 'eats', spec: { containers: [eats] } });
  const ended = (name: string) =>
    untilContainer(node, name, 'ended', (status) => status.lastState.terminated !== undefined);
  const { exitCode, message } = (await ended('exits')).lastState.terminated ?? {};
  assert.deepEqual({ exitCode, message }, { exitCode: 7, message: 'bye' });
  assert.equal((await ended('eats')).lastState.terminated?.reason, 'OOMKilled');
});

test('it writes numbered lines to both streams and goes on after SIGTERM', async (t) => {
  await using node = await lab.reference({ test: t });
  const main = { name: 'main', image: TESTSERVER_IMAGE, args: ['-log-lines=100', '-log-stream=both', '-ignore-term'] };
  await writeStaticPod(node, { name: 'talks', spec: { terminationGracePeriodSeconds: 1, containers: [main] } });
  await untilLogged(node, 'talks', 'main', 'line 100');
  const lines = (await readPodLog(node, 'talks', 'main')).split('\n').filter((line) => / line \d+$/.test(line));
  assert.equal(lines.length, 100);
  assert.equal(lines.filter((line) => line.includes(' stderr F ')).length, 50);
  const { stdout } = await node.containerd.ctr('tasks', 'ls');
  const pids = stdout.split('\n').flatMap((line) => /\s(\d+)\s+RUNNING/.exec(line)?.[1] ?? []);
  for (const pid of pids) process.kill(Number(pid), 'SIGTERM');
  await untilLogged(node, 'talks', 'main', 'got signal terminated');
});
