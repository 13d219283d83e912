/** Pods whose probes fail in every way, under the reference and under our kubelet: the events must say the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUSYBOX, type PodNode, podNode, until } from './pod-support.ts';

const SERVER = 'lab.local/testserver:1';
const FOREVER = 'trap "exit 0" TERM; while :; do sleep 1000 & wait $!; done';
const FLAGS = ['-https=:8443', '-grpc=:5000', '-tcp=:7000'];

const server = (probes: object): object => ({
  terminationGracePeriodSeconds: 1,
  containers: [{ name: 'c', image: SERVER, args: FLAGS, ports: [{ name: 'web', containerPort: 8080 }], ...probes }],
});
const shell = (probes: object): object => ({
  terminationGracePeriodSeconds: 1,
  containers: [{ name: 'c', image: BUSYBOX, command: ['sh', '-c', FOREVER], ...probes }],
});
/** Often, and never often enough to change anything. Patient, but where it is the matter that an answer is late. */
const often = (handler: object): object => ({
  periodSeconds: 1,
  timeoutSeconds: 10,
  failureThreshold: 1000,
  ...handler,
});
const LATE = { timeoutSeconds: 3 };
const readiness = (handler: object): object => ({ readinessProbe: often(handler) });
const http = (httpGet: object): object => server(readiness({ httpGet: { port: 'web', ...httpGet } }));

const pods: Readonly<Record<string, object>> = {
  'http-500': http({ path: '/status/500' }),
  'http-404': server({ livenessProbe: often({ httpGet: { port: 8080, path: '/status/404' } }) }),
  'http-refused': http({ port: 81 }),
  'http-late': server(readiness({ httpGet: { port: 'web', path: '/status/200?delay=60s' }, ...LATE })),
  'http-away': http({ path: '/redirect?to=http://elsewhere.invalid/' }),
  'http-circle': http({ path: '/redirect?to=%2Fredirect%3Fto%3D%252Fstatus%252F503' }),
  'http-garbage': http({ port: 7000 }),
  'https-plain': http({ scheme: 'HTTPS', path: '/x' }),
  'https-500': http({ scheme: 'HTTPS', port: 8443, path: '/status/500' }),
  'tcp-refused': server({ startupProbe: often({ tcpSocket: { port: 82 } }) }),
  'grpc-unknown': server(readiness({ grpc: { port: 5000, service: 'nobody' } })),
  'grpc-refused': server(readiness({ grpc: { port: 83 } })),
  'grpc-http': server(readiness({ grpc: { port: 8080 } })),
  'exec-fails': shell({ livenessProbe: often({ exec: { command: ['sh', '-c', 'printf "not \\"well\\""; exit 1'] } }) }),
  'exec-silent': shell({ startupProbe: often({ exec: { command: ['test', '-f', '/tmp/none'] } }) }),
  'exec-late': shell(readiness({ exec: { command: ['sleep', '30'] }, ...LATE })),
  'exec-missing': shell(readiness({ exec: { command: ['/no/such/program'] } })),
};

/** What differs from run to run becomes its kind. */
function comparable(event: string): string {
  return event
    .replaceAll(/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, 'ADDRESS')
    .replaceAll(/failed to start exec \\"[0-9a-f]+\\"/g, 'failed to start exec ID')
    .replaceAll(/exec failed: unable to start container process: /g, '');
}

async function firstComplaint({ events }: PodNode, pod: string): Promise<string> {
  // A server takes its time to listen: whether a probe comes before that is chance.
  const mayConnect = !pod.endsWith('-refused') && pod !== 'grpc-http';
  const tooEarly = (event: string) => mayConnect && /connection refused|failed to connect/.test(event);
  // Nor is it this test's matter that a busy machine is late with what is quick.
  const tooSlow = (event: string) =>
    mayConnect && !pod.endsWith('-late') && /timed out after|Client\.Timeout|deadline exceeded/.test(event);
  const isOne = (event: string) => /^(Unhealthy|ProbeWarning): /.test(event) && !tooEarly(event) && !tooSlow(event);
  return comparable(await until(`${pod} complains`, async () => (await events(pod)).find(isOne)));
}

test('failing probes are told in the reference’s words', async (t) => {
  const flags = ['-v=3'];
  const [ours, theirs] = await Promise.all([podNode(t, { flags }), podNode(t, { kubelet: 'reference', flags })]);
  for (const [name, spec] of Object.entries(pods)) {
    await Promise.all([ours.write(name, spec), theirs.write(name, spec)]);
  }
  for (const name of Object.keys(pods)) {
    await t.test(name, async () => {
      const [mine, reference] = await Promise.all([firstComplaint(ours, name), firstComplaint(theirs, name)]);
      t.diagnostic(`${name}: ${reference}`);
      assert.equal(mine, reference);
    });
  }
});
