/** The termination message of a container: the file that it was given for that, or the end of its log. */
import type { ContainerStatus } from '../../../wire/gen/cri-runtime-v1.ts';
import { CONTAINER_NAME, POD_UID, TERMINATION_MESSAGE_PATH, TERMINATION_MESSAGE_POLICY } from '../../spec/labels.ts';

/** Bytes of the file, and bytes and lines of the log, that users have always been shown. */
export const LONGEST_MESSAGE = 4096;
const LONGEST_LOG_MESSAGE = 2048;
const LOG_LINES = 80;
/** What is read of a log for that: a record has up to 16 KiB of text and something before it. */
export const LOG_TAIL_BYTES = 32 * 1024;

export interface LastWords {
  /** Undefined: the container has no such file. */
  readonly file: string | undefined;
  /** Read if the file is empty; undefined: it isn't. */
  readonly log: string | undefined;
}

/** `pods`: the directory that has one for each pod. */
export function lastWordsOf(status: ContainerStatus, pods: string): LastWords {
  const inside = status.annotations[TERMINATION_MESSAGE_PATH] ?? '';
  const file = inside === '' ? undefined : messageFile(status, inside, pods);
  const wantsLog =
    status.annotations[TERMINATION_MESSAGE_POLICY] === 'FallbackToLogsOnError' &&
    status.exitCode !== 0 &&
    status.reason !== 'ContainerCannotRun';
  return { file, log: wantsLog && status.logPath !== '' ? status.logPath : undefined };
}

/** The file that the kubelet made for this container: pod authors can mount something of their own at the same path. */
function messageFile({ labels, mounts }: ContainerStatus, inside: string, pods: string): string | undefined {
  const made = `${pods}/${labels[POD_UID]}/containers/${labels[CONTAINER_NAME]}/`;
  const isInside = ({ containerPath }: { readonly containerPath: string }) =>
    containerPath === (inside.startsWith('/') ? inside : `/${inside}`);
  return mounts.find((mount) => isInside(mount) && mount.hostPath.startsWith(made))?.hostPath;
}

/** The runtime's own message comes first. */
export function joinMessage(runtime: string, lastWords: string): string {
  return runtime === '' || lastWords === '' ? runtime + lastWords : `${runtime}: ${lastWords}`;
}

/** The text of the last lines of a log in CRI's format (`time stream P|F text`), cut to what is shown. Other lines are no records. */
export function logMessage(tail: string, whole: boolean): string {
  const lines = tail.split('\n');
  // The first line of a cut tail may be half a line.
  const complete = whole ? lines : lines.slice(1);
  const texts = complete.map(textOfRecord).filter((text) => text !== undefined);
  const text = texts.slice(-LOG_LINES).join('');
  return text.length > LONGEST_LOG_MESSAGE ? text.slice(-LONGEST_LOG_MESSAGE) : text;
}

const RECORD =
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) ([PF](?::\S{1,64})?) (.*)$/s;

function textOfRecord(line: string): string | undefined {
  const [, tags = '', text = ''] = RECORD.exec(line) ?? [];
  if (tags === '') return undefined;
  return tags.startsWith('P') ? text : `${text}\n`;
}
