/**
 * The file in which the store keeps its objects: each change is a line at its end, and the file is written again from the objects
 * when most of it is old. A kubelet that is killed leaves at most a line without its end, which the next start cuts off.
 */
import { constants } from 'node:fs';
import { copyFile, type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { isMissing } from '../base/errno.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { decodeRecord, encodeRecord, JOURNAL_HEADER, type JournalRecord } from './rules/record.ts';

export interface Journal {
  /** Every record of an earlier life, in order. Opens the file for `append`. A damaged file is copied aside, and has to be rewritten. */
  open(onRecord: (record: JournalRecord) => void): Promise<{ readonly isDamaged: boolean }>;
  /** All records or none of them are in the file when this settles. Not called again before that. */
  append(records: readonly JournalRecord[], options: { readonly sync: boolean }): Promise<void>;
  /** Writes the file again with these records only. */
  rewrite(records: Iterable<JournalRecord>): Promise<void>;
  bytes(): number;
  close(): Promise<void>;
}

export interface JournalConfig {
  readonly file: string;
}

const ROOT_ONLY = 0o600;
const DIRECTORY = 0o700;
/** The text of a rewrite is written in pieces, so that the event loop goes on. */
const PIECE_BYTES = 64 << 10;

export function createJournal({ log }: { readonly log: Logger }, { file }: JournalConfig): Journal {
  let handle: FileHandle | undefined;
  let size = 0;

  const use = (): FileHandle => {
    if (handle === undefined) throw new CodedError('unavailable', 'the store of the local API is not open');
    return handle;
  };

  const openAt = async (length: number): Promise<void> => {
    handle = await open(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, ROOT_ONLY);
    await handle.chmod(ROOT_ONLY);
    await handle.truncate(length);
    size = length;
  };

  const create = async (): Promise<void> => {
    await openAt(0);
    await write(use(), `${JOURNAL_HEADER}\n`, 0);
    await use().sync();
    size = Buffer.byteLength(JOURNAL_HEADER) + 1;
    await syncDirectory(dirname(file));
  };

  const rewrite = async (records: Iterable<JournalRecord>): Promise<void> => {
    const temporary = `${file}.new`;
    const next = await open(temporary, 'w', ROOT_ONLY);
    let written = 0;
    try {
      for (const piece of piecesOf(records)) written += await write(next, piece, written);
      await next.sync();
      await rename(temporary, file);
    } catch (error) {
      await next.close();
      await rm(temporary, { force: true }).catch(() => undefined); // the first failure is the one to report
      throw error;
    }
    await handle?.close();
    handle = next;
    size = written;
    await syncDirectory(dirname(file));
  };

  return {
    open: async (onRecord) => {
      await mkdir(dirname(file), { recursive: true, mode: DIRECTORY });
      const bytes = await readFile(file).catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
      if (bytes === undefined || bytes.length === 0) {
        await create();
        return { isDamaged: false };
      }
      const { end, damaged } = readRecords(bytes, file, onRecord);
      if (damaged > 0) {
        const kept = `${file}.damaged`;
        await copyFile(file, kept);
        log.error('Some records of the local API are damaged and were left out', { path: file, damaged, kept });
      }
      await openAt(end);
      if (end < bytes.length) {
        log.warn('A record was written in part and is left out', { path: file, bytes: bytes.length - end });
      }
      return { isDamaged: damaged > 0 };
    },
    append: async (records, { sync }) => {
      const text = records.map((record) => encodeRecord(record, crc32)).join('');
      const before = size;
      try {
        size += await write(use(), text, before);
        if (sync) await use().datasync();
      } catch (error) {
        size = before;
        // Half a line would be taken for damage of the file once a whole one follows it.
        await use().truncate(before);
        throw error;
      }
    },
    rewrite,
    bytes: () => size,
    close: async () => {
      await handle?.sync().catch(() => undefined); // what had to be on disk is there already
      await handle?.close();
      handle = undefined;
    },
  };
}

function readRecords(bytes: Buffer, file: string, onRecord: (record: JournalRecord) => void) {
  const first = bytes.indexOf('\n');
  const header = bytes.toString('utf8', 0, Math.max(first, 0));
  if (header !== JOURNAL_HEADER) {
    throw new CodedError(
      'invalid',
      `${file} is not a journal that this kubelet can read: it begins with ${JSON.stringify(header.slice(0, 80))}`,
    );
  }
  let end = first + 1;
  let damaged = 0;
  for (let next = bytes.indexOf('\n', end); next >= 0; next = bytes.indexOf('\n', end)) {
    const record = decodeRecord(bytes.toString('utf8', end, next), crc32);
    if (record === undefined) damaged += 1;
    else onRecord(record);
    end = next + 1;
  }
  return { end, damaged };
}

function* piecesOf(records: Iterable<JournalRecord>): Generator<string> {
  let text = `${JOURNAL_HEADER}\n`;
  for (const record of records) {
    text += encodeRecord(record, crc32);
    if (text.length < PIECE_BYTES) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** Node writes less than it was given where the disk is almost full, without an error. */
async function write(handle: FileHandle, text: string, at: number): Promise<number> {
  const bytes = Buffer.from(text, 'utf8');
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
  return bytes.length;
}

async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
