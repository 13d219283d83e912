/** The CRI client against real runtimes of both generations. */
import assert from 'node:assert/strict';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ContainerdEvent } from '../../src/runtime/containerd-events.ts';
import {
  type ContainerEventResponse,
  ContainerEventType,
  ContainerState,
  PodSandboxState,
} from '../../src/wire/gen/cri-runtime-v1.ts';
import { BUSYBOX, bytes, eventually, isCoded, labNode, never, SLEEPER, startPod } from './cri-support.ts';
import { BOTH_RUNTIMES } from './runtimes.ts';

for (const runtime of BOTH_RUNTIMES) {
  test(`${runtime}: the runtime tells about itself and its images`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const version = await cri.version(never);
    assert.equal(version.runtimeName, 'containerd');
    assert.match(version.runtimeVersion, runtime === 'containerd-1.6' ? /^1\.6\./ : /^v2\.4\./);
    const status = await cri.status({ verbose: true }, never);
    const ready = status.status?.conditions.find(({ type }) => type === 'RuntimeReady');
    assert.equal(ready?.status, true);
    assert.ok('config' in status.info);
    assert.equal(await cri.cgroupDriver(never), runtime === 'containerd-1.6' ? 'unsupported' : 'cgroupfs');
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

    const exec = (command: string[], timeoutSeconds = 60) =>
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

  test(`${runtime}: containerd's own events`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const events: ContainerdEvent[] = [];
    const stop = new AbortController();
    const watching = cri.watchContainerdEvents((event) => events.push(event), stop.signal);
    const watched = assert.rejects(watching, (error) => error === stop.signal.reason);
    const { container } = await startPod(cri, node, SLEEPER);
    await cri.streams.execSync({ containerId: container, command: ['sh', '-c', 'exit 3'], timeoutSeconds: 60 }, never);
    await cri.containers.stop(container, 10, never);
    const of = (kind: string) => events.filter((event) => event.kind === kind && event.containerId === container);
    await eventually('the exit', () => of('exited').find(({ execId }) => execId === undefined));
    assert.deepEqual(
      of('exited').map(({ execId, exitStatus }) => [typeof execId, exitStatus]),
      [
        ['string', 3],
        ['undefined', 7],
      ],
    );
    const exit = of('exited')[1];
    assert.ok(Math.abs(Number((exit?.at ?? 0n) / 1_000_000n) - Date.now()) < 60_000);
    const { status } = (await cri.containers.status(container, {}, never)) ?? {};
    assert.equal(
      status?.finishedAt,
      exit?.at,
      'a crash is known again by its time: the event and the status tell the same',
    );
    stop.abort(new Error('enough'));
    await watched;
  });
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
