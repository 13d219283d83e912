/** The kubelet's directories: names and modes as other tools on the node expect them. */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { CodedError, describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Config } from '../config/config.ts';

export interface DataDirectoriesConfig {
  /** `--root-dir`. */
  readonly root: string;
  readonly podLogs: string;
  /** Plugins find the socket here, independent of the root directory. */
  readonly devicePlugins: string;
  /** Log shippers read the links in here. */
  readonly containerLogs: string;
}

/** Fixed paths of the node. */
export type NodePlaces = Pick<DataDirectoriesConfig, 'devicePlugins' | 'containerLogs'>;

export const DEVICE_PLUGINS_DIRECTORY = '/var/lib/kubelet/device-plugins';
export const CONTAINER_LOGS_DIRECTORY = '/var/log/containers';

interface Directory {
  readonly path: string;
  readonly mode: number;
  /** Its name in errors. */
  readonly what: string;
}

export function planDataDirectories(config: DataDirectoriesConfig): readonly Directory[] {
  const inRoot = (name: string, mode: number, what: string): Directory => ({
    path: join(config.root, name),
    mode,
    what,
  });
  return [
    { path: config.root, mode: 0o750, what: 'root directory (--root-dir)' },
    { path: config.podLogs, mode: 0o750, what: 'pod log directory (podLogsDir)' },
    inRoot('pods', 0o750, 'pod directory'),
    inRoot('plugins', 0o750, 'plugin directory'),
    inRoot('plugins_registry', 0o750, 'plugin registration directory'),
    inRoot('pod-resources', 0o750, 'pod resources directory'),
    inRoot('checkpoints', 0o700, 'checkpoint directory'),
    inRoot('image_manager', 0o700, 'image record directory'),
    inRoot('image_manager/pulling', 0o700, 'image record directory'),
    inRoot('image_manager/pulled', 0o700, 'image record directory'),
    { path: config.devicePlugins, mode: 0o750, what: 'device plugin directory' },
    { path: config.containerLogs, mode: 0o755, what: 'container log directory' },
  ];
}

/** The part that creates them; paths that an embedder gives replace the fixed ones. */
export function createDataDirectories(
  { settings, kubelet }: Pick<Config, 'settings' | 'kubelet'>,
  places?: NodePlaces,
): Part {
  return {
    name: 'data directories',
    start: () =>
      ensureDataDirectories({
        root: settings.directories.root,
        podLogs: kubelet.podLogsDir,
        devicePlugins: places?.devicePlugins ?? DEVICE_PLUGINS_DIRECTORY,
        containerLogs: places?.containerLogs ?? CONTAINER_LOGS_DIRECTORY,
      }),
  };
}

/** Creates missing directories; existing ones keep their mode. Throws a clear error if one can't be created or written. */
export function ensureDataDirectories(config: DataDirectoriesConfig): void {
  const canonical = normalize(config.root).replace(/(.)\/$/, '$1');
  if (canonical !== config.root) {
    throw new CodedError('invalid', `root directory (--root-dir) ${config.root} must be written as ${canonical}`);
  }
  for (const directory of planDataDirectories(config)) {
    try {
      ensureDirectory(directory);
    } catch (error) {
      throw new CodedError('denied', `cannot use ${directory.path} as ${directory.what}: ${describeError(error)}`, {
        data: { path: directory.path },
      });
    }
  }
}

function ensureDirectory({ path, mode }: Directory): void {
  if (!isDirectory(path)) mkdirSync(path, { recursive: true, mode });
  accessSync(path, constants.W_OK | constants.X_OK);
}

function isDirectory(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isDirectory()) throw new Error('it exists and is not a directory');
  return stat !== undefined;
}
