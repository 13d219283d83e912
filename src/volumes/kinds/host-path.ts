/**
 * Paths of the node. They may be on any mount: only a process that can be killed looks at those that may hang, also where no type
 * is to be checked, because the runtime would hang there and block other pods.
 */
import { CodedError, codeOf } from '../../base/errors.ts';
import type { FileJobs } from '../../host/file-jobs.ts';
import { invalid, ready, type VolumeKind, waiting } from '../kind.ts';
import { hostPathCheck, hostPathFault } from '../rules/host-path.ts';

export interface HostPathDeps {
  readonly jobs: FileJobs;
  /** The path leads over a mount that may hang. */
  readonly isForeign: (path: string) => boolean;
}

export function createHostPathKind({ jobs, isForeign }: HostPathDeps): VolumeKind {
  return {
    plugin: 'kubernetes.io/host-path',
    handles: (volume) => volume.hostPath !== undefined,
    setUp: async ({ volume }, signal) => {
      const { path, type = '' } = volume.hostPath ?? { path: '' };
      const check = hostPathCheck(path, type);
      if (!check.ok) return invalid(check.problem);
      const foreign = isForeign(path);
      if (check.value.expected === undefined && !foreign) return ready({ path });
      const job = { kind: 'look', path, make: check.value.make } as const;
      const found = await jobs.run(job, { foreign, signal }).catch((cause: unknown) => {
        if (signal.aborted || codeOf(cause) !== 'deadline') throw cause;
        throw new CodedError('deadline', `hostPath ${path}: its file system does not answer`, { cause });
      });
      const fault = hostPathFault(path, check.value, found);
      if (fault !== undefined) return found === 'missing' ? waiting(fault) : invalid(fault);
      return ready(foreign ? { path, foreign } : { path });
    },
    // The path belongs to the node.
    tearDown: () => Promise.resolve(),
  };
}
