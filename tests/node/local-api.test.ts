/** The local API with stock kubectls, against our kubelet alone on a real containerd: no control plane anywhere. */
import assert from 'node:assert/strict';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { stringify } from 'yaml';
import type { Captured } from '../../tools/machine/capture.ts';
import type { Part } from '../../tools/machine/part.ts';
import { createSupplies } from '../lab/supplies.ts';
import { BUSYBOX, type PodNode, podNode, runs, stays, until } from './pod-support.ts';

const WITHIN_MS = 120_000;

interface Place {
  readonly pods: PodNode;
  readonly directory: string;
  kubectl(args: readonly string[], input?: string): Promise<Captured>;
  /** The output; another exit code than 0 fails the test. */
  ok(args: readonly string[], input?: string): Promise<string>;
  /** Debian's, sixteen versions older. */
  old(args: readonly string[], input?: string): Promise<string>;
  start(name: string, args: readonly string[]): Promise<Part>;
  /** In another program, to which the words of kubectl are passed. */
  inside(program: readonly string[], args: readonly string[], how?: 'one text'): Promise<string>;
  /** With the other kubeconfig. */
  reader(args: readonly string[]): Promise<Captured>;
}

async function open(t: Parameters<typeof podNode>[0]): Promise<Place> {
  const pods = await podNode(t, { env: { KUBELET_TS_LOCAL_API: 'true' } });
  const { node } = pods;
  const supplies = createSupplies(process.env);
  const { kubectl: program } = await supplies.ensure('kubectl');
  const { 'debian-kubectl': oldProgram } = await supplies.ensure('debian-kubectl');
  const directory = join(node.kubeletDirectory, 'local-api');
  const words = (path: string, role = 'kubeconfig') => [path, `--kubeconfig=${join(directory, role)}`];
  const run = (argv: readonly string[], input?: string) => node.exec(argv, input === undefined ? {} : { input });
  const good = (seen: Captured, args: readonly string[]): string => {
    assert.equal(seen.code, 0, `kubectl ${args.join(' ')}: ${seen.stderr}`);
    return seen.stdout;
  };
  return {
    pods,
    directory,
    kubectl: (args, input) => run([...words(program), ...args], input),
    ok: async (args, input) => good(await run([...words(program), ...args], input), args),
    old: async (args, input) => good(await run([...words(oldProgram), ...args], input), args),
    inside: async (outer, args, how) => {
      const all = [...words(program), ...args];
      return good(await run([...outer, ...(how === undefined ? all : [all.join(' ')])]), args);
    },
    reader: (args) => run([...words(program, 'kubeconfig.read-only'), ...args]),
    start: (name, args) => node.start({ name, argv: [...words(program), ...args], env: process.env }),
  };
}

const podOf = (name: string, container: object, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { terminationGracePeriodSeconds: 3, containers: [container], ...more },
});

const SETTINGS = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { colour: 'green' } };
const VOLUME = { volumes: [{ name: 'v', configMap: { name: 'settings' } }] };
const WEB = podOf('web', { ...stays('web'), volumeMounts: [{ name: 'v', mountPath: '/v' }], stdin: true }, VOLUME);
const documents = (...objects: readonly object[]) => objects.map((object) => stringify(object)).join('---\n');

async function appliesAFileOfManyKinds({ kubectl, ok, start }: Place): Promise<void> {
  const watched = await start('watch', ['get', 'pods', '-w']);
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: {} };
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: {} };
  const file = documents(deployment, WEB, service, SETTINGS);
  const applied = await kubectl(['apply', '-f', '-'], file);
  assert.equal(applied.code, 1);
  assert.match(applied.stdout, /^pod\/web created$/m);
  assert.match(applied.stdout, /^configmap\/settings created$/m);
  assert.match(applied.stderr, /Deployment needs a control plane, and this node has none; it accepts .*pods/);
  assert.match(applied.stderr, /Service needs a control plane/);
  await ok(['wait', '--for=condition=Ready', 'pod/web', '--timeout=120s']);
  await watched.waitForLog(/web +1\/1 +Running/, WITHIN_MS);
  await watched.stop();
  assert.match(
    await ok(['apply', '-f', '-'], documents(WEB, SETTINGS)),
    /pod\/web unchanged\nconfigmap\/settings unchanged/,
  );
  const invalid = await kubectl(['apply', '-f', '-'], documents(podOf('Bad', { name: 'a' })));
  assert.match(invalid.stderr, /The Pod "Bad" is invalid:[\s\S]*spec\.containers\[0\]\.image: Required value/);
  const unknown = await kubectl(['apply', '-f', '-'], documents(podOf('b', { name: 'a', imagee: 'x' })));
  assert.match(unknown.stderr, /strict decoding error: unknown field "spec\.containers\[0\]\.imagee"/);
  const dry = await ok(['run', 'dry', `--image=${BUSYBOX}`, '--dry-run=server', '-o', 'jsonpath={.spec.nodeName}']);
  assert.equal(dry, 'node');
  assert.match((await kubectl(['get', 'pod', 'dry'])).stderr, /pods "dry" not found/);
}

async function showsWhatThereIs({ ok, old }: Place): Promise<void> {
  assert.match(await ok(['get', 'nodes']), /^node +Ready /m);
  assert.match(await ok(['get', 'pods', '-A', '-o', 'wide']), /static-node +1\/1 +Running .* 10\.\d+\.\d+\.\d+ +node/);
  assert.match(await ok(['describe', 'pod', 'web']), /Reason[\s\S]*Started +.*Container started/);
  assert.match(await ok(['events', '--for', 'pod/web']), /Started/);
  assert.match(await ok(['explain', 'pod.spec.containers.image']), /FIELD: image <string>/);
  assert.equal(await ok(['get', 'pods', '-l', 'app=web', '-o', 'name']), 'pod/web\n');
  assert.equal(await ok(['get', 'pods', '--field-selector', 'metadata.name!=web', '-o', 'name']), 'pod/static-node\n');
  assert.match(await old(['get', 'pods']), /^web +1\/1 +Running/m);
  assert.match(await old(['apply', '-f', '-'], documents(podOf('old', stays('old')))), /pod\/old created/);
  assert.match(await old(['wait', '--for=condition=Ready', 'pod/old', '--timeout=120s']), /condition met/);
  assert.equal(await old(['exec', 'old', '--', 'echo', 'hello']), 'hello\n');
  await old(['delete', 'pod', 'old']);
}

async function entersContainers({ ok, kubectl, start, pods, directory }: Place): Promise<void> {
  const left = await kubectl(['exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 42']);
  assert.deepEqual([left.code, left.stdout], [42, 'out\n'], left.stderr);
  assert.equal((await ok(['exec', '-i', 'web', '--', 'wc', '-c'], 'x'.repeat(100_000))).trim(), '100000');
  const [there, back] = [join(directory, '..', 'there'), join(directory, '..', 'back')];
  await writeFile(there, 'y'.repeat(300_000));
  await ok(['cp', there, 'web:/tmp/copy']);
  await ok(['cp', 'web:/tmp/copy', back]);
  assert.equal(await readFile(back, 'utf8'), 'y'.repeat(300_000));
  await ok(['apply', '-f', '-'], documents(podOf('echo', runs('main', 'echo up; exec nc -ll -p 7070 -e cat'))));
  await ok(['wait', '--for=condition=Ready', 'pod/echo', '--timeout=120s']);
  const forward = await start('forward', ['port-forward', 'echo', '17070:7070']);
  await forward.waitForLog(/Forwarding from 127/, WITHIN_MS);
  const socket = await pods.node.gate.connect('127.0.0.1', 17_070);
  socket.end('ping');
  assert.equal((await buffer(socket)).toString(), 'ping');
  await forward.stop();
  await ok(
    ['apply', '-f', '-'],
    documents(
      podOf('count', runs('main', 'for i in 1 2 3; do echo line $i; sleep 0.3; done'), { restartPolicy: 'Never' }),
    ),
  );
  await until('the pod has a log', async () => ((await kubectl(['logs', 'count'])).code === 0 ? true : undefined));
  assert.equal(await ok(['logs', '-f', 'count']), 'line 1\nline 2\nline 3\n');
  await ok(['wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/count', '--timeout=120s']);
  await ok(['delete', 'pod', 'count', 'echo']);
}

async function changes({ ok, kubectl }: Place): Promise<void> {
  await ok(['label', 'pod', 'web', 'tier=front']);
  await ok(['annotate', 'pod', 'web', 'note=x']);
  for (const [type, patch] of [
    ['strategic', '{"metadata":{"labels":{"by":"strategic"}}}'],
    ['merge', '{"metadata":{"labels":{"by":"merge"}}}'],
    ['json', '[{"op":"replace","path":"/metadata/labels/by","value":"json"}]'],
  ] as const) {
    await ok(['patch', 'pod', 'web', `--type=${type}`, '-p', patch]);
    assert.equal(await ok(['get', 'pod', 'web', '-o', 'jsonpath={.metadata.labels.by}']), type);
  }
  const edited = await kubectl(['patch', 'pod', 'web', '-p', '{"spec":{"hostNetwork":true}}']);
  assert.match(edited.stderr, /pod updates may not change fields other than/);
  const own = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned' } };
  const applied = (data: object, ...more: readonly string[]) =>
    kubectl(['apply', '--server-side', ...more, '-f', '-'], documents({ ...own, data }));
  assert.equal((await applied({ a: '1', b: '1' }, '--field-manager=one')).code, 0);
  const clash = await applied({ a: '2' }, '--field-manager=two');
  assert.match(clash.stderr, /conflict with "one"/);
  assert.equal((await applied({ a: '2' }, '--field-manager=two', '--force-conflicts')).code, 0);
  assert.equal((await applied({ b: '3' }, '--field-manager=one')).code, 0);
  assert.equal(await ok(['get', 'cm', 'owned', '-o', 'jsonpath={.data}']), '{"a":"2","b":"3"}');
  assert.match(
    await ok(['debug', 'web', `--image=${BUSYBOX}`, '--profile=general', '--', 'sleep', '1000']),
    /^$|Defaulting/,
  );
  await until('the debug container runs', async () => {
    const state = await ok([
      'get',
      'pod',
      'web',
      '-o',
      'jsonpath={.status.ephemeralContainerStatuses[0].state.running}',
    ]);
    return state === '' ? undefined : true;
  });
  // What a pod shows of a config map follows it.
  await ok(['patch', 'cm', 'settings', '-p', '{"data":{"colour":"blue"}}']);
  await until('the file follows the config map', async () =>
    (await ok(['exec', 'web', '--', 'cat', '/v/colour'])) === 'blue' ? true : undefined,
  );
}

async function editsAndResizes({ ok, kubectl, inside }: Place): Promise<void> {
  await inside(['env', 'KUBE_EDITOR=sed -i s/front/back/'], ['edit', 'pod', 'web']);
  assert.equal(await ok(['get', 'pod', 'web', '-o', 'jsonpath={.metadata.labels.tier}']), 'back');
  const resources = { requests: { cpu: '50m', memory: '32Mi' } };
  await ok(['apply', '-f', '-'], documents(podOf('size', { ...stays('size'), resources })));
  await ok(['wait', '--for=condition=Ready', 'pod/size', '--timeout=60s']);
  const sized = (requests: object) => {
    const patch = JSON.stringify({ spec: { containers: [{ name: 'size', resources: { requests } }] } });
    return kubectl(['patch', 'pod', 'size', '--subresource=resize', '-p', patch]);
  };
  assert.equal((await sized({ cpu: '80m' })).code, 0);
  await until('the new size is in force', async () => {
    const path = 'jsonpath={.status.containerStatuses[0].resources.requests.cpu}';
    return (await ok(['get', 'pod', 'size', '-o', path])) === '80m' ? true : undefined;
  });
  assert.match((await sized({ cpu: null })).stderr, /resource requests cannot be removed/);
  await ok(['delete', 'pod', 'size']);
}

async function talks({ ok, kubectl, inside }: Place): Promise<void> {
  const inTerminal = ['script', '--quiet', '--return', '/dev/null', '--command'];
  const shown = await inside(
    inTerminal,
    ['exec', '-it', 'web', '--', 'sh', '-c', '"test -t 0 && echo a terminal"'],
    'one text',
  );
  assert.match(shown, /^a terminal\r?$/m);
  const talk = { ...runs('talk', 'exec cat'), stdin: true, stdinOnce: true };
  await ok(['apply', '-f', '-'], documents(podOf('talk', talk, { restartPolicy: 'Never' })));
  await ok(['wait', '--for=condition=Ready', 'pod/talk', '--timeout=60s']);
  assert.match((await kubectl(['attach', '-i', 'talk'], 'hello\n')).stdout, /hello/);
  await ok(['wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/talk', '--timeout=60s']);
  await ok(['delete', 'pod', 'talk']);
}

async function measures({ ok, old }: Place): Promise<void> {
  await until('the node is measured', async () => ((await ok(['top', 'node'])).includes('node ') ? true : undefined));
  assert.match(await ok(['top', 'node', '--no-headers']), /^node +\d+m +\d+% +\d+Mi +\d+%/);
  await until('the pods are measured', async () => {
    const rows = await ok(['top', 'pod', '--containers', '--no-headers']).catch(() => '');
    return /^static-node +static +\d+m +\d+Mi/m.test(rows) && /^web +web +\d+m +\d+Mi/m.test(rows) ? true : undefined;
  });
  assert.match(await old(['top', 'pod', 'web', '--no-headers']), /^web +\d+m +\d+Mi/);
  const pages = await ok(['get', 'pods', '-A', '--chunk-size=1', '-o', 'name']);
  assert.equal(pages, await ok(['get', 'pods', '-A', '--chunk-size=0', '-o', 'name']));
  assert.equal((await ok(['auth', 'can-i', 'delete', 'pods'])).trim(), 'yes');
}

/** A projected token is signed by the node, for whom the pod says. */
async function issuesTokens({ ok }: Place): Promise<void> {
  assert.match(await ok(['create', 'token', 'default', '--duration=20m']), /^[\w-]+\.[\w-]+\.[\w-]+\n?$/);
  const mount = { ...stays('token'), volumeMounts: [{ name: 't', mountPath: '/t' }] };
  const sources = [{ serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 900 } }];
  await ok(
    ['apply', '-f', '-'],
    documents(podOf('token', mount, { volumes: [{ name: 't', projected: { sources } }] })),
  );
  await ok(['wait', '--for=condition=Ready', 'pod/token', '--timeout=60s']);
  const [, claims = ''] = (await ok(['exec', 'token', '--', 'cat', '/t/token'])).split('.');
  const { aud, sub, exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  assert.deepEqual([aud, sub, exp - iat], [['vault'], 'system:serviceaccount:default:default', 900]);
  await ok(['delete', 'pod', 'token']);
}

async function keepsEverythingThroughAKill({ ok, pods, directory }: Place): Promise<void> {
  const idOf = () => ok(['get', 'pod', 'web', '-o', 'jsonpath={.status.containerStatuses[0].containerID}']);
  const before = await idOf();
  const names = ['k0', 'k1', 'k2', 'k3', 'k4'];
  await ok(['apply', '-f', '-'], documents(...names.map((name) => podOf(name, stays(name)))));
  await ok(['delete', 'pod', 'k4', '--wait=false']);
  await pods.node.kubelet.kill();
  await pods.node.kubelet.start();
  await ok(['wait', '--for=condition=Ready', 'pod', ...names.slice(0, 4), '--timeout=120s']);
  await ok(['wait', '--for=delete', 'pod/k4', '--timeout=120s']);
  assert.equal(await idOf(), before, 'the container is the same');
  assert.equal(await ok(['get', 'cm', 'settings', '-o', 'jsonpath={.data.colour}']), 'blue');
  for (const name of ['kubeconfig', 'kubeconfig.read-only', 'objects.journal', 'administrator.token', 'reader.token']) {
    assert.equal((await stat(join(directory, name))).mode & 0o777, 0o600, name);
  }
  await ok(['delete', 'pod', ...names.slice(0, 4), '--grace-period=0', '--force']);
}

async function asksWhoComes({ reader, pods }: Place): Promise<void> {
  assert.equal((await reader(['get', 'pods'])).code, 0);
  assert.match(
    (await reader(['get', 'secrets'])).stderr,
    /secrets is forbidden: User "local-reader" cannot list resource "secrets"/,
  );
  assert.match((await reader(['delete', 'pod', 'web'])).stderr, /pods "web" is forbidden/);
  assert.match((await reader(['exec', 'web', '--', 'ls'])).stderr, /forbidden/i);
  assert.equal((await reader(['logs', 'web'])).code, 0);
  const curl = await pods.node.exec([
    'curl',
    '-sk',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code}',
    'https://127.0.0.1:10260/api/v1/pods',
  ]);
  assert.equal(curl.stdout, '401', curl.stderr);
}

/** These commands send protobuf. */
async function createsByCommand({ ok }: Place): Promise<void> {
  await ok(['create', 'secret', 'generic', 'login', '--from-literal=user=ada', '--from-literal=empty=']);
  const secret = await ok(['get', 'secret', 'login', '-o', 'jsonpath={.type} {.data}']);
  assert.equal(secret, 'Opaque {"empty":"","user":"YWRh"}');
  await ok(['create', 'configmap', 'words', '--from-literal=a=b']);
  assert.equal(await ok(['get', 'cm', 'words', '-o', 'jsonpath={.data.a}']), 'b');
  await ok(['create', 'serviceaccount', 'robot']);
  assert.match(await ok(['get', 'sa']), /^robot /m);
  await ok(['run', 'once', `--image=${BUSYBOX}`, '--restart=Never', '--command', '--', 'true']);
  await ok(['wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/once', '--timeout=120s']);
  await ok(['delete', 'pod/once', 'cm/words', 'secret/login', 'sa/robot']);
}

async function servesStaticPods({ ok, pods }: Place): Promise<void> {
  const mounted = { ...stays('conf'), volumeMounts: [{ name: 'v', mountPath: '/v' }] };
  const path = await pods.write('conf', { containers: [mounted], ...VOLUME });
  await pods.running('conf', 'conf');
  assert.equal(await ok(['exec', 'conf-node', '--', 'cat', '/v/colour']), 'blue');
  await rm(path);
  await ok(['wait', '--for=delete', 'pod/conf-node', '--timeout=120s']);
}

/** The image is nowhere: the explanation says which step waits, and who has to act. */
async function explains({ ok, pods, directory }: Place): Promise<void> {
  const missing = { name: 'main', image: 'lab.local/none:1', imagePullPolicy: 'Never' };
  await ok(['apply', '-f', '-'], documents(podOf('stuck', missing)));
  const { token } = JSON.parse(await readFile(join(directory, 'kubeconfig.read-only'), 'utf8')).users[0].user as {
    token: string;
  };
  const ask = ['curl', '-sk', '-H', `Authorization: Bearer ${token}`, 'https://127.0.0.1:10260/explain/default/stuck'];
  interface Step {
    readonly lastError?: { readonly reason: string };
    readonly state: { readonly kind: string; readonly actor?: string };
  }
  const waiting = await until('the explanation names the image', async () => {
    const { steps = [] } = JSON.parse((await pods.node.exec(ask)).stdout) as { steps?: readonly Step[] };
    return steps.find(({ lastError }) => lastError?.reason === 'ErrImageNeverPull');
  });
  assert.deepEqual([waiting.state.kind, waiting.state.actor], ['waiting', 'user']);
  await ok(['delete', 'pod', 'stuck']);
}

async function deletes({ ok, kubectl, pods }: Place): Promise<void> {
  await ok(['create', 'namespace', 'other']);
  await ok(['-n', 'other', 'apply', '-f', '-'], documents(podOf('there', stays('there'))));
  await ok(['-n', 'other', 'wait', '--for=condition=Ready', 'pod/there', '--timeout=120s']);
  await ok(['delete', 'namespace', 'other', '--timeout=120s']);
  assert.match((await kubectl(['get', 'namespace', 'other'])).stderr, /namespaces "other" not found/);
  await ok(['delete', 'pod', 'web', '--timeout=120s']);
  assert.equal(await ok(['get', 'pods', '-o', 'name']), 'pod/static-node\n');
  const left = await pods.cri.containers.list(
    { labelSelector: { 'io.kubernetes.pod.name': 'web' } },
    new AbortController().signal,
  );
  assert.deepEqual(left, [], 'nothing of it is left in the runtime');
}

test('local API: kubectl drives a kubelet that has no control plane', { timeout: 600_000 }, async (t) => {
  const place = await open(t);
  await place.pods.write('static', { containers: [stays('static')] });
  await place.pods.running('static', 'static');
  const parts = {
    appliesAFileOfManyKinds,
    showsWhatThereIs,
    entersContainers,
    changes,
    editsAndResizes,
    talks,
    measures,
    issuesTokens,
    keepsEverythingThroughAKill,
    asksWhoComes,
    createsByCommand,
    servesStaticPods,
    explains,
    deletes,
  };
  for (const [name, part] of Object.entries(parts)) await t.test(name, () => part(place));
});
