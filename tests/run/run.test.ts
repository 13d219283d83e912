/** `make run`: what it shows, and that Ctrl-C leaves nothing of it on the machine. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { capture } from '../../tools/machine/capture.ts';
import { listTrees, readHierarchies } from '../../tools/machine/cgroup-trees.ts';
import { findLeftovers } from '../../tools/machine/ledger.ts';
import { ownerOf } from '../../tools/machine/owner.ts';
import { ensurePackages } from '../../tools/machine/packages.ts';
import { demoPlace } from '../../tools/run/place.ts';
import { createSupplies } from '../lab/supplies.ts';

const PROGRAM = resolve(import.meta.dirname, '..', '..', 'tools', 'run', 'main.ts');
const READY = /Ctrl-C stops all of it/;

/** Names of its own, so that somebody's demo on this machine is left alone. */
const env = { ...process.env, KUBELET_TS_DEMO: `demo-test-${process.pid}`, NODE_TEST_CONTEXT: undefined };
const place = demoPlace(env);

interface Running {
  readonly pid: number;
  readonly output: () => string;
  /** The process ids that it names: the kubelet's and containerd's. */
  readonly parts: readonly number[];
  exited(): Promise<Exit>;
  end(signal: NodeJS.Signals): Promise<Exit>;
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

async function startRun(t: TestContext, args: readonly string[] = []): Promise<Running> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGINT'));
  let output = '';
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const ready = new Promise<void>((done) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
        if (READY.test(output)) done();
      });
    }
  });
  const first = await Promise.race([ready.then(() => 'ready' as const), exited]);
  assert.equal(first, 'ready', output);
  const [, kubelet = '', containerd = ''] = /kubelet (\d+), containerd (\d+)/.exec(output) ?? [];
  const running: Running = {
    pid: child.pid ?? 0,
    output: () => output,
    parts: [Number(kubelet), Number(containerd)],
    exited: async () => {
      const [code, signal] = await exited;
      return { code, signal };
    },
    end: (signal) => {
      child.kill(signal);
      return running.exited();
    },
  };
  return running;
}

/** Everything that a node could leave on the machine, but for the cgroups of other worlds, which come and go meanwhile. */
async function machineState(): Promise<Record<string, unknown>> {
  const hierarchies = await readHierarchies();
  const isOfOthers = (name: string) => name.startsWith('kubelet-ts-') && !name.startsWith(place.cgroupPrefix);
  const cgroups = (await listTrees(hierarchies, '')).filter((name) => !isOfOthers(name));
  return {
    // Unit tests mount below the directory for temporary files; a node does not.
    mounts: (await readFile('/proc/self/mounts', 'utf8')).split('\n').filter((line) => !line.includes(` ${tmpdir()}/`)),
    cgroups,
    interfaces: Object.keys(networkInterfaces()).sort(),
    links: (await capture(['ip', '-brief', 'link'])).stdout,
    rules: (await capture(['iptables-save'])).stdout.replace(/^#.*\n|\[\d+:\d+\]/gm, ''),
    namedNamespaces: existsSync('/run/netns') ? (await capture(['ls', '/run/netns'])).stdout : '',
  };
}

const portOf = (output: string, path: string): string => {
  const port = new RegExp(`curl http://127\\.0\\.0\\.1:(\\d+)${path}`).exec(output)?.[1];
  assert.ok(port !== undefined, output);
  return port;
};

async function assertNothingLeft(before: Record<string, unknown>, run: Running): Promise<void> {
  assert.deepEqual(await machineState(), before);
  assert.deepEqual(await findLeftovers(place), []);
  assert.ok(!existsSync(place.root));
  for (const pid of run.parts) assert.equal(ownerOf(pid), undefined, `process ${pid}`);
}

async function assertPage(run: Running): Promise<void> {
  const page = await fetch(`http://127.0.0.1:${portOf(run.output(), '/\\n')}/`);
  assert.match(await page.text(), /Hello from a pod/);
}

// What a person would ask with, and what this test looks at the machine with.
before(() => ensurePackages(['curl', 'iproute2'], console.error));

test('it shows our kubelet with a pod on a containerd of its own, and Ctrl-C takes all of it away', async (t) => {
  const before = await machineState();
  const run = await startRun(t);
  const health = await fetch(`http://127.0.0.1:${portOf(run.output(), '/healthz')}/healthz`);
  assert.deepEqual([health.status, await health.text()], [200, 'ok']);
  await assertPage(run);
  const [, curl = ''] = /^ +pods +(curl .*)$/m.exec(run.output()) ?? [];
  const pods = await capture(['sh', '-c', `${curl} --silent`]);
  assert.match(pods.stdout, /"name":"hello-demo"/, `${curl}: ${pods.stderr}`);
  const [, kubectl = ''] = /^ +kubectl +(kubectl .*) get pods$/m.exec(run.output()) ?? [];
  const listed = await capture(['sh', '-c', `${kubectl} get pods`]);
  assert.match(listed.stdout, /^hello-demo +1\/1 +Running/m, `${kubectl}: ${listed.stderr}`);
  const [, browser = ''] = /^ +in a browser +(http\S+)$/m.exec(run.output()) ?? [];
  assert.match(await (await fetch(browser)).text(), /<title>kubelet<\/title>/);
  const [, another = ''] = /^ +another pod +(kubectl .*)$/m.exec(run.output()) ?? [];
  assert.equal((await capture(['sh', '-c', another])).code, 0, another);
  const ready = await capture(['sh', '-c', `${kubectl} wait --for=condition=Ready pod/mine --timeout=60s`]);
  assert.equal(ready.code, 0, ready.stderr);
  const socket = join(place.root, 'node', 'containerd', 'containerd.sock');
  const version = await capture(['ctr', '--address', socket, 'version']);
  assert.equal(version.code, 0, version.stderr);

  const second = await capture([process.execPath, PROGRAM], { env });
  assert.equal(second.code, 1);
  assert.match(second.stderr, new RegExp(`another .make run. \\(process ${run.pid}\\)`));

  assert.deepEqual(await run.end('SIGINT'), { code: 0, signal: null });
  await assertNothingLeft(before, run);
});

test('it shows another kubelet as well: the reference runs the same pod', async (t) => {
  const before = await machineState();
  const run = await startRun(t, ['--kubelet', await createSupplies(process.env).referenceKubelet()]);
  await assertPage(run);
  assert.deepEqual(await run.end('SIGTERM'), { code: 0, signal: null });
  await assertNothingLeft(before, run);
});

test('what a killed run left is taken away by the next one', async (t) => {
  const before = await machineState();
  const killed = await startRun(t);
  assert.deepEqual(await killed.end('SIGKILL'), { code: null, signal: 'SIGKILL' });
  assert.ok((await findLeftovers(place)).length > 0);
  const next = await startRun(t);
  for (const pid of killed.parts) assert.equal(ownerOf(pid), undefined, `process ${pid}`);
  await next.end('SIGINT');
  await assertNothingLeft(before, next);
});

test('a kubelet that ends by itself ends the run, with its last words', async (t) => {
  const before = await machineState();
  const run = await startRun(t);
  const [kubelet = 0] = run.parts;
  process.kill(kubelet, 'SIGKILL');
  assert.deepEqual(await run.exited(), { code: 1, signal: null });
  assert.match(run.output(), /the kubelet ended by itself: signal SIGKILL/);
  await assertNothingLeft(before, run);
});

for (const step of ['namespaces', 'containerd-1.6', 'images']) {
  test(`Ctrl-C right after the step "${step}" leaves nothing either`, async () => {
    const before = await machineState();
    const child = spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const exited = once(child, 'exit');
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
      if (output.includes(`✓ ${step}`)) child.kill('SIGINT');
    });
    assert.deepEqual(await exited, [0, null], output);
    assert.deepEqual(await machineState(), before);
    assert.deepEqual(await findLeftovers(place), []);
    assert.ok(!existsSync(place.root));
  });
}
