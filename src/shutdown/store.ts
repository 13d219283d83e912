/** The files of a node that closes, in the kubelet's root directory. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Parsed } from '../api/parsed.ts';
import { ifPathMissing } from '../base/errno.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import { DRAIN_REQUEST, decodeDrainRequest } from './rules/drain-request.ts';
import { type ClosingRecord, decodeRecord, decodeState, encodeRecord, encodeState } from './rules/record.ts';

export interface ClosingStore {
  /** Undefined: the node was open. */
  load(): Promise<ClosingRecord | undefined>;
  save(record: ClosingRecord): Promise<void>;
  remove(): Promise<void>;
  /** Of this boot; one from before it is removed. */
  isDrainRequested(bootId: string): Promise<boolean>;
  /** The times of the last shutdown, as the reference keeps them. */
  loadTimes(): Promise<{ readonly startSeconds: number; readonly endSeconds: number } | undefined>;
  saveTimes(startedAt: number, endedAt: number | undefined): Promise<void>;
}

export const RECORD = 'node_closing.json';
const TIMES = 'graceful_node_shutdown_state';

export function createClosingStore(directory: string, log: Logger): ClosingStore {
  const path = (name: string) => join(directory, name);
  const read = async <T>(name: string, decode: (text: string) => Parsed<T>): Promise<T | undefined> => {
    const text = await readFile(path(name), 'utf8').catch(ifPathMissing(undefined));
    if (text === undefined) return undefined;
    const outcome = decode(text);
    if (outcome.ok) return outcome.value;
    log.error('File of a node shutdown is unreadable', { path: path(name), problem: outcome.problem });
    return undefined;
  };
  const write = (name: string, text: string, mode: number) =>
    writeFileAtomically(path(name), text, { mode, durable: true, directoryMode: 0o750 });
  return {
    load: () => read(RECORD, decodeRecord),
    save: (record) => write(RECORD, encodeRecord(record), 0o640),
    remove: () => rm(path(RECORD), { force: true }),
    isDrainRequested: async (bootId) => {
      const request = await read(DRAIN_REQUEST, decodeDrainRequest);
      if (request === undefined || request.bootId === bootId) return request !== undefined;
      log.info('Node drain ended with the last boot', { path: path(DRAIN_REQUEST) });
      await rm(path(DRAIN_REQUEST), { force: true });
      return false;
    },
    loadTimes: () => read(TIMES, decodeState),
    saveTimes: (startedAt, endedAt) => write(TIMES, encodeState(startedAt, endedAt), 0o644),
  };
}
