/**
 * Work on files that may be much or may hang, as data: it is done here a bit at a time, or in a process of its own that can be
 * killed. Both ends know this file.
 */

import { closeSync, mkdirSync, openSync, statfsSync, statSync } from 'node:fs';
import { assertNever } from '../base/assert-never.ts';
import { errnoName, hasErrno } from '../base/errno.ts';
import { CodedError, codeOf, describeError, type ErrorCode } from '../base/errors.ts';
import type { FileCalls } from './file-calls.ts';
import { readTextBelow } from './guarded-files.ts';
import { bindSubPath, type SubPathRequest } from './sub-path.ts';
import { measureTree } from './tree-measure.ts';
import { changeGroup, type GroupOutcome, type GroupRequest } from './tree-own.ts';
import { removeTree } from './tree-remove.ts';

/** Of a file that is read whole. */
const MOST_TEXT_BYTES = 1024 * 1024;

export type FileJob =
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'measure'; readonly path: string }
  | ({ readonly kind: 'change-group' } & GroupRequest)
  | ({ readonly kind: 'bind-sub-path' } & SubPathRequest)
  | { readonly kind: 'unmount'; readonly path: string }
  /** The text of a file below a directory, over links that stay below it. */
  | { readonly kind: 'read'; readonly path: string; readonly file: string }
  /** What is there; with `make`, it is made first where it is missing. */
  | { readonly kind: 'look'; readonly path: string; readonly make: 'directory' | 'file' | undefined };

export type PathKind = 'missing' | 'directory' | 'file' | 'socket' | 'character device' | 'block device' | 'other';

export interface DiskUse {
  readonly usedBytes: number;
  readonly inodesUsed: number;
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

interface Answers {
  readonly remove: null;
  readonly measure: DiskUse;
  readonly 'change-group': GroupOutcome;
  readonly 'bind-sub-path': null;
  readonly unmount: null;
  readonly read: string;
  readonly look: PathKind;
}

export type FileAnswer<Job extends FileJob> = Answers[Job['kind']];

/** One step of the job after the other; each yields how many files are done. */
export function* stepsOf(calls: FileCalls, job: FileJob): Generator<number, FileAnswer<FileJob>> {
  switch (job.kind) {
    case 'remove':
      return yield* counted(removeTree(calls, job.path), () => null);
    case 'measure':
      return yield* counted(measureTree(calls, job.path), ({ bytes, inodes }) => diskUse(job.path, bytes, inodes));
    case 'change-group':
      return yield* changeGroup(calls, job);
    case 'bind-sub-path':
      bindSubPath(calls, job);
      return null;
    case 'unmount':
      unmount(calls, job.path);
      return null;
    case 'read':
      return readTextBelow(calls, job.path, job.file, MOST_TEXT_BYTES);
    case 'look':
      return look(job.path, job.make);
    default:
      return assertNever(job);
  }
}

function* counted<T, Answer>(steps: Generator<void, T>, answer: (value: T) => Answer): Generator<number, Answer> {
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (step.done) return answer(step.value);
    yield count;
  }
}

function diskUse(path: string, usedBytes: number, inodesUsed: number): DiskUse {
  const { bsize, blocks, bavail, files, ffree } = statfsSync(path);
  return {
    usedBytes,
    inodesUsed,
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    inodes: files,
    inodesFree: ffree,
  };
}

/** What no one has mounted (any more) is fine. */
function unmount(calls: FileCalls, path: string): void {
  try {
    calls.unmount(path, false);
  } catch (error) {
    if (!hasErrno(error, 'EINVAL', 'ENOENT')) throw error;
  }
}

function look(path: string, make: 'directory' | 'file' | undefined): PathKind {
  const found = kindOf(path);
  if (found !== 'missing' || make === undefined) return found;
  if (make === 'directory') mkdirSync(path, { recursive: true, mode: 0o755 });
  else createFile(path);
  return kindOf(path);
}

/** Never opens what another process puts there meanwhile. */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o644));
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) throw error;
  }
}

function kindOf(path: string): PathKind {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'missing';
  if (found.isDirectory()) return 'directory';
  if (found.isFile()) return 'file';
  if (found.isSocket()) return 'socket';
  if (found.isCharacterDevice()) return 'character device';
  return found.isBlockDevice() ? 'block device' : 'other';
}

/** What the process that does a job writes, a line each. */
export type FileReport =
  | { readonly kind: 'progress'; readonly files: number }
  | { readonly kind: 'done'; readonly answer: FileAnswer<FileJob> }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string; readonly errno: string | undefined };

export function failureOf(error: unknown): Extract<FileReport, { kind: 'failed' }> {
  return { kind: 'failed', code: codeOf(error), message: describeError(error), errno: errnoName(error) };
}

export function errorOf({ code, message, errno }: Extract<FileReport, { kind: 'failed' }>): CodedError {
  return new CodedError(code, message, { data: errno === undefined ? {} : { name: errno } });
}
