/** Names of log directories, files and links, as log shippers and other kubelets know them. */
import type { LocalTime } from '../../../base/local-time.ts';

export interface PodName {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

const LINK_SUFFIX = '.log';
/** No longer name fits into a directory. */
const LONGEST_NAME = 255;

/** `NAME_NAMESPACE_CONTAINER-ID.log`, cut off where it is too long. */
export function logLinkName(pod: Pick<PodName, 'name' | 'namespace'>, container: string, id: string): string {
  const whole = `${pod.name}_${pod.namespace}_${container}-${id}`;
  return `${whole.slice(0, LONGEST_NAME - LINK_SUFFIX.length)}${LINK_SUFFIX}`;
}

/** From `NAMESPACE_NAME_UID`; undefined for a directory that is no pod's. */
export function podOfLogDirectory(directory: string): PodName | undefined {
  const [namespace = '', name = '', ...rest] = directory.split('_');
  const uid = rest.join('_');
  return namespace === '' || name === '' || uid === '' ? undefined : { uid, name, namespace };
}

/** `20261115-150405`: sorts by age. */
export function logStamp(time: LocalTime): string {
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${String(time.year).padStart(4, '0')}${two(time.month)}${two(time.day)}`;
  return `${day}-${two(time.hour)}${two(time.minute)}${two(time.second)}`;
}

/** `3.log` and what was rotated out of it are of the attempt 3; -1 for a file that is no log. */
export function attemptOfLog(file: string): number {
  return Number(/^(\d+)\.log(?:\.|$)/.exec(file)?.[1] ?? -1);
}
