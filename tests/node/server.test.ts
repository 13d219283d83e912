/** The server of a node without a cluster, on a real runtime: what the recorded answers of the reference look like, ours do too. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type PodNode, podNode, runs, until } from './pod-support.ts';
import { type KubeletClient, kubeletClient } from './streams-support.ts';

const served = join(import.meta.dirname, '../recorded/served');
const recorded = (file: string) => readFileSync(join(served, file), 'utf8');

interface Place {
  readonly place: PodNode;
  readonly kubelet: KubeletClient;
}

/** Every path of a value with its type; lists by what is in them. */
function shapeOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => shapeOf(item, `${path}[]`)))];
  if (typeof value !== 'object' || value === null) return [`${path}: ${value === null ? 'null' : typeof value}`];
  const inner = Object.entries(value).flatMap(([name, item]) => shapeOf(item, `${path}.${name}`));
  return inner.length === 0 ? [`${path}: {}`] : inner;
}

const json = async (kubelet: KubeletClient, path: string) => {
  const answer = await kubelet.request(path);
  assert.equal(answer.status, 200, `${path}: ${answer.text()}`);
  assert.equal(answer.headers['content-type'], 'application/json');
  return JSON.parse(answer.text());
};

const text = async (kubelet: KubeletClient, path: string, headers = {}) => {
  const answer = await kubelet.request(path, 'GET', headers);
  assert.equal(answer.status, 200, `${path}: ${answer.text().slice(0, 300)}`);
  return answer.text();
};

async function open(t: TestContext): Promise<Place> {
  // Said by no one, as on a node that was just installed: strangers stay out.
  const place = await podNode(t, { config: { authentication: { webhook: { enabled: false } } } });
  // Patient: a container that is ended for its probe would be counted again.
  const probe = { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 60 };
  // The pod that was recorded, with a probe more: it has no place in the status.
  const spec = {
    containers: [
      runs('c', 'while :; do sleep 1000; done', { resources: { requests: { cpu: '10m' } }, livenessProbe: probe }),
    ],
  };
  await place.write('web', spec, { labels: { app: 's' }, namespace: 'default' });
  await place.running('web', 'c');
  return { place, kubelet: kubeletClient(place.node) };
}

async function pods({ kubelet, place }: Place): Promise<void> {
  const list = await until('the pod is ready', async () => {
    const found = await json(kubelet, '/pods');
    return found.items[0]?.status?.containerStatuses?.[0]?.ready ? found : undefined;
  });
  const theirs = JSON.parse(recorded('pods.json'));
  const { livenessProbe: _probe, ...container } = list.items[0].spec.containers[0];
  const ours = { ...list, items: [{ ...list.items[0], spec: { ...list.items[0].spec, containers: [container] } }] };
  assert.deepEqual(shapeOf(ours).toSorted(), shapeOf(theirs).toSorted());
  assert.equal(list.items[0].metadata.name, `web-${place.node.nodeName}`);
  assert.deepEqual([list.kind, list.apiVersion, list.metadata], ['PodList', 'v1', {}]);

  const running = await json(kubelet, '/runningpods/');
  assert.deepEqual(shapeOf(running).toSorted(), shapeOf(JSON.parse(recorded('runningpods.json'))).toSorted());
  assert.equal(running.items[0].metadata.uid, list.items[0].metadata.uid);
  const redirect = await kubelet.request('/runningpods');
  assert.deepEqual([redirect.status, redirect.headers.location], [307, '/runningpods/']);
}

async function configuration({ kubelet }: Place): Promise<void> {
  const { kubeletconfig } = await json(kubelet, '/configz');
  const theirs = JSON.parse(recorded('configz.json')).kubeletconfig;
  const conditional = new Set(['staticPodPath', 'clusterDomain', 'clusterDNS', 'readOnlyPort']);
  const missing = Object.keys(theirs).filter((name) => !(name in kubeletconfig) && !conditional.has(name));
  assert.deepEqual(missing, []);
  assert.equal(kubeletconfig.tlsCertFile, '/var/lib/kubelet/pki/kubelet.crt');

  const flagz = await text(kubelet, '/flagz');
  const names = (page: string) =>
    page
      .split('\n')
      .slice(3, -1)
      .map((line) => line.split(':')[0]);
  assert.deepEqual(flagz.split('\n').slice(0, 3), recorded('flagz.txt').split('\n').slice(0, 3));
  // Ours has more: those of older versions that it still takes.
  const shown = new Set(names(flagz));
  assert.deepEqual(
    names(recorded('flagz.txt')).filter((name) => !shown.has(name)),
    [],
  );
  const accept = 'application/json;as=Flagz;v=v1beta1;g=config.k8s.io';
  const object = JSON.parse(await text(kubelet, '/flagz', { accept }));
  assert.deepEqual(
    [object.kind, object.apiVersion, object.metadata.name, object.flags.port],
    ['Flagz', 'config.k8s.io/v1beta1', 'kubelet', '10250'],
  );
  const refused = await kubelet.request('/flagz', 'GET', { accept: 'application/cbor' });
  assert.deepEqual([refused.status, JSON.parse(refused.text()).reason], [406, 'NotAcceptable']);

  const statusz = await text(kubelet, '/statusz');
  const form = (page: string) => page.replace(/= .*/g, '=').replace(/\n+$/, '\n');
  assert.equal(form(statusz), form(recorded('statusz.txt')));
  assert.match(
    statusz,
    /^Started= \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d UTC \d{4}\nUp= 0 hr \d\d min \d\d sec\n.*^Paths= \/configz \/debug \/flagz \/healthz \/metrics$/ms,
  );
}

async function health({ kubelet }: Place): Promise<void> {
  assert.equal(await text(kubelet, '/healthz'), 'ok');
  assert.match(
    await text(kubelet, '/healthz?verbose'),
    /^\[\+\]ping ok\n\[\+\]log ok\n\[\+\]syncloop ok\n.*healthz check passed\n$/s,
  );
  assert.equal(await text(kubelet, '/healthz/ping'), 'ok');
  assert.equal((await kubelet.request('/healthz/nope')).status, 404);
  assert.match(await text(kubelet, '/metrics/slis'), /kubernetes_healthcheck\{name="ping",type="healthz"\} 1\n/);
}

async function metrics({ kubelet, place }: Place): Promise<void> {
  const value = (page: string, name: string) =>
    Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(page)?.[1]);
  const page = await text(kubelet, '/metrics');
  // Every line is a comment or a sample, and every family comes with its type.
  const bad = page
    .split('\n')
    .filter(
      (line) =>
        !/^$|^# (HELP|TYPE) \w+ .+$|^\w+(\{\w+="(\\.|[^"\\])*"(,\w+="(\\.|[^"\\])*")*\})? (NaN|[+-]Inf|[-\d.e+]+)$/.test(
          line,
        ),
    );
  assert.deepEqual(bad, []);
  assert.equal(value(page, 'kubelet_running_pods'), 1);
  assert.equal(value(page, 'kubelet_running_containers{container_state="running"}'), 1);
  assert.equal(value(page, 'kubelet_started_pods_total'), 1);
  assert.equal(value(page, 'kubelet_started_containers_total{container_type="container"}'), 1);
  assert.equal(value(page, 'kubelet_desired_pods{static="true"}'), 1);
  assert.equal(value(page, `kubelet_node_name{node="${place.node.nodeName}"}`), 1);
  assert.ok(value(page, 'kubelet_runtime_operations_total{operation_type="run_podsandbox"}') >= 1);
  assert.ok(value(page, 'process_resident_memory_bytes') > 30e6);
  assert.ok(value(page, 'kubelet_pod_start_duration_seconds_count') === 1);
  for (const step of ['admitted', 'volumes', 'sandbox', 'create', 'start', 'ready'])
    assert.equal(value(page, `kubelet_ts_pod_start_step_duration_seconds_count{step="${step}"}`), 1, step);
  assert.ok(
    value(page, 'kubelet_http_requests_total{long_running="false",method="GET",path="pods",server_type="readwrite"}') >=
      1,
  );
  const packed = await kubelet.request('/metrics', 'GET', { 'accept-encoding': 'gzip' });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.ok(packed.body.length < page.length / 2);
  await until('a probe was counted', async () => {
    const probes = await text(kubelet, '/metrics/probes');
    return /prober_probe_total\{container="c",namespace="default",pod="web-[^"]+",pod_uid="[^"]+",probe_type="Liveness",result="successful"\} \d/.test(
      probes,
    )
      ? true
      : undefined;
  });
}

async function userNamespaces({ kubelet, place }: Place): Promise<void> {
  const counts = async () =>
    /^kubelet_started_user_namespaced_pods_errors_total (\d+)\n(?:#.*\n)*kubelet_started_user_namespaced_pods_total (\d+)$/m
      .exec(await text(kubelet, '/metrics'))
      ?.slice(1)
      .map(Number);
  assert.deepEqual(await counts(), [0, 0]);
  const spec = { hostUsers: false, restartPolicy: 'Never', containers: [runs('c', '', { command: ['/bogus'] })] };
  await place.write('users', spec);
  // The sandbox is there; that its container can't be started counts all the same.
  await until('the failed start is counted', async () => (await counts())?.join() === '1,1' || undefined);
}

async function profiles({ kubelet, place }: Place): Promise<void> {
  assert.match(await text(kubelet, '/debug/pprof/'), /<a href="profile">/);
  const [profile, second] = await Promise.all([
    kubelet.request('/debug/pprof/profile?seconds=5'),
    kubelet.request('/debug/pprof/profile?seconds=5'),
  ]);
  assert.deepEqual([profile.status, second.status].toSorted(), [200, 500]);
  const { nodes, samples } = JSON.parse((profile.status === 200 ? profile : second).text());
  assert.ok(nodes.length > 1 && samples.length > 0);
  const heap = await kubelet.request('/debug/pprof/heap');
  assert.deepEqual([heap.status, heap.text().slice(0, 28)], [405, 'heap snapshots are disabled:']);
  assert.match(await text(kubelet, '/debug/pprof/goroutine'), /^active resources: total \d+\n/);
  assert.match(await text(kubelet, '/debug/pprof/cmdline'), /kubelet/);
  assert.equal((await kubelet.request('/debug/pprof/trace')).status, 501);
  assert.equal((await kubelet.request('/debug/pprof/nope')).status, 404);
  assert.equal((await kubelet.request('/debug/pprof/profile?seconds=x')).status, 400);

  const log = () => readFileSync(place.node.kubelet.logFile, 'utf8');
  const level = (body: string, method = 'PUT') =>
    place.node.gate.request('https://127.0.0.1:10250/debug/flags/v', {
      method,
      body,
      tls: { rejectUnauthorized: false },
      headers: token(place),
    });
  assert.equal((await level('x')).status, 400);
  assert.equal((await level('9'.repeat(100))).status, 400);
  assert.equal((await level('4', 'POST')).status, 406);
  await text(kubelet, '/healthz/ping');
  assert.doesNotMatch(log(), /"HTTP"/);
  assert.equal((await level('4')).text(), 'successfully set klog.logging.verbosity to 4');
  await text(kubelet, '/healthz/ping');
  await until('requests are logged', () => (/"HTTP".*healthz\/ping/.test(log()) ? true : undefined));
  assert.equal((await level('2')).status, 200);
}

const tokenFile = (place: PodNode) => join(place.node.kubeletDirectory, 'server-token');
const token = (place: PodNode) => ({ authorization: `Bearer ${readFileSync(tokenFile(place), 'utf8').trim()}` });

async function locks({ place }: Place): Promise<void> {
  const { gate, address, kubeletDirectory } = place.node;
  const tls = { rejectUnauthorized: false };
  const ask = (headers = {}) => gate.request('https://127.0.0.1:10250/pods', { tls, headers });
  assert.deepEqual([(await ask()).status, (await ask()).text()], [401, 'Unauthorized']);
  assert.equal((await ask({ authorization: `Bearer ${'0'.repeat(64)}` })).status, 401);
  assert.equal(statSync(tokenFile(place)).mode & 0o777, 0o600);
  assert.equal(statSync(join(kubeletDirectory, 'pki/kubelet.key')).mode & 0o777, 0o600);
  await assert.rejects(gate.connect(address, 10250), { code: 'ECONNREFUSED' }, 'only loopback unless told otherwise');
  await assert.rejects(gate.connect(address, 10255), { code: 'ECONNREFUSED' });
  const readOnly = async (path: string) => (await gate.request(`http://127.0.0.1:10255${path}`)).status;
  const paths = [
    '/pods',
    '/healthz',
    '/metrics',
    '/metrics/probes',
    '/configz',
    '/logs/',
    '/exec',
    '/exec/a/b/c',
    '/runningpods/',
  ];
  assert.deepEqual(await Promise.all(paths.map(readOnly)), [200, 200, 200, 200, 404, 405, 307, 405, 405]);
  const log = readFileSync(place.node.kubelet.logFile, 'utf8');
  assert.match(log, /gives access to the port of this node" file="\/var\/lib\/kubelet\/server-token"/);
  assert.ok(!log.includes(token(place).authorization.slice(7)));
}

test('the server of a node', async (t) => {
  const place = await open(t);
  await t.test('shows the pods as they should be and as they run', () => pods(place));
  await t.test('shows its configuration, flags and state', () => configuration(place));
  await t.test('shows its health', () => health(place));
  await t.test('counts', () => metrics(place));
  await t.test('counts pods with user namespaces', () => userNamespaces(place));
  await t.test('can be measured, and made to say more', () => profiles(place));
  await t.test('is closed to strangers and to other machines', () => locks(place));
});
