/** Gives the files of a volume to a group: by descriptor, so that no link leads the change to files outside. */

import { chmodSync, closeSync, fchmodSync, fstatSync, statSync } from 'node:fs';
import { modeForGroup, needsNewOwner } from '../api/fs-group.ts';
import { isMissing } from '../base/errno.ts';
import { describeError } from '../base/errors.ts';
import { type FileCalls, O_NOFOLLOW, O_PATH } from './file-calls.ts';
import { walkTree } from './tree-walk.ts';

export interface GroupRequest {
  readonly path: string;
  readonly gid: number;
  readonly readOnly: boolean;
  /** `fsGroupChangePolicy`. */
  readonly policy: string | undefined;
}

export interface GroupOutcome {
  readonly files: number;
  /** How many could not be changed, and why the first one couldn't: the others are changed all the same. */
  readonly failed: number;
  readonly firstFailure: string | undefined;
}

/** Yields the number of files that are done. The root comes last: it says that all below it is done. */
export function* changeGroup(calls: FileCalls, request: GroupRequest): Generator<number, GroupOutcome> {
  const { path, gid, readOnly } = request;
  const root = statSync(path);
  let files = 0;
  let failed = 0;
  let firstFailure: string | undefined;
  if (!needsNewOwner({ mode: root.mode, gid: root.gid, isDirectory: root.isDirectory() }, request)) {
    return { files, failed, firstFailure };
  }
  const attempt = (change: () => void): void => {
    files += 1;
    try {
      change();
    } catch (error) {
      if (isMissing(error)) return;
      failed += 1;
      firstFailure ??= describeError(error);
    }
  };
  const walk = walkTree(calls, path, {
    file: (directory, name) => attempt(() => changeFile(calls, directory, name, { gid, readOnly })),
    directory: (fd) =>
      attempt(() => {
        calls.setGroup(fd, gid);
        fchmodSync(fd, modeForGroup({ mode: fstatSync(fd).mode, isDirectory: true }, readOnly));
      }),
  });
  let step = walk.next();
  while (!step.done) {
    yield files;
    step = walk.next();
  }
  if (step.value > 0) firstFailure ??= 'directories were moved while their group was changed';
  return { files, failed: failed + step.value, firstFailure };
}

function changeFile(
  calls: FileCalls,
  directory: number,
  name: Buffer,
  request: { gid: number; readOnly: boolean },
): void {
  const fd = calls.openBelow(directory, name, { flags: O_PATH | O_NOFOLLOW, links: 'none', crossMounts: false });
  try {
    const { mode, isLink } = modeOf(fd);
    calls.setGroup(fd, request.gid);
    // Changing the owner takes set-id bits away from programs: the mode comes after.
    if (!isLink) chmodSync(`/proc/self/fd/${fd}`, modeForGroup({ mode, isDirectory: false }, request.readOnly));
  } finally {
    closeSync(fd);
  }
}

function modeOf(fd: number): { readonly mode: number; readonly isLink: boolean } {
  const found = fstatSync(fd);
  return { mode: found.mode, isLink: found.isSymbolicLink() };
}
