/** A pod as the list of the page shows it. */
import type { Pod } from '../../api/pod.ts';
import { podRow } from '../../api/pod-row.ts';
import { isStaticPod } from '../../api/pod-traits.ts';
import { parseTimestamp } from '../../api/timestamp.ts';

export interface ShownPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** As `kubectl get pods` shows it. */
  readonly status: string;
  readonly ready: string;
  readonly isReady: boolean;
  readonly restarts: number;
  /** Wall clock, ms. */
  readonly createdAt: number;
  readonly ip: string;
  /** From a file or a URL: who wants to end it removes that. */
  readonly isStatic: boolean;
  readonly containers: readonly string[];
  /** Why it does not run, in one line; empty where nothing holds it up. */
  readonly why: string;
}

export function shownPod(pod: Pod, why: string, startedAt: number): ShownPod {
  const { metadata, spec } = pod;
  const { ready, containers, status, restarts, ip } = podRow(pod);
  const created = parseTimestamp(metadata.creationTimestamp ?? '');
  return {
    uid: metadata.uid,
    namespace: metadata.namespace,
    name: metadata.name,
    status,
    ready: `${ready}/${containers}`,
    isReady: ready === containers,
    restarts,
    createdAt: created ?? startedAt,
    ip,
    isStatic: isStaticPod(pod),
    containers: [...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => name),
    why,
  };
}
