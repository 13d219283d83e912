/** As much of a pod's object as the publisher needs: the rest, such as the spec, is not kept. */
import type { Pod } from '../../api/pod.ts';
import { CONFIG_MIRROR } from '../../api/pod-traits.ts';

export type ApiObject = Pick<Pod, 'metadata' | 'status'>;

export function slimObject({ metadata, status }: Pod): ApiObject {
  const { uid, name, namespace, resourceVersion, deletionTimestamp, annotations = {} } = metadata;
  const mirrored = annotations[CONFIG_MIRROR];
  return {
    metadata: {
      uid,
      name,
      namespace,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(mirrored === undefined ? {} : { annotations: { [CONFIG_MIRROR]: mirrored } }),
    },
    ...(status === undefined ? {} : { status }),
  };
}

/** The UID of the pod on this node that an object stands for: a mirror pod stands for a static pod. */
export function podUidOf({ metadata }: ApiObject): string {
  return metadata.annotations?.[CONFIG_MIRROR] ?? metadata.uid;
}
