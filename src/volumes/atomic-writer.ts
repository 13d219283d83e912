/**
 * Files of a volume that change all at once, also while containers read them. What was written is remembered by its digest, so
 * that a second write of the same files costs one read of a link; after a restart the files themselves are compared.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { CodedError, type ErrorCode } from '../base/errors.ts';
import { createTurns } from '../base/turns.ts';
import { readAtomicState, readDataLink } from './atomic-state.ts';
import { applySteps, type FileWrites, IN_PLACE, isSmall, ON_THREADS } from './atomic-steps.ts';
import { type AtomicPlan, directoryName, planAtomicWrite } from './rules/atomic-plan.ts';
import type { Payload } from './rules/payload.ts';
import { cleanPayload } from './rules/payload-paths.ts';

export interface AtomicWrite {
  /** Must exist; with the set-group bit and the right group where there is an `fsGroup`. */
  readonly directory: string;
  readonly payload: Payload;
  readonly fsGroup: number | undefined;
  /** What the directory is on. */
  readonly medium: 'disk' | 'memory';
}

export interface AtomicWriter {
  /** The directory then shows exactly these files. Calls for one directory must not overlap. */
  write(request: AtomicWrite, signal: AbortSignal): Promise<void>;
  /** The directory is gone. */
  forget(directory: string): void;
}

export interface AtomicWriterDeps {
  readonly clock: Clock;
  /** An integer that is not negative, another one each time. */
  readonly random: () => number;
}

/** A hundred pods that share a config map change at the same moment: they must not use all file threads. */
const VOLUMES_AT_ONCE = 4;
/** A reader that has just followed `..data` must still find that directory, even on a busy machine. */
const READERS_MS = 100;

export function createAtomicWriter({ clock, random }: AtomicWriterDeps): AtomicWriter {
  const written = new Map<string, { readonly directory: string; readonly digest: string }>();
  const digest = createDigests();
  const turns = createTurns(VOLUMES_AT_ONCE);

  const publish = async (request: AtomicWrite, payload: Payload, files: FileWrites): Promise<AtomicPlan> => {
    const { directory, fsGroup, medium } = request;
    const dir = directoryName(clock.now(), random());
    const state = await readAtomicState(directory, { payload, fsGroup, medium });
    const plan = planAtomicWrite(state, { payload, fsGroup, directory: dir });
    try {
      for (const stage of plan.publish) await applySteps(directory, stage, files);
    } catch (error) {
      await removeUnpublished(directory, dir);
      throw error;
    }
    written.set(directory, {
      directory: (state.upToDate ? state.current : dir) ?? dir,
      digest: digest(payload, fsGroup),
    });
    return plan;
  };

  const publishInTurn = async (request: AtomicWrite, payload: Payload, signal: AbortSignal): Promise<AtomicPlan> => {
    // A write that needs no file thread does not wait for those that do.
    if (request.medium === 'memory' && isSmall(payload)) return await publish(request, payload, IN_PLACE);
    using _turn = await turns.take([], signal);
    return await publish(request, payload, ON_THREADS);
  };

  return {
    write: async (request, signal) => {
      signal.throwIfAborted();
      const { directory, fsGroup } = request;
      const clean = cleanPayload(request.payload);
      if (!clean.ok) throw new CodedError('invalid', clean.problem);
      const before = written.get(directory);
      try {
        const known = before?.digest === digest(clean.value, fsGroup);
        if (known && (await readDataLink(directory)) === before?.directory) return;
        written.delete(directory);
        const plan = await publishInTurn(request, clean.value, signal);
        if (plan.tidy.length === 0) return;
        await clock.sleep(READERS_MS, signal).catch(() => undefined); // aborted: the pod ends or the kubelet stops, and no reader has to be waited for
        await applySteps(directory, plan.tidy);
      } catch (error) {
        if (signal.aborted) throw error;
        throw classified(error);
      }
    },
    forget: (directory) => {
      written.delete(directory);
    },
  };
}

/** The visible files stay; the incomplete directory is removed if possible, otherwise by the next write. */
async function removeUnpublished(directory: string, dir: string): Promise<void> {
  const current = await readDataLink(directory).catch(() => dir);
  if (current === dir) return;
  await applySteps(directory, [{ step: 'removeTree', path: dir }]).catch(() => undefined);
}

/** Contents and payloads that several volumes share are read once. */
function createDigests(): (payload: Payload, fsGroup: number | undefined) => string {
  const ofData = new WeakMap<Uint8Array, string>();
  const ofPayload = new WeakMap<Payload, string>();
  const dataDigest = (data: Uint8Array): string => {
    const known = ofData.get(data) ?? createHash('sha256').update(data).digest('base64');
    ofData.set(data, known);
    return known;
  };
  return (payload, fsGroup) => {
    const known = ofPayload.get(payload) ?? payloadDigest(payload, dataDigest);
    ofPayload.set(payload, known);
    return `${known} ${fsGroup ?? ''}`;
  };
}

function payloadDigest(payload: Payload, dataDigest: (data: Uint8Array) => string): string {
  const lines = Array.from(payload, ([path, { data, mode, owner }]) =>
    JSON.stringify([path, mode, owner ?? 0, dataDigest(data)]),
  );
  return createHash('sha256').update(lines.sort().join('\n')).digest('base64');
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'notFound',
  ENOSPC: 'exhausted',
  EDQUOT: 'exhausted',
  EMFILE: 'exhausted',
  EROFS: 'denied',
  EACCES: 'denied',
  EPERM: 'denied',
};

function classified(error: unknown): unknown {
  if (error instanceof CodedError || !(error instanceof Error) || !('code' in error)) return error;
  return new CodedError(CODES[String(error.code)] ?? 'internal', "files of the volume can't be written", {
    cause: error,
  });
}
