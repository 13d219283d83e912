/** Which group and modes the files of a volume get when its pod names an `fsGroup`. */

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const ENTER = 0o110;
const SET_GROUP = 0o2000;
const PERMISSIONS = 0o7777;

export interface OwnedFile {
  readonly mode: number;
  readonly gid: number;
  readonly isDirectory: boolean;
}

/** The mode of a file or directory (never of a link, whose mode means nothing) that the group may use: only ever more than before. */
export function modeForGroup({ mode, isDirectory }: Omit<OwnedFile, 'gid'>, readOnly: boolean): number {
  const wanted = readOnly ? READ_ONLY : READ_WRITE;
  return (mode & PERMISSIONS) | wanted | (isDirectory ? SET_GROUP | ENTER : 0);
}

/** With `OnRootMismatch` a root that is right stands for all below it. Any other policy changes all, every time. */
export function needsNewOwner(
  root: OwnedFile,
  request: { readonly gid: number; readonly readOnly: boolean; readonly policy: string | undefined },
): boolean {
  if (request.policy !== 'OnRootMismatch' || !root.isDirectory || root.gid !== request.gid) return true;
  return (root.mode & PERMISSIONS) !== modeForGroup(root, request.readOnly);
}
