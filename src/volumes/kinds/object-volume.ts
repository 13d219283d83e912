/** What the kinds that are made from objects have in common: a directory, files that change all at once, and the way back. */

import { chmod, chown, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../api/pod.ts';
import type { Volume } from '../../api/volume.ts';
import { hasErrno } from '../../base/errno.ts';
import { CodedError } from '../../base/errors.ts';
import type { AtomicWriter } from '../atomic-writer.ts';
import type { ObjectReference, VolumeDirectories, VolumeKind, VolumeRequest } from '../kind.ts';
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
  readonly content: (request: VolumeRequest, source: Source, signal: AbortSignal) => Promise<ObjectContent>;
  readonly foresee?: (pod: Pod, source: Source, signal: AbortSignal) => void;
  readonly references?: (pod: Pod, source: Source) => readonly ObjectReference[];
  readonly dependsOnPod?: boolean;
}

export interface ObjectContent {
  readonly payload: Payload;
  /** Wall clock, ms: something in it is then to be replaced. */
  readonly refreshAt?: number;
}

export function createObjectVolumeKind<Source>(deps: ObjectVolumeDeps, kind: ObjectVolume<Source>): VolumeKind {
  const { plugin, medium, dependsOnPod = false, references = () => [], foresee = () => undefined } = kind;
  return {
    plugin,
    dependsOnPod,
    handles: (volume) => kind.source(volume) !== undefined,
    foresee: (pod, volume, signal) => {
      const source = kind.source(volume);
      if (source !== undefined) foresee(pod, source, signal);
    },
    setUp: async (request, signal) => {
      const source = kind.source(request.volume);
      if (source === undefined) throw new TypeError(`volume ${request.volume.name} is none of ${plugin}`);
      const { payload, refreshAt } = await kind.content(request, source, signal);
      const fault = sizeFault(payload);
      if (fault !== undefined) throw new CodedError('invalid', fault);
      await ensureDirectory(deps, medium, request, signal);
      const { directory, fsGroup } = request;
      await deps.writer.write({ directory, payload, fsGroup, medium }, signal);
      const ready = { path: directory, readOnly: true, selinuxRelabel: true };
      return refreshAt === undefined ? ready : { ...ready, refreshAt };
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
  { pod, volume, directory, fsGroup }: VolumeRequest,
  signal: AbortSignal,
): Promise<void> {
  const sizeBytes = medium === 'memory' ? memoryBytes(pod) : undefined;
  await directories.ensure({ directory, medium, ...(sizeBytes !== undefined && { sizeBytes }) }, signal);
  if (fsGroup !== undefined) await giveToGroup(directory, fsGroup);
  await Promise.all(nestedMountPoints(pod, volume.name).map((path) => makeMountPoint(join(directory, path))));
}

/** What is made in it then belongs to the group by itself. */
async function giveToGroup(directory: string, group: number): Promise<void> {
  const { mode, gid } = await stat(directory);
  const wanted = rootMode(mode & 0o7777, group);
  if (gid === group && (mode & 0o7777) === wanted) return;
  await chown(directory, -1, group);
  await chmod(directory, wanted);
}

async function makeMountPoint(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    // A file of the volume is as good a place to mount on.
    if (!hasErrno(error, 'EEXIST')) throw error;
  }
}
