/** Kubelets inside the test's own process. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createSystemClock } from '../../src/base/clock.ts';
import { createSilentLogger, type Logger } from '../../src/base/logger.ts';
import { createKubelet, type Kubelet, type KubeletDeps } from '../../src/compose/compose.ts';
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
    // The network is the machine's: nothing of it may be changed.
    makeIPTablesUtilChains: false,
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

export interface Embedded extends AsyncDisposable {
  readonly kubelet: Kubelet;
  readonly directory: string;
  readonly lines: readonly string[];
  readonly ports: { readonly health: number; readonly server: number };
  get(path: string): Promise<string>;
  ask(path: string): Promise<string>;
}

/** A kubelet inside this process, with its own directory in place of the fixed ones of a node. */
export async function embed(
  fields: Readonly<Record<string, unknown>> = {},
  flags: readonly string[] = [],
  more: Partial<KubeletDeps> = {},
): Promise<Embedded> {
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
  const config = configFor(directory, [port, serverPort], fields, flags);
  const kubelet = createKubelet(config, { clock, log, host, places, ...more });
  return {
    kubelet,
    directory,
    lines,
    ports: { health: port, server: serverPort },
    get: async (path) => (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })).text(),
    ask: async (path) =>
      (await askServer({ address: '127.0.0.1', port: serverPort }, join(directory, 'root/server-token'), path)).body,
    [Symbol.asyncDispose]: async () => {
      await kubelet.stop();
      host.files.inotify.close();
      rmSync(directory, { recursive: true });
    },
  };
}
