import assert from 'node:assert/strict';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createSystemClock } from '../../src/base/clock.ts';
import { createSilentLogger, type Logger } from '../../src/base/logger.ts';
import { createKubelet, type Kubelet } from '../../src/compose.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import { createHost } from '../../src/host/host.ts';
import { askServer, freePort, temporaryDirectory, workingConfig } from './kubelet.ts';

const clock = createSystemClock();

function configFor(
  directory: string,
  [healthzPort, serverPort]: readonly [number, number],
  fields: Readonly<Record<string, unknown>>,
  flags: readonly string[],
): Config {
  const text = JSON.stringify({
    ...workingConfig(directory, healthzPort, serverPort),
    maxOpenFiles: 10_000,
    ...fields,
  });
  const outcome = readConfig(
    [
      '--config=/kubelet.json',
      `--root-dir=${join(directory, 'root')}`,
      `--cert-dir=${join(directory, 'pki')}`,
      ...flags,
    ],
    {
      readTextFile: () => text,
      listDir: () => [],
      workingDirectory: '/',
      terminalWidth: () => 80,
      build: { nodeVersion: 'v0', platform: 'linux/test' },
      machine: () => ({ onlineCpus: [0, 1], numaNodes: [0], memoryBytes: 2n ** 32n, cgroupVersion: 2 }),
    },
  );
  assert.equal(outcome.kind, 'ready', JSON.stringify(outcome));
  return (outcome as Extract<typeof outcome, { kind: 'ready' }>).config;
}

interface Embedded extends AsyncDisposable {
  readonly kubelet: Kubelet;
  readonly directory: string;
  readonly lines: readonly string[];
  get(path: string): Promise<string>;
  ask(path: string): Promise<string>;
}

/** A kubelet inside this process, with its own folder in place of the fixed ones of a node. */
async function embed(fields: Readonly<Record<string, unknown>> = {}, flags: readonly string[] = []): Promise<Embedded> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const serverPort = await freePort();
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  const log: Logger = {
    ...createSilentLogger(),
    info: note,
    warn: note,
    error: note,
    named: () => log,
    with: () => log,
  };
  const host = createHost();
  const places = { devicePlugins: join(directory, 'device-plugins'), containerLogs: join(directory, 'container-logs') };
  const kubelet = createKubelet(configFor(directory, [port, serverPort], fields, flags), { clock, log, host, places });
  return {
    kubelet,
    directory,
    lines,
    get: async (path) => (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })).text(),
    ask: async (path) =>
      (await askServer({ address: '127.0.0.1', port: serverPort }, join(directory, 'root/server-token'), path)).body,
    [Symbol.asyncDispose]: async () => {
      await kubelet.stop();
      host.inotify.close();
      rmSync(directory, { recursive: true });
    },
  };
}

describe('kubelets inside another program', () => {
  it('live side by side, each with its own configuration, checks and directories', async () => {
    await using one = await embed({ maxPods: 11 });
    await using two = await embed({ maxPods: 22 });
    await Promise.all([one.kubelet.start(), two.kubelet.start()]);
    const maxPods = async ({ ask }: Embedded) => JSON.parse(await ask('/configz')).kubeletconfig.maxPods;
    assert.deepEqual(await Promise.all([maxPods(one), maxPods(two)]), [11, 22]);
    one.kubelet.health.add({ name: 'mine', check: () => 'unwell' });
    assert.match(await one.get('/healthz?verbose'), /\[-\]mine failed/);
    assert.doesNotMatch(await two.get('/healthz?verbose'), /mine/);
    assert.ok(statSync(join(one.directory, 'device-plugins')).isDirectory());
    await one.kubelet.stop();
    assert.equal(await two.get('/healthz/ping'), 'ok');
  });

  it('hand a lock over to each other, as processes do', async () => {
    const folder = temporaryDirectory();
    const flags = [`--lock-file=${join(folder, 'lock')}`, '--exit-on-lock-contention'];
    await using one = await embed({}, flags);
    await one.kubelet.start();
    await using two = await embed({}, flags);
    const started = two.kubelet.start();
    const ending = await one.kubelet.ending;
    assert.equal(ending.kind, 'handover');
    await one.kubelet.stop();
    await started;
    assert.equal(await two.get('/healthz/ping'), 'ok');
    rmSync(folder, { recursive: true });
  });

  it('can be stopped before they are started, while they start, and twice', async () => {
    await using never = await embed();
    assert.deepEqual(await never.kubelet.stop(), { failed: [], unfinished: [] });
    await assert.rejects(never.kubelet.start(), /stopping/);
    await using hasty = await embed();
    const started = hasty.kubelet.start().catch((error) => String(error));
    assert.deepEqual(await hasty.kubelet.stop(), { failed: [], unfinished: [] });
    await hasty.kubelet.stop();
    await started;
    await assert.rejects(hasty.get('/healthz'));
  });

  it('report what keeps them from starting and leave nothing open', async () => {
    await using broken = await embed({ podLogsDir: '/dev/null/logs' });
    await assert.rejects(broken.kubelet.start(), /cannot use \/dev\/null\/logs as pod log directory/);
    await assert.rejects(broken.get('/healthz'));
  });
});
