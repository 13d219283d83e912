/** Carries out one write of the publisher and returns its result. */
import { apiPath, apiPathBelow } from '../api/api-path.ts';
import type { Pod } from '../api/pod.ts';
import type { Logger } from '../base/logger.ts';
import type { KubeClient, KubeRequest } from '../kube/kube.ts';
import type { ApiObject } from './rules/api-object.ts';
import type { StatusWork } from './rules/status-entry.ts';
import { judgeFailure, type WriteFailure } from './rules/write-failure.ts';

export type WriteResult =
  /** `object`: as the API server has it now. */
  | { readonly kind: 'accepted'; readonly object: Pod }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'failed'; readonly failure: WriteFailure }
  /** The kubelet stops. */
  | { readonly kind: 'aborted' };

const WRITE_WITHIN_MS = 15_000;

export async function writeStatus(
  { client, log }: { readonly client: KubeClient; readonly log: Logger },
  { object, work }: { readonly object: ApiObject; readonly work: StatusWork },
  signal: AbortSignal,
): Promise<WriteResult> {
  const { uid, name, namespace } = object.metadata;
  const about = { pod: `${namespace}/${name}`, podUID: uid };
  try {
    const answer = await client.request<Pod>(requestOf(object, work), signal);
    if (work.kind === 'delete') {
      log.v(2)?.info('Pod fully terminated and removed from etcd', about);
      return { kind: 'deleted' };
    }
    log.v(3)?.info('Patch status for pod', { ...about, patch: work.patch });
    return { kind: 'accepted', object: answer };
  } catch (error) {
    if (signal.aborted) return { kind: 'aborted' };
    const failure = judgeFailure(error);
    const message = work.kind === 'delete' ? 'Failed to delete status for pod' : 'Failed to update status for pod';
    log[failure === 'replaced' ? 'info' : 'warn'](message, { ...about, err: error });
    return { kind: 'failed', failure };
  }
}

function requestOf({ metadata: { uid, name, namespace } }: ApiObject, work: StatusWork): KubeRequest {
  const path = apiPath`/api/v1/namespaces/${namespace}/pods/${name}`;
  if (work.kind === 'delete') {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } };
    return { method: 'DELETE', path, body, timeoutMs: WRITE_WITHIN_MS };
  }
  return {
    method: 'PATCH',
    path: apiPathBelow(path, 'status'),
    patch: 'strategic',
    body: { metadata: { uid }, status: work.patch },
    timeoutMs: WRITE_WITHIN_MS,
    // In a burst of new pods, the status of one that runs goes before those of all that are yet to start.
    ...(work.status.phase === 'Pending' ? {} : { urgent: true }),
  };
}
