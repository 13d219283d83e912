/**
 * The volumes of a pod, made before its sandbox. Folders that live and die with the pod, and paths of the node, are here; every
 * other kind answers why it can't be had, so that its pod waits with a clear event and nothing else is disturbed.
 */
import { chmod, chown, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Volume } from '../api/volume.ts';
import { CodedError, describeError } from '../base/errors.ts';
import { hostPathFault, type PathKind, volumeKind } from './rules/kinds.ts';

export type VolumesOutcome =
  | { readonly kind: 'ready'; readonly mounts: ReadonlyMap<string, string> }
  /** `message` is the event's. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string };

export interface Volumes {
  /** Makes what is missing; asking again for what is there changes nothing. */
  ensure(pod: Pod, signal: AbortSignal): Promise<VolumesOutcome>;
  /** Lets go of everything that must not be left in the pod's folder, before that is removed. */
  cleanUp(uid: PodUid, signal: AbortSignal): Promise<void>;
}

export interface VolumesConfig {
  readonly podDirectory: (uid: PodUid) => string;
  /** Mount points of this machine now. */
  readonly mountPoints: () => Promise<readonly string[]>;
}

export function createVolumes(config: VolumesConfig): Volumes {
  const ensureOne = async (pod: Pod, volume: Volume): Promise<string | undefined> => {
    if (volume.image !== undefined) return undefined; // the runtime mounts it
    if (volume.hostPath !== undefined) return await ensureHostPath(volume.hostPath.path, volume.hostPath.type ?? '');
    if (volume.emptyDir !== undefined && (volume.emptyDir.medium ?? '') === '') {
      return await ensureEmptyDir(pod, config.podDirectory(pod.metadata.uid as PodUid), volume.name);
    }
    throw new CodedError('unsupported', `volumes of kind ${volumeKind(volume)} are not supported yet`);
  };

  return {
    ensure: async (pod) => {
      const mounts = new Map<string, string>();
      for (const volume of pod.spec.volumes ?? []) {
        try {
          const path = await ensureOne(pod, volume);
          if (path !== undefined) mounts.set(volume.name, path);
        } catch (error) {
          const message = `MountVolume.SetUp failed for volume ${JSON.stringify(volume.name)} : ${describeError(error)}`;
          return { kind: 'waiting', reason: 'FailedMount', message };
        }
      }
      return { kind: 'ready', mounts };
    },
    // What belongs to the pod goes; the node's paths stay.
    cleanUp: async (uid) => {
      const folder = join(config.podDirectory(uid), ...EMPTY_DIRS);
      const names = await readdir(folder).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      const mounted = (await config.mountPoints()).filter((point) => point.startsWith(`${folder}/`));
      if (mounted.length > 0) {
        throw new CodedError(
          'conflict',
          `volumes of pod ${uid} can't be removed: still mounted: ${mounted.join(', ')}`,
        );
      }
      for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
    },
  };
}

const EMPTY_DIRS = ['volumes', 'kubernetes.io~empty-dir'];
const FOR_EVERYBODY = 0o777;
const SET_GROUP = 0o2000;

async function ensureEmptyDir(pod: Pod, podDirectory: string, name: string): Promise<string> {
  const path = join(podDirectory, ...EMPTY_DIRS, name);
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  await mkdir(path, { recursive: true });
  const group = pod.spec.securityContext?.fsGroup;
  if (group !== undefined) await chown(path, 0, group);
  await chmod(path, group === undefined ? FOR_EVERYBODY : FOR_EVERYBODY | SET_GROUP);
  return path;
}

async function ensureHostPath(path: string, type: string): Promise<string> {
  if (type === 'DirectoryOrCreate') await mkdir(path, { recursive: true, mode: 0o755 });
  if (type === 'FileOrCreate') await (await open(path, 'a', 0o644)).close();
  const fault = hostPathFault(path, type, type === '' ? 'other' : await kindOf(path));
  if (fault !== undefined) throw new CodedError('invalid', fault);
  return path;
}

async function kindOf(path: string): Promise<PathKind> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return 'directory';
    if (found.isFile()) return 'file';
    if (found.isSocket()) return 'socket';
    if (found.isCharacterDevice()) return 'character device';
    if (found.isBlockDevice()) return 'block device';
    return 'other';
  } catch (error) {
    if (isMissing(error)) return 'missing';
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
