/**
 * The network of the pods, as far as a kubelet has a say in it: the runtime is told the pod CIDR of the node, and with `--network-plugin=kubenet` gets a
 * network made from it. The plugins themselves are run by the runtime. See docs/node.md.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { hasErrno } from '../base/errno.ts';
import { CodedError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import { directoryProblems, KUBENET_FILE, missingPlugins, renderKubenet, runtimeDirectories } from './rules/kubenet.ts';

export interface PodNetworkDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Pick<Supervisor, 'run'>;
  readonly runtime: {
    status(
      options: { readonly verbose: boolean },
      signal: AbortSignal,
    ): Promise<{ readonly info: Readonly<Record<string, string>> }>;
    setPodCidr(podCidr: string, signal: AbortSignal): Promise<void>;
  };
}

export interface PodNetworkConfig {
  /** `kubenet`, `cni`, or empty: the runtime's own affair. */
  readonly plugin: string;
  readonly confDir: string;
  readonly binDirs: readonly string[];
  readonly hairpinMode: string;
  /** Of a node without an API server; empty elsewhere, where the node object has it. */
  readonly podCidr: string;
}

export interface PodNetwork extends Part {
  /** Rejects where the network can't be configured; the caller tries again. */
  setPodCidr(podCidr: string, signal: AbortSignal): Promise<void>;
}

const RETRY_MS = 10_000;

export function createPodNetwork(
  { clock, log, supervisor, runtime }: PodNetworkDeps,
  config: PodNetworkConfig,
): PodNetwork {
  let running: Promise<void> | undefined;
  let isDone = false;
  let reported = '';

  const setPodCidr = async (podCidr: string, signal: AbortSignal): Promise<void> => {
    if (config.plugin === 'kubenet') await writeKubenet(config, podCidr, log);
    await runtime.setPodCidr(podCidr, signal);
  };

  const begin = async (signal: AbortSignal): Promise<void> => {
    if (config.plugin !== '') {
      const { info } = await runtime.status({ verbose: true }, signal);
      for (const problem of directoryProblems(config, runtimeDirectories(info['config']))) {
        log.error('Network plugin settings have no effect on the container runtime', { problem });
      }
    }
    if (config.podCidr === '') return;
    await setPodCidr(config.podCidr, signal);
    log.info('Updating Pod CIDR', { originalPodCIDR: '', newPodCIDR: config.podCidr });
  };

  /** The runtime may come up after the kubelet. */
  const pass = async (signal: AbortSignal): Promise<void> => {
    try {
      await begin(signal);
      isDone = true;
    } catch (err) {
      if (signal.aborted) throw err;
      if (String(err) !== reported) log.error('Error updating pod CIDR', { err });
      reported = String(err);
    }
  };

  return {
    name: 'pod network',
    setPodCidr,
    start: (signal) => {
      if (config.plugin === '' && config.podCidr === '') return;
      const rest = (stop: AbortSignal) => clock.sleep(RETRY_MS, stop);
      running = supervisor.run({ name: 'pod network', pass, rest, isDone: () => isDone }, signal);
    },
    stop: () => running,
  };
}

async function writeKubenet(
  { confDir, binDirs, hairpinMode }: PodNetworkConfig,
  podCidr: string,
  log: Logger,
): Promise<void> {
  const plugins = new Set((await Promise.all(binDirs.map(filesIn))).flat());
  const missing = missingPlugins(plugins);
  if (missing.length > 0) {
    throw new CodedError(
      'invalid',
      `--network-plugin=kubenet needs the CNI plugins ${missing.join(', ')} in --cni-bin-dir (${binDirs.join(',')})`,
    );
  }
  const path = join(confDir, KUBENET_FILE);
  await writeFileAtomically(path, renderKubenet({ podCidr, hairpinMode, plugins }), {
    mode: 0o644,
    durable: true,
    directoryMode: 0o755,
  });
  const earlier = (await filesIn(confDir)).filter((name) => /\.conf(?:list)?$/.test(name) && name < KUBENET_FILE);
  if (earlier.length > 0) {
    log.warn('The container runtime uses another network than that of kubenet: its file comes first', {
      directory: confDir,
      files: earlier,
    });
  }
}

async function filesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  }
}
