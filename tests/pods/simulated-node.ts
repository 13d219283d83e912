/** A whole kubelet on a simulated machine, with a runtime in memory and a clock that the test moves. */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '../../src/base/errors.ts';
import { createSilentLogger, type Logger } from '../../src/base/logger.ts';
import { createManualClock, type ManualClock } from '../../src/base/manual-clock.ts';
import { createKubelet, type Kubelet } from '../../src/compose/compose.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import { createSimulatedHost, type SimulatedHost } from '../../src/host/simulated/host-testing.ts';
import type { CriClient } from '../../src/runtime/cri/client.ts';
import { FilesystemUsage, Image, StatusResponse } from '../../src/wire/gen/cri-runtime-v1.ts';
import { createFakeRuntime, type FakeRuntime } from './fake-runtime.ts';

export interface SimulatedNode extends AsyncDisposable {
  readonly name: string;
  readonly kubelet: Kubelet;
  readonly host: SimulatedHost;
  readonly runtime: FakeRuntime;
  readonly directory: string;
  readonly clock: ManualClock;
  /** What the kubelet logged, each with its values as JSON. */
  readonly lines: readonly string[];
  writeManifest(name: string, pod: object): Promise<void>;
  removeManifest(name: string): Promise<void>;
  /** Moves the clock until the condition holds. */
  until(what: string, condition: () => boolean): Promise<void>;
}

/** So much simulated time passes for each turn of the event loop that the kubelet gets. */
const STEP_MS = 50;
/** Of real time: only a kubelet that hangs takes as long. */
const PATIENCE_MS = 50_000;
const START = 1_700_000_000_000;

export async function startSimulatedNode(name: string, parent: string): Promise<SimulatedNode> {
  const directory = join(parent, name);
  const manifests = join(directory, 'manifests');
  await mkdir(manifests, { recursive: true });
  const clock = createManualClock(START);
  const host = createSimulatedHost({ hostName: name, bootedAt: START - 60_000 });
  const runtime = createFakeRuntime(clock.now);
  const lines: string[] = [];
  const kubelet = createKubelet(configOf(directory, manifests), {
    clock,
    host,
    log: createCollectingLog(lines),
    runtime: asCriClient(runtime),
    places: { devicePlugins: join(directory, 'device-plugins'), containerLogs: join(directory, 'container-logs') },
  });
  const until: SimulatedNode['until'] = async (what, condition) => {
    const deadline = performance.now() + PATIENCE_MS;
    while (!condition()) {
      if (performance.now() > deadline) assert.fail(`${name}: not ${what}: ${runtime.picture()}\n${lines.join('\n')}`);
      await clock.advance(STEP_MS);
      await delay(1);
    }
  };
  const isStarted = kubelet.start().then(() => lines.push('started'));
  await Promise.all([isStarted, until('started', () => lines.includes('started'))]);
  const pathOf = (pod: string) => join(manifests, `${pod}.json`);
  return {
    name,
    kubelet,
    host,
    runtime,
    directory,
    clock,
    lines,
    until,
    writeManifest: async (pod, manifest) => {
      await writeFile(pathOf(pod), JSON.stringify(manifest));
      host.files.changed(pathOf(pod));
    },
    removeManifest: async (pod) => {
      await rm(pathOf(pod));
      host.files.changed(pathOf(pod));
    },
    [Symbol.asyncDispose]: async () => {
      await kubelet.stop();
    },
  };
}

function configOf(directory: string, manifests: string): Config {
  const fields = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    staticPodPath: manifests,
    containerRuntimeEndpoint: 'unix:///nowhere/cri.sock',
    podLogsDir: join(directory, 'pod-logs'),
    authentication: { webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    // No port of the machine is taken.
    enableServer: false,
    healthzPort: 0,
    resolvConf: '',
  };
  const outcome = readConfig(['--config=/kubelet.json', `--root-dir=${join(directory, 'root')}`], {
    readTextFile: () => JSON.stringify(fields),
    listDir: () => [],
    workingDirectory: '/',
    terminalWidth: () => 80,
    build: { nodeVersion: 'v0', platform: 'linux/simulated' },
    machine: () => ({ onlineCpus: [0, 1, 2, 3], numaNodes: [0], memoryBytes: 2n ** 33n, cgroupVersion: 2 }),
  });
  if (outcome.kind !== 'ready') assert.fail(JSON.stringify(outcome));
  return outcome.config;
}

function createCollectingLog(lines: string[]): Logger {
  const note = (message: string, values: object = {}) => {
    const text = JSON.stringify(values, (_key, value) => (value instanceof Error ? value.message : value));
    lines.push(`${message} ${text}`);
  };
  const log: Logger = {
    ...createSilentLogger(),
    info: note,
    warn: note,
    error: note,
    named: () => log,
    with: () => log,
  };
  return log;
}

/** The runtime in memory behind the whole interface: it has every image, and no streams. */
function asCriClient(runtime: FakeRuntime): CriClient {
  const nothing = () => Promise.resolve();
  const unsupported = () => Promise.reject(new CodedError('unsupported', 'a simulated runtime has no such call'));
  const conditions = ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true, reason: '', message: '' }));
  const image = { ...Image.zero(), id: 'sha256:0123', repoTags: ['example.test/image:1'], size: 1000 };
  const fileSystem = { ...FilesystemUsage.zero(), fsId: { mountpoint: '/simulated' } };
  return {
    version: () =>
      Promise.resolve({ version: '0.1.0', runtimeName: 'simulated', runtimeVersion: '1', runtimeApiVersion: 'v1' }),
    status: () => Promise.resolve({ ...StatusResponse.zero(), status: { conditions } }),
    cgroupDriver: () => Promise.resolve('cgroupfs'),
    setPodCidr: nothing,
    watchEvents: runtime.watchEvents,
    watchContainerdEvents: runtime.watchContainerdEvents,
    sandboxes: { ...runtime.sandboxes, updateResources: nothing },
    containers: { ...runtime.containers, updateResources: nothing, reopenLog: nothing, checkpoint: unsupported },
    streams: { execSync: unsupported, exec: unsupported, attach: unsupported, portForward: unsupported },
    images: {
      list: () => Promise.resolve([image]),
      status: () => Promise.resolve({ image, info: {} }),
      pull: () => Promise.resolve(image.id),
      remove: nothing,
      fsInfo: () => Promise.resolve({ imageFilesystems: [fileSystem], containerFilesystems: [] }),
    },
    stats: {
      container: () => Promise.resolve(undefined),
      containers: () => Promise.resolve([]),
      sandbox: () => Promise.resolve(undefined),
      sandboxes: () => Promise.resolve([]),
      metricDescriptors: () => Promise.resolve([]),
      sandboxMetrics: () => Promise.resolve([]),
    },
    downloads: { of: () => Promise.resolve(undefined) },
    close: nothing,
  };
}
