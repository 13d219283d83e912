/** The directories in which the runtime writes the logs of containers, and the links by which log shippers find them. */

import { mkdir, readlink, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { Pod } from '../../api/pod.ts';
import { allContainers } from '../../api/pod-traits.ts';
import { hasErrno } from '../../base/errno.ts';
import type { GuardedDirectory, GuardedFiles } from '../../host/guarded-files.ts';
import { containerLogPath } from '../spec/container.ts';
import { podLogDirectory } from '../spec/sandbox.ts';
import { attemptOfLog, logLinkName, type PodName, podOfLogDirectory } from './rules/log-names.ts';

export interface Logs {
  ensurePod(pod: Pod): Promise<void>;
  ensureContainer(pod: Pod, name: string): Promise<void>;
  /** Makes the link by which log shippers find the file. */
  link(pod: Pod, name: string, id: string, attempt: number): Promise<void>;
  /** By container: one more than the highest number of a log file, 0 where there is none. */
  nextAttempts(pod: Pod): Promise<ReadonlyMap<string, number>>;
  /** Takes away the files of one container that is removed, rotated ones too, and its link. */
  removeContainer(pod: PodName, container: LoggedContainer): Promise<void>;
  /** Name and namespace may be empty where only the UID is known. */
  removePod(pod: PodName): Promise<void>;
  /** Takes away links into directories of pods that are gone. */
  sweepLinks(): Promise<void>;
  /** Every pod that has a directory. */
  list(): Promise<readonly PodName[]>;
}

export interface LoggedContainer {
  readonly id: string;
  readonly name: string;
  readonly logPath: string;
}

export interface LogsConfig {
  readonly podLogs: string;
  readonly containerLogs: string;
}

export interface LogsDeps {
  readonly files: Pick<GuardedFiles, 'directory'>;
  /** Removes a directory with all that is in it. */
  readonly removeTree: (path: string) => Promise<void>;
}

const MODE = 0o755;
/** More than a node has: a pod with the directory mounted made them. */
const MOST_NAMES = 200_000;

export function createLogs({ files, removeTree }: LogsDeps, { podLogs, containerLogs }: LogsConfig): Logs {
  const namesIn = async (root: string, dir = root): Promise<readonly string[]> => {
    using held = holdDirectory(files, root, dir);
    return held === undefined ? [] : (await held.names(MOST_NAMES)).map(({ name }) => name);
  };

  const makeDirectory = async (path: string): Promise<void> => {
    await mkdir(path, { recursive: true, mode: MODE });
  };

  /** The files of one container are those whose name begins with that of its log. */
  const removeFiles = async (logPath: string): Promise<void> => {
    using dir = holdDirectory(files, podLogs, dirname(logPath));
    if (dir === undefined) return;
    const log = basename(logPath);
    for (const { name, isDirectory } of await dir.names(MOST_NAMES)) {
      if (!isDirectory && (name === log || name.startsWith(`${log}.`))) await dir.remove(name);
    }
  };

  /** The pod into whose directory a link points. */
  const podOfLink = async (link: string): Promise<PodName | undefined> => {
    const target = await targetOf(join(containerLogs, link));
    return target?.startsWith(`${podLogs}/`)
      ? podOfLogDirectory(relative(podLogs, target).split('/')[0] ?? '')
      : undefined;
  };

  const removeLinks = async (isMeant: (link: string) => boolean, isOver: (uid: string) => boolean): Promise<void> => {
    for (const link of (await namesIn(containerLogs)).filter(isMeant)) {
      const pod = await podOfLink(link);
      if (pod !== undefined && isOver(pod.uid)) await rm(join(containerLogs, link), { force: true });
    }
  };

  const list = async () => (await namesIn(podLogs)).map(podOfLogDirectory).filter((pod) => pod !== undefined);

  return {
    ensurePod: (pod) => makeDirectory(podLogDirectory(podLogs, pod)),
    ensureContainer: (pod, name) => makeDirectory(join(podLogDirectory(podLogs, pod), name)),
    link: async (pod, name, id, attempt) => {
      const link = join(containerLogs, logLinkName(pod.metadata, name, id));
      const target = join(podLogDirectory(podLogs, pod), containerLogPath(name, attempt));
      if ((await targetOf(link)) === target) return;
      await rm(link, { force: true });
      await symlink(target, link);
    },
    nextAttempts: async (pod) => {
      const dir = podLogDirectory(podLogs, pod);
      const counts = allContainers(pod).map(async ({ name }) => {
        const attempts = (await namesIn(podLogs, join(dir, name))).map(attemptOfLog);
        return [name, attempts.reduce((most, attempt) => Math.max(most, attempt), -1) + 1] as const;
      });
      return new Map(await Promise.all(counts));
    },
    removeContainer: async (pod, { id, name, logPath }) => {
      // What the runtime says is not trusted with other directories.
      if (logPath.startsWith(`${podLogs}/`)) await removeFiles(logPath);
      await rm(join(containerLogs, logLinkName(pod, name, id)), { force: true });
    },
    removePod: async ({ uid, name, namespace }) => {
      const ownLinks = name === '' ? '' : `${name}_${namespace}_`;
      await removeLinks(
        (link) => link.startsWith(ownLinks),
        (other) => other === uid,
      );
      const directories = (await namesIn(podLogs)).filter((dir) => podOfLogDirectory(dir)?.uid === uid);
      for (const dir of directories) await removeTree(join(podLogs, dir));
    },
    sweepLinks: async () => {
      const present = new Set((await list()).map(({ uid }) => uid));
      await removeLinks(
        () => true,
        (uid) => !present.has(uid),
      );
    },
    list,
  };
}

/** Undefined: it is missing, or something that is no directory of ours has its place. */
function holdDirectory(files: LogsDeps['files'], root: string, path: string): GuardedDirectory | undefined {
  try {
    return files.directory(root, path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
    throw error;
  }
}

/** Undefined for what is no link, or not there. */
async function targetOf(link: string): Promise<string | undefined> {
  try {
    return await readlink(link);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EINVAL')) return undefined;
    throw error;
  }
}
