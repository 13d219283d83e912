/** The CRI client when things go wrong: errors, cancelled calls, a runtime that dies or hangs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf } from '../../src/base/errors.ts';
import { ContainerState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { bytes, eventually, freeze, isCoded, labNode, never, SLEEPER, sandboxConfig, startPod } from './cri-support.ts';
import { RUNTIMES } from './runtimes.ts';

for (const runtime of RUNTIMES) {
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
        { containerId: container, command: ['ps'], timeoutSeconds: 60 },
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
    const { node, cri } = await labNode(t, runtime, { health: 500 });
    await freeze(node.containerd.pid);
    try {
      await assert.rejects(cri.version(never), isCoded('deadline', /no answer within 500 ms/));
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
