/** The CRI client against real runtimes of both generations. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSystemClock } from '../../src/base/clock.ts';
import { CodedError, codeOf } from '../../src/base/errors.ts';
import type { ContainerdEvent } from '../../src/runtime/containerd-events.ts';
import { type CriClient, createCriClient } from '../../src/runtime/cri/client.ts';
import { DEFAULT_CRI_TIMEOUTS } from '../../src/runtime/cri/timeouts.ts';
import {
  type ContainerEventResponse,
  ContainerEventType,
  ContainerState,
  NamespaceMode,
  type PodSandboxConfig,
  PodSandboxState,
  SecurityProfileProfileType,
} from '../../src/wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../src/wire/message.ts';
import { type LabNode, lab } from '../lab/lab.ts';

const RUNTIMES = ['containerd-1.6', 'containerd-2.4'] as const;
const BUSYBOX = 'lab.local/busybox:1';
const never = new AbortController().signal;

async function labNode(t: TestContext, runtime: (typeof RUNTIMES)[number]): Promise<{ node: LabNode; cri: CriClient }> {
  const node = await lab.node({ test: t, runtime, kubelet: 'none' });
  const cri = createCriClient({
    endpoint: node.containerd.endpoint,
    clock: createSystemClock(),
    timeouts: { ...DEFAULT_CRI_TIMEOUTS, health: 500 },
  });
  t.after(async () => {
    await cri.close();
    await node[Symbol.asyncDispose]();
  });
  return { node, cri };
}

function sandboxConfig(node: LabNode): Init<PodSandboxConfig> {
  const uid = randomUUID();
  return {
    metadata: { name: 'pod', namespace: 'default', uid },
    hostname: 'pod',
    logDirectory: join(node.podLogsFolder, `default_pod_${uid}`),
    labels: { 'io.kubernetes.pod.uid': uid },
    linux: {
      cgroupParent: `/kubepods/pod${uid}`,
      securityContext: {
        namespaceOptions: { pid: NamespaceMode.CONTAINER },
        seccomp: { profileType: SecurityProfileProfileType.Unconfined },
      },
    },
  };
}

interface RunningPod {
  readonly config: Init<PodSandboxConfig>;
  readonly sandbox: string;
  readonly container: string;
}

async function startPod(cri: CriClient, node: LabNode, script: string): Promise<RunningPod> {
  const config = sandboxConfig(node);
  const sandbox = await cri.sandboxes.run({ config }, never);
  const container = await cri.containers.create(
    {
      podSandboxId: sandbox,
      sandboxConfig: config,
      config: {
        metadata: { name: 'c' },
        image: { image: BUSYBOX },
        command: ['sh', '-c', script],
        envs: [{ key: 'GREETING', value: Buffer.from('grüße') }],
        labels: { 'io.kubernetes.container.name': 'c' },
        logPath: 'c.log',
        linux: { resources: { memoryLimitInBytes: 64 * 1024 * 1024 }, securityContext: {} },
      },
    },
    never,
  );
  await cri.containers.start(container, never);
  return { config, sandbox, container };
}

const SLEEPER = 'trap "exit 7" TERM; echo hello; while :; do sleep 1000 & wait $!; done';

async function eventually<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const until = performance.now() + 20_000;
  while (performance.now() < until) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return assert.fail(`${what}: not within 20 s`);
}

const isCoded =
  (code: string, text = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof CodedError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, text);
    return true;
  };

const bytes = (data: Uint8Array): string => Buffer.from(data).toString();

for (const runtime of RUNTIMES) {
  test(`${runtime}: the runtime tells about itself and its images`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const version = await cri.version(never);
    assert.equal(version.runtimeName, 'containerd');
    assert.match(version.runtimeVersion, runtime === 'containerd-1.6' ? /^1\.6\./ : /^v2\.4\./);
    const status = await cri.status({ verbose: true }, never);
    const ready = status.status?.conditions.find(({ type }) => type === 'RuntimeReady');
    assert.equal(ready?.status, true);
    assert.ok('config' in status.info);
    assert.equal(await cri.cgroupDriver(never), runtime === 'containerd-1.6' ? undefined : 'cgroupfs');
    const images = await cri.images.list(never);
    const busybox = images.find(({ repoTags }) => repoTags.includes(BUSYBOX));
    assert.ok(busybox !== undefined && busybox.size > 100_000);
    assert.equal((await cri.images.status({ image: BUSYBOX }, {}, never)).image?.id, busybox.id);
    assert.equal((await cri.images.status({ image: 'lab.local/none:1' }, {}, never)).image, undefined);
    const [fs] = (await cri.images.fsInfo(never)).imageFilesystems;
    assert.ok(fs !== undefined && Math.abs(Number(fs.timestamp / 1_000_000n) - Date.now()) < 60_000);
    assert.equal(node.containerd.socket, node.runtimeSocket);
  });

  test(`${runtime}: the life of a pod`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const before = BigInt(Date.now()) * 1_000_000n;
    const { config, sandbox, container } = await startPod(cri, node, SLEEPER);

    const pod = await cri.sandboxes.status(sandbox, {}, never);
    assert.equal(pod?.status?.state, PodSandboxState.SANDBOX_READY);
    assert.match(pod?.status?.network?.ip ?? '', /^\d+\.\d+\.\d+\.\d+$/);
    const listed = await cri.sandboxes.list(
      { labelSelector: { 'io.kubernetes.pod.uid': config.metadata?.uid ?? '' } },
      never,
    );
    assert.deepEqual(
      listed.map(({ id }) => id),
      [sandbox],
    );
    assert.deepEqual(await cri.sandboxes.list({ labelSelector: { 'io.kubernetes.pod.uid': 'other' } }, never), []);

    const running = (await cri.containers.status(container, {}, never))?.status;
    assert.equal(running?.state, ContainerState.CONTAINER_RUNNING);
    assert.ok((running?.startedAt ?? 0n) > before);
    const [line] = await cri.containers.list({ podSandboxId: sandbox }, never);
    assert.equal(line?.id, container);
    assert.deepEqual(line?.metadata, { name: 'c', attempt: 0 });

    const exec = (command: string[], timeoutSeconds = 10) =>
      cri.streams.execSync({ containerId: container, command, timeoutSeconds }, never);
    const good = await exec(['sh', '-c', 'echo $GREETING; echo no >&2']);
    assert.deepEqual([bytes(good.stdout), bytes(good.stderr), good.exitCode], ['grüße\n', 'no\n', 0]);
    assert.equal((await exec(['sh', '-c', 'exit 3'])).exitCode, 3);
    await assert.rejects(exec(['sleep', '60'], 1), isCoded('deadline'));
    assert.match(
      await cri.streams.exec({ containerId: container, cmd: ['sh'], stdin: true, stdout: true }, never),
      /^http/,
    );

    const stats = await cri.stats.container(container, never);
    assert.ok((stats?.memory?.workingSetBytes?.value ?? 0) > 0);
    await cri.containers.updateResources(container, { memoryLimitInBytes: 80 * 1024 * 1024 }, never);

    const log = join(config.logDirectory ?? '', 'c.log');
    await eventually('the log line', async () => ((await readFile(log, 'utf8')).includes('hello') ? true : undefined));
    await rename(log, `${log}.1`);
    await cri.containers.reopenLog(container, never);
    assert.equal(await readFile(log, 'utf8'), '');

    await cri.containers.stop(container, 10, never);
    const ended = (await cri.containers.status(container, {}, never))?.status;
    assert.equal(ended?.state, ContainerState.CONTAINER_EXITED);
    assert.equal(ended?.exitCode, 7);
    assert.ok((ended?.finishedAt ?? 0n) > (ended?.startedAt ?? 0n));
    await cri.containers.stop(container, 10, never);
    await cri.containers.remove(container, never);
    await cri.containers.remove(container, never);
    assert.equal(await cri.containers.status(container, {}, never), undefined);
    await cri.containers.stop(container, 10, never);

    await cri.sandboxes.stop(sandbox, never);
    await cri.sandboxes.stop(sandbox, never);
    await cri.sandboxes.remove(sandbox, never);
    await cri.sandboxes.remove(sandbox, never);
    assert.equal(await cri.sandboxes.status(sandbox, {}, never), undefined);
    assert.deepEqual(await cri.sandboxes.list(undefined, never), []);
  });

  test(`${runtime}: errors keep the runtime's words`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const config = sandboxConfig(node);
    const podSandboxId = await cri.sandboxes.run({ config }, never);
    const missing = cri.containers.create(
      {
        podSandboxId,
        sandboxConfig: config,
        config: { metadata: { name: 'c' }, image: { image: 'lab.local/none:1' } },
      },
      never,
    );
    await assert.rejects(missing, isCoded('notFound', /^rpc error: code = NotFound desc = .*lab\.local\/none:1/));
    const pull = cri.images.pull({ image: { image: '127.0.0.1:1/none:1' } }, never);
    await assert.rejects(
      pull,
      isCoded(
        'internal',
        /^rpc error: code = Unknown desc = failed to pull and unpack image "127\.0\.0\.1:1\/none:1".*refused/,
      ),
    );
    await assert.rejects(cri.containers.start('nothing', never), isCoded('notFound'));
  });

  test(`${runtime}: an exec that is cancelled ends its process`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const { container } = await startPod(cri, node, SLEEPER);
    const processes = async () => {
      const { stdout } = await cri.streams.execSync(
        { containerId: container, command: ['ps'], timeoutSeconds: 10 },
        never,
      );
      return bytes(stdout).includes('sleep 4321');
    };
    const controller = new AbortController();
    const reason = new Error('the probe is over');
    const exec = cri.streams.execSync(
      { containerId: container, command: ['sleep', '4321'], timeoutSeconds: 0 },
      controller.signal,
    );
    const outcome = assert.rejects(exec, (error) => error === reason);
    await eventually('the process', async () => ((await processes()) ? true : undefined));
    controller.abort(reason);
    await outcome;
    await eventually('its end', async () => ((await processes()) ? undefined : true));
  });

  test(`${runtime}: containerd's own events`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const events: ContainerdEvent[] = [];
    const stop = new AbortController();
    const watching = cri.watchContainerdEvents((event) => events.push(event), stop.signal);
    const watched = assert.rejects(watching, (error) => error === stop.signal.reason);
    const { container } = await startPod(cri, node, SLEEPER);
    await cri.streams.execSync({ containerId: container, command: ['sh', '-c', 'exit 3'], timeoutSeconds: 10 }, never);
    await cri.containers.stop(container, 10, never);
    const of = (kind: string) => events.filter((event) => event.kind === kind && event.containerId === container);
    await eventually('the exit', () => of('exited').find(({ execId }) => execId === undefined));
    assert.equal(of('started').length, 1);
    assert.deepEqual(
      of('exited').map(({ execId, exitStatus }) => [typeof execId, exitStatus]),
      [
        ['string', 3],
        ['undefined', 7],
      ],
    );
    const exit = of('exited')[1];
    assert.ok(Math.abs(Number((exit?.at ?? 0n) / 1_000_000n) - Date.now()) < 60_000);
    stop.abort(new Error('enough'));
    await watched;
  });

  test(`${runtime}: killed and back, with a call and a stream under way`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const { container } = await startPod(cri, node, SLEEPER);
    const watching = cri.watchContainerdEvents(() => undefined, never);
    const exec = cri.streams.execSync({ containerId: container, command: ['sleep', '1000'], timeoutSeconds: 0 }, never);
    const lost = Promise.all([
      assert.rejects(watching, isCoded('unavailable')),
      assert.rejects(exec, isCoded('unavailable')),
    ]);
    await cri.version(never);
    node.containerd.kill('SIGKILL');
    await lost;
    await assert.rejects(cri.version(never), isCoded('unavailable'));
    await eventually('its end', () => (node.containerd.isRunning() ? undefined : true));
    await node.containerd.start();
    const version = await eventually('an answer', () => cri.version(never).catch(unavailable));
    assert.equal(version.runtimeName, 'containerd');
    const status = await eventually('CRI to be ready', () =>
      cri.containers.status(container, {}, never).catch(unavailable),
    );
    assert.equal(status.status?.state, ContainerState.CONTAINER_RUNNING);
  });

  test(`${runtime}: hung, then going on`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    await cri.version(never);
    process.kill(node.containerd.pid, 'SIGSTOP');
    try {
      const started = performance.now();
      await assert.rejects(cri.version(never), isCoded('deadline', /no answer within 500 ms/));
      assert.ok(performance.now() - started < 2000);
    } finally {
      process.kill(node.containerd.pid, 'SIGCONT');
    }
    assert.equal(
      (await eventually('an answer', () => cri.version(never).catch(unavailable))).runtimeName,
      'containerd',
    );
  });
}

function unavailable(error: unknown): undefined {
  assert.ok(['unavailable', 'deadline'].includes(codeOf(error)), String(error));
  return undefined;
}

test('containerd-1.6 has no CRI events, and says so', async (t) => {
  const { cri } = await labNode(t, 'containerd-1.6');
  await assert.rejects(
    cri.watchEvents(() => assert.fail('an event'), never),
    isCoded('unsupported'),
  );
});

test('containerd-2.4: CRI events carry the statuses', async (t) => {
  const { node, cri } = await labNode(t, 'containerd-2.4');
  const events: ContainerEventResponse[] = [];
  const stop = new AbortController();
  const watched = assert.rejects(
    cri.watchEvents((event) => events.push(event), stop.signal),
    (error) => error === stop.signal.reason,
  );
  const { sandbox, container } = await startPod(cri, node, SLEEPER);
  await cri.containers.stop(container, 10, never);
  const stopped = await eventually('the stop event', () =>
    events.find(
      (event) =>
        event.containerId === container && event.containerEventType === ContainerEventType.CONTAINER_STOPPED_EVENT,
    ),
  );
  assert.equal(stopped.podSandboxStatus?.id, sandbox);
  assert.deepEqual(
    stopped.containersStatuses.map(({ id, state, exitCode }) => [id, state, exitCode]),
    [[container, ContainerState.CONTAINER_EXITED, 7]],
  );
  const kinds = events.filter(({ containerId }) => containerId === container).map((event) => event.containerEventType);
  assert.deepEqual(kinds.slice(0, 2), [
    ContainerEventType.CONTAINER_CREATED_EVENT,
    ContainerEventType.CONTAINER_STARTED_EVENT,
  ]);
  stop.abort(new Error('enough'));
  await watched;
});
