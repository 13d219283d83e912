/** Who gets into our kubelet in a real cluster: real TokenReviews and SubjectAccessReviews, certificates of the cluster, a real Prometheus. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { ensurePackages } from '../../tools/machine/packages.ts';
import type { ApiObject } from '../lab/cluster/api.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import type { KeyPair } from '../lab/cluster/pki.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { lab } from '../lab/lab.ts';
import { writeStaticPod } from '../lab/static-pods.ts';
import { runs, until } from '../node/pod-support.ts';

const OURS = resolve(import.meta.dirname, '../../dist/kubelet');
const NODE = 'node-1';
const TTL_MS = 2000;
/** The API server remembers by itself that a token was good. */
const API_SERVER_REMEMBERS_MS = 10_000;
const PODS = '/api/v1/namespaces/default/pods';
const EXEC = '/exec/a/b/c?command=id&output=1';

interface Credentials {
  readonly token?: string;
  readonly pair?: KeyPair;
}

/** Straight to the kubelet, at the address that the API server uses too. */
async function ask(cluster: Cluster, path: string, { token, pair }: Credentials = {}, method = 'GET') {
  const { gate, address } = cluster.node;
  const client = pair && { cert: readFileSync(pair.cert), key: readFileSync(pair.key) };
  const answer = await gate.request(`https://${address}:10250${path}`, {
    method,
    tls: { rejectUnauthorized: false, ...client },
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  return { status: answer.status, text: answer.text() };
}

async function account(cluster: Cluster, name: string, rules: readonly object[]): Promise<string> {
  await cluster.kubectl('create', 'serviceaccount', name);
  await allow(cluster, name, rules);
  return (await cluster.kubectl('create', 'token', name)).trim();
}

async function allow(cluster: Cluster, name: string, rules: readonly object[]): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  const path = `/apis/${group}/v1`;
  await cluster.admin.create(`${path}/clusterroles`, {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRole',
    metadata: { name },
    rules,
  });
  await cluster.admin.create(`${path}/clusterrolebindings`, {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
  });
  await untilAllowed(cluster, name, rules as readonly ReturnType<typeof may>[]);
}

/** The API server's authorizer learns of a role a moment after it was made. */
async function untilAllowed(cluster: Cluster, name: string, rules: readonly ReturnType<typeof may>[]): Promise<void> {
  const user = `system:serviceaccount:default:${name}`;
  for (const { resources, verbs } of rules) {
    const [resource, subresource] = (resources[0] ?? '').split('/');
    const spec = { user, resourceAttributes: { verb: verbs[0], resource, subresource } };
    await until(`${name} may ${verbs[0]} ${resources[0]}`, async () => {
      const review = await cluster.admin.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
      return (review.status as { readonly allowed?: boolean }).allowed ? true : undefined;
    });
  }
}

const may = (resource: string, ...verbs: readonly string[]) => ({ apiGroups: [''], resources: [resource], verbs });

async function certificates(cluster: Cluster): Promise<void> {
  const { pki } = cluster;
  const status = async (pair?: KeyPair) => (await ask(cluster, '/pods', pair && { pair })).status;
  const nobody = await pki.ca.issue({ file: 'nobody', commonName: 'nobody', usage: 'client' });
  const stranger = await pki.frontProxyCa.issue({
    file: 'stranger',
    commonName: 'admin',
    organizations: ['system:masters'],
    usage: 'client',
  });
  assert.deepEqual(
    [
      await status(),
      await status(stranger),
      await status(nobody),
      await status(pki.admin),
      await status(pki.kubeletClient),
    ],
    [401, 401, 403, 200, 200],
  );
  const { text } = await ask(cluster, '/pods', { pair: nobody });
  assert.equal(text, 'Forbidden (user=nobody, verb=get, resource=nodes, subresource(s)=[pods proxy])\n');
}

async function rights(cluster: Cluster): Promise<void> {
  const statuses = async (token: string) => {
    const paths = ['/metrics', '/pods', '/healthz', '/configz', '/statusz', '/flagz', '/containerLogs/a/b/c', EXEC];
    return await Promise.all(paths.map(async (path) => (await ask(cluster, path, { token })).status));
  };
  const metrics = await account(cluster, 'metrics', [may('nodes/metrics', 'get')]);
  assert.deepEqual(await statuses(metrics), [200, 403, 403, 403, 403, 403, 403, 403]);
  const pods = await account(cluster, 'pods', [
    may('nodes/pods', 'get'),
    may('nodes/healthz', 'get'),
    may('nodes/configz', 'get'),
  ]);
  assert.deepEqual(await statuses(pods), [403, 200, 200, 200, 403, 200, 403, 403]);
  // Whoever may read everything may still not enter a container by a GET.
  const reader = await account(cluster, 'reader', [may('nodes/proxy', 'get')]);
  assert.deepEqual(await statuses(reader), [403, 200, 200, 200, 403, 403, 404, 403]);
  const { text } = await ask(cluster, EXEC, { token: reader });
  assert.match(
    text,
    /^Forbidden \(user=system:serviceaccount:default:reader, verb=create, resource=nodes, subresource\(s\)=\[proxy\]\)/,
  );
  const runner = await account(cluster, 'runner', [may('nodes/proxy', 'create')]);
  const missing = await ask(cluster, EXEC, { token: runner });
  assert.deepEqual([missing.status, JSON.parse(missing.text).reason], [404, 'NotFound']);
  assert.equal((await ask(cluster, '/pods', { token: 'nonsense' })).status, 401);
}

async function throughApiServer(cluster: Cluster): Promise<void> {
  const list = await cluster.admin.get(`/api/v1/nodes/${NODE}/proxy/pods`);
  assert.equal(list.kind, 'PodList');
  assert.match(
    await cluster.kubectl('get', '--raw', `/api/v1/nodes/${NODE}/proxy/metrics`),
    /^kubelet_node_name\{node="node-1"\} 1$/m,
  );
}

/** The API server knows a static pod by the UID of its mirror, and its clients pass that one on. */
async function mirrors(cluster: Cluster): Promise<void> {
  await writeStaticPod(cluster.node, { name: 'fixed', spec: { containers: [runs('main', 'sleep 1000')] } });
  const pair = cluster.pki.admin;
  const pod = `fixed-${NODE}`;
  const own = await until('the pod runs', async () => {
    const { items } = JSON.parse((await ask(cluster, '/runningpods/', { pair })).text);
    const found = (items as readonly ApiObject[]).find(({ metadata }) => metadata?.name === pod);
    return (found?.spec?.['containers'] as readonly unknown[] | null | undefined)?.length
      ? found?.metadata?.['uid']
      : undefined;
  });
  const mirror = await until('it has a mirror', async () => {
    const { items = [] } = (await cluster.admin.get(PODS)) as { items?: readonly ApiObject[] };
    return items.find(({ metadata }) => metadata?.name === pod)?.metadata?.uid;
  });
  assert.notEqual(mirror, own);
  const run = (uid: unknown) => ask(cluster, `/run/default/${pod}/${uid}/main?cmd=echo%20here`, { pair }, 'POST');
  const hello = { status: 200, text: 'here\n' };
  assert.deepEqual([await run(mirror), await run(own)], [hello, hello]);
  assert.equal((await run('4f8e3f1c-0000-4000-8000-000000000000')).status, 404);
  for (const stream of ['exec', 'attach'] as const) {
    const { text } = await ask(
      cluster,
      `/${stream}/default/${pod}/${mirror}/main?command=id&output=1`,
      { pair },
      'POST',
    );
    assert.equal(text, 'Upgrade request required\n', 'the session was not opened');
  }
  const forward = await ask(cluster, `/portForward/default/${pod}/${mirror}`, { pair }, 'POST');
  assert.equal(forward.text, 'Upgrade request required\n');
}

/** What was done until now, for the node and its first pod, has left its traces. */
async function counted(cluster: Cluster): Promise<void> {
  const { text } = await ask(cluster, '/metrics', { pair: cluster.pki.admin });
  const value = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')
        .at(-1),
    );
  for (const name of [
    'kubelet_node_startup_duration_seconds',
    'kubelet_node_startup_registration_duration_seconds',
    'kubelet_pod_status_sync_duration_seconds_count',
    'kubelet_pod_start_duration_seconds_count',
    'kubelet_pod_worker_duration_seconds_count{operation_type="create"}',
    'kubelet_pod_worker_start_duration_seconds_count',
    'kubelet_run_podsandbox_duration_seconds_count{runtime_handler=""}',
    'kubelet_cgroup_manager_duration_seconds_count{operation_type="create"}',
    'kubelet_evented_pleg_connection_success_count',
    'kubelet_pleg_pod_relist_duration_seconds_count',
    'apiserver_client_certificate_expiration_seconds_count',
  ])
    assert.ok(value(name) > 0, `${name} is ${value(name)}`);
  const first = 'present_locally="true",pull_policy="ifnotpresent",pull_required="false"';
  assert.equal(value(`kubelet_image_manager_ensure_image_requests_total{${first}}`), 1);
  assert.match(text, /^rest_client_request_size_bytes_count\{host="[^"]+",verb="POST"\} \d+$/m);
  assert.match(text, /^rest_client_rate_limiter_duration_seconds_count\{host="[^"]+",verb="PATCH"\} \d+$/m);
}

async function revoked(cluster: Cluster): Promise<void> {
  const token = await account(cluster, 'leaver', [may('nodes/metrics', 'get')]);
  const status = async () => (await ask(cluster, '/metrics', { token })).status;
  assert.equal(await status(), 200);
  await cluster.kubectl('delete', 'serviceaccount', 'leaver');
  // The API server remembers it for 10 s, the kubelet for the time that it is told here; its default would be two minutes.
  const within = API_SERVER_REMEMBERS_MS + TTL_MS + 60_000;
  await until(
    'the token of a deleted account is refused',
    async () => ((await status()) === 401 ? true : undefined),
    within,
  );
}

async function apiServerAway(cluster: Cluster): Promise<void> {
  const token = await account(cluster, 'late', [may('nodes/metrics', 'get')]);
  const server = cluster.components['kube-apiserver'];
  const { pki } = cluster;
  const known = { pair: pki.admin };
  assert.equal((await ask(cluster, '/healthz', known)).status, 200);
  await server.stop();
  try {
    const away = await ask(cluster, '/statusz', known);
    assert.equal(away.status, 500);
    assert.match(away.text, /^Authorization error \(user=[^,]+, verb=get, resource=nodes, subresource=statusz\)$/);
    assert.equal((await ask(cluster, '/metrics', { token })).status, 401);
    assert.equal((await ask(cluster, '/metrics')).status, 401);
  } finally {
    await server.start();
  }
  await until('the API server is asked again', async () =>
    (await ask(cluster, '/metrics', { token })).status === 200 ? true : undefined,
  );
}

async function prometheus(cluster: Cluster): Promise<void> {
  const { node } = cluster;
  const directory = node.world.directory;
  const token = await account(cluster, 'prometheus', [may('nodes/metrics', 'get')]);
  await writeFile(join(directory, 'prometheus.token'), token);
  const job = (name: string, path: string) => ({
    job_name: name,
    scheme: 'https',
    metrics_path: path,
    authorization: { credentials_file: join(directory, 'prometheus.token') },
    tls_config: { insecure_skip_verify: true },
    static_configs: [{ targets: [`${node.address}:10250`] }],
  });
  const config = {
    global: { scrape_interval: '2s', scrape_timeout: '2s' },
    scrape_configs: [job('kubelet', '/metrics'), job('probes', '/metrics/probes'), job('slis', '/metrics/slis')],
  };
  await writeFile(join(directory, 'prometheus.yml'), JSON.stringify(config));
  const flags = ['--web.listen-address=127.0.0.1:9090', `--storage.tsdb.path=${join(directory, 'prometheus')}`];
  await node.start({
    name: 'prometheus',
    argv: ['prometheus', `--config.file=${join(directory, 'prometheus.yml')}`, ...flags],
  });
  const query = async (text: string) => {
    const url = `http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent(text)}`;
    const answer = await node.gate.request(url).catch(() => undefined);
    return answer?.status === 200
      ? (JSON.parse(answer.text()).data.result as readonly {
          metric: Record<string, string>;
          value: [number, string];
        }[])
      : [];
  };
  const up = await until('all targets are up', async () => {
    const found = await query('up == 1');
    return found.length === 3 ? found : undefined;
  }).catch(async () => assert.fail((await node.gate.request('http://127.0.0.1:9090/api/v1/targets')).text()));
  assert.deepEqual(up.map(({ metric }) => metric['job']).toSorted(), ['kubelet', 'probes', 'slis']);
  const [name] = await query('kubelet_node_name');
  assert.equal(name?.metric['node'], NODE);
  await until('a rate can be told', async () =>
    (await query('rate(process_cpu_seconds_total{job="kubelet"}[1m])')).length === 1 ? true : undefined,
  );
  const [requests] = await query('sum(rest_client_requests_total{job="kubelet"})');
  assert.ok(Number(requests?.value[1]) > 0);
}

test('the server of a node in a cluster', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  await ensurePackages(['prometheus'], (line) => t.diagnostic(line));
  await using cluster = await lab.cluster({ kubelet: 'none', nodeName: NODE, test: t });
  const { config = {}, flags = [] } = cluster.kubeletSettings;
  const authentication = config['authentication'] as Readonly<Record<string, object>>;
  const short = {
    authentication: { ...authentication, webhook: { enabled: true, cacheTTL: `${TTL_MS}ms` } },
    authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: `${TTL_MS}ms`, cacheUnauthorizedTTL: '500ms' } },
  };
  await cluster.node.kubelet.start({ binary: OURS, config: { ...config, ...short }, flags });
  await cluster.waitUntilNodeReady();
  await t.test('knows its clients by their certificates', () => certificates(cluster));
  await t.test('gives each account what its roles say, and no more', () => rights(cluster));
  await t.test('is reached through the API server', () => throughApiServer(cluster));
  await t.test('knows a static pod by the UID of its mirror too', () => mirrors(cluster));
  await t.test('counts', () => counted(cluster));
  await t.test('refuses a token that was revoked, within its time', () => revoked(cluster));
  await t.test('is scraped by a Prometheus with the token of a service account', () => prometheus(cluster));
  await t.test('lets no one in whom the API server can no longer vouch for', () => apiServerAway(cluster));
});
