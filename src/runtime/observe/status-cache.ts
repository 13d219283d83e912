/**
 * The whole stories behind the lines of a list. A status is asked for once for each state of a thing: neither the addresses of
 * a sandbox nor the times of a container change while its state doesn't, and most readings find nothing new.
 */
import { isMissing } from '../../base/errno.ts';
import { describeError } from '../../base/errors.ts';
import type { GuardedFiles } from '../../host/guarded-files.ts';
import type { ObservedContainer, ObservedSandbox } from '../../model/observation.ts';
import type {
  Container,
  ContainerStatus,
  ContainerStatusResponse,
  PodSandbox,
  PodSandboxStatusResponse,
} from '../../wire/gen/cri-runtime-v1.ts';
import { joinMessage, LOG_TAIL_BYTES, LONGEST_MESSAGE, lastWordsOf, logMessage } from './rules/last-words.ts';
import { readContainer, readSandbox } from './rules/reading.ts';

export interface StatusCalls {
  sandbox(id: string, signal: AbortSignal): Promise<PodSandboxStatusResponse | undefined>;
  container(id: string, signal: AbortSignal): Promise<ContainerStatusResponse | undefined>;
  readonly messages: MessageFiles;
}

/** Where containers leave their last words. */
export interface MessageFiles {
  readonly files: Pick<GuardedFiles, 'readTail'>;
  /** The directory that has one for each pod. */
  readonly pods: string;
  /** `podLogsDir`. */
  readonly podLogs: string;
}

interface Kept<T> {
  readonly state: number;
  readonly value: T;
}

/** One for each pod. */
export interface StatusCache {
  /** Undefined: it has gone meanwhile. */
  sandbox(listed: PodSandbox, signal: AbortSignal): Promise<ObservedSandbox | undefined>;
  container(listed: Container, signal: AbortSignal): Promise<ObservedContainer | undefined>;
  /** Forgets what is not in the lists any more. */
  keepOnly(ids: ReadonlySet<string>): void;
}

export function createStatusCache(calls: StatusCalls): StatusCache {
  const sandboxes = new Map<string, Kept<ObservedSandbox>>();
  const containers = new Map<string, Kept<ObservedContainer>>();
  return {
    sandbox: async (listed, signal) => {
      const kept = sandboxes.get(listed.id);
      if (kept?.state === listed.state) return kept.value;
      const status = (await calls.sandbox(listed.id, signal))?.status;
      if (status === undefined) return undefined;
      const value = readSandbox(status);
      sandboxes.set(listed.id, { state: status.state, value });
      return value;
    },
    container: async (listed, signal) => {
      const kept = containers.get(listed.id);
      if (kept?.state === listed.state) return kept.value;
      const status = (await calls.container(listed.id, signal))?.status;
      if (status === undefined) return undefined;
      const value = readContainer(status, listed, await messageOf(status, calls.messages));
      containers.set(listed.id, { state: status.state, value });
      return value;
    },
    keepOnly: (ids) => {
      for (const map of [sandboxes, containers]) for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
    },
  };
}

async function messageOf(status: ContainerStatus, { files, pods, podLogs }: MessageFiles): Promise<string> {
  if (status.finishedAt === 0n) return status.message;
  const { file, log } = lastWordsOf(status, pods);
  let words = '';
  if (file !== undefined) {
    try {
      words = (await files.readTail(pods, file, LONGEST_MESSAGE)).text;
    } catch (error) {
      words = isMissing(error) ? '' : `Error on reading termination log ${file}: ${describeError(error)}`;
    }
  }
  if (words === '' && log !== undefined) {
    try {
      const tail = await files.readTail(podLogs, log, LOG_TAIL_BYTES);
      words = logMessage(tail.text, tail.whole);
    } catch (error) {
      words = `Error on reading termination message from logs: ${describeError(error)}`;
    }
  }
  return joinMessage(status.message, words);
}
