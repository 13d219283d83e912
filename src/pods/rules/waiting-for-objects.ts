/** Which pods have containers that wait for an object of the API server. */
import type { PodUid } from '../../api/ids.ts';
import type { PodView } from '../../model/pod-view.ts';

export const CONFIG_ERROR = 'CreateContainerConfigError';

export interface ChangedObject {
  readonly kind: string;
  readonly namespace: string;
}

export function waitingForObjects(
  views: readonly Pick<PodView, 'uid' | 'pod' | 'memory'>[],
  { kind, namespace }: ChangedObject,
): readonly PodUid[] {
  if (kind !== 'configMap' && kind !== 'secret') return [];
  return views
    .filter(({ pod }) => pod.metadata.namespace === namespace)
    .filter(({ memory }) => [...memory.values()].some(({ waiting }) => waiting?.reason === CONFIG_ERROR))
    .map(({ uid }) => uid);
}
