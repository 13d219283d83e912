/** The container whose log a name stands for, or why there is none yet. The messages are those of the reference, which kubectl shows. */

import { type Parsed, parsed, unparsable } from '../../../api/parsed.ts';
import type { ContainerStatus, PodStatus } from '../../../api/pod-status.ts';
import { quoteText } from '../../../base/go-text.ts';

export interface LogQuestion {
  readonly pod: string;
  readonly container: string;
  readonly previous: boolean;
}

/** The id as in statuses, with the runtime's name as prefix. */
export function chooseLog(status: PodStatus | undefined, { pod, container, previous }: LogQuestion): Parsed<string> {
  const where = `container ${quoteText(container)} in pod ${quoteText(pod)}`;
  const found = statusOf(status, container);
  if (found === undefined) return unparsable(`${where} is not available`);
  const { running, terminated, waiting } = found.state;
  const last = found.lastState.terminated?.containerID ?? '';
  if (previous) return last === '' ? unparsable(`previous terminated ${where} not found`) : parsed(last);
  if (running !== undefined) return parsed(found.containerID ?? '');
  if (terminated !== undefined || found.lastState.terminated !== undefined) {
    const id = terminated?.containerID || last;
    return id === '' ? unparsable(`${where} is terminated`) : parsed(id);
  }
  if (waiting === undefined) return unparsable(`${where} is waiting to start - no logs yet`);
  return unparsable(`${where} is waiting to start: ${WAITING.get(waiting.reason ?? '') ?? waiting.reason ?? ''}`);
}

const WAITING: ReadonlyMap<string, string> = new Map([
  ['ErrImagePull', "image can't be pulled"],
  ['ImagePullBackOff', 'trying and failing to pull image'],
]);

function statusOf(status: PodStatus | undefined, name: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  return [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].find(
    (one) => one.name === name,
  );
}
