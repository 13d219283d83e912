/** What the kinds that are made from objects have in common: a directory, files that change all at once, and their removal. */
import { chmod, chown, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../api/pod.ts';
import type { Volume } from '../../api/volume.ts';
import { hasErrno } from '../../base/errno.ts';
import type { AtomicWriter } from '../atomic-writer.ts';
import {
  invalid,
  type NotReady,
  type ObjectReference,
  ready,
  type VolumeDirectories,
  type VolumeKind,
  type VolumeRequest,
} from '../kind.ts';
import { rootMode } from '../rules/file-access.ts';
import { nestedMountPoints } from '../rules/nested-mount-points.ts';
import { type Payload, sizeFault } from '../rules/payload.ts';

export interface ObjectVolumeDeps {
  readonly directories: VolumeDirectories;
  readonly writer: AtomicWriter;
  /** The most that a volume in memory of this pod may take; undefined: what the kernel allows. */
  readonly memoryBytes: (pod: Pod) => number | undefined;
}

export interface ObjectVolume<Source> {
  readonly plugin: string;
  readonly medium: 'disk' | 'memory';
  readonly source: (volume: Volume) => Source | undefined;
  readonly content: (request: VolumeRequest, source: Source, signal: AbortSignal) => Promise<ContentAnswer>;
  readonly prefetch?: (pod: Pod, source: Source, signal: AbortSignal) => void;
  readonly references?: (pod: Pod, source: Source) => readonly ObjectReference[];
  readonly dependsOnPod?: boolean;
}

export interface ObjectContent {
  readonly kind: 'content';
  readonly payload: Payload;
  /** Wall clock, ms: something in it must be replaced then. */
  readonly refreshAt?: number;
}

/** What is thrown instead is a failure of a request to the API server. */
export type ContentAnswer = ObjectContent | NotReady;

export function createObjectVolumeKind<Source>(deps: ObjectVolumeDeps, kind: ObjectVolume<Source>): VolumeKind {
  const { plugin, medium, dependsOnPod = false, references = () => [], prefetch = () => undefined } = kind;
  return {
    plugin,
    dependsOnPod,
    handles: (volume) => kind.source(volume) !== undefined,
    prefetch: (pod, volume, signal) => {
      const source = kind.source(volume);
      if (source !== undefined) prefetch(pod, source, signal);
    },
    setUp: async (request, signal) => {
      const source = kind.source(request.volume);
      if (source === undefined) throw new TypeError(`volume ${request.volume.name} is not of kind ${plugin}`);
      request.enter('fetch-object');
      const content = await kind.content(request, source, signal);
      if (content.kind !== 'content') return content;
      const { payload, refreshAt } = content;
      const fault = sizeFault(payload);
      if (fault !== undefined) return invalid(fault);
      request.enter('make');
      await ensureDirectory(deps, medium, request, signal);
      const { directory, fsGroup } = request;
      await deps.writer.write({ directory, payload, fsGroup, medium }, signal);
      const made = { path: directory, readOnly: true, selinuxRelabel: true };
      return ready(refreshAt === undefined ? made : { ...made, refreshAt });
    },
    tearDown: async ({ directory }, signal) => {
      await deps.directories.remove(directory, signal);
      deps.writer.forget(directory);
    },
    dependsOn: (pod, volume) => {
      const source = kind.source(volume);
      return source === undefined ? [] : references(pod, source);
    },
  };
}

async function ensureDirectory(
  { directories, memoryBytes }: ObjectVolumeDeps,
  medium: 'disk' | 'memory',
  { pod, volume, directory, fsGroup, enter }: VolumeRequest,
  signal: AbortSignal,
): Promise<void> {
  const sizeBytes = medium === 'memory' ? memoryBytes(pod) : undefined;
  await directories.ensure({ directory, medium, enter, ...(sizeBytes !== undefined && { sizeBytes }) }, signal);
  if (fsGroup !== undefined) {
    enter('permissions');
    await giveToGroup(directory, fsGroup);
    enter('make');
  }
  await Promise.all(nestedMountPoints(pod, volume.name).map((path) => makeMountPoint(join(directory, path))));
}

/** Files that are made in it later belong to the group by themselves. */
async function giveToGroup(directory: string, group: number): Promise<void> {
  const { mode, gid } = await stat(directory);
  const desired = rootMode(mode & 0o7777, group);
  if (gid === group && (mode & 0o7777) === desired) return;
  await chown(directory, -1, group);
  await chmod(directory, desired);
}

async function makeMountPoint(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    // A file of the volume can be a mount point, too.
    if (!hasErrno(error, 'EEXIST')) throw error;
  }
}
