import type { ConfigMap } from '../../api/referenced-objects.ts';
import type { VolumeKind } from '../kind.ts';
import { DEFAULT_MODE } from '../rules/payload.ts';
import { createObjectVolumeKind, type ObjectVolumeDeps } from './object-volume.ts';
import type { ObjectAnswer, Payloads } from './payloads.ts';

export interface ConfigMapKindDeps extends ObjectVolumeDeps {
  readonly payloads: Payloads;
  readonly configMap: (namespace: string, name: string, signal: AbortSignal) => Promise<ObjectAnswer<ConfigMap>>;
}

/** On the kubelet's disk, not in memory: config maps are not secret, and may be large. */
export function createConfigMapKind(deps: ConfigMapKindDeps): VolumeKind {
  return createObjectVolumeKind(deps, {
    plugin: 'kubernetes.io/configmap',
    medium: 'disk',
    source: ({ configMap }) => configMap,
    content: async ({ pod }, { name = '', items, defaultMode = DEFAULT_MODE, optional = false }, signal) => {
      const answer = await deps.configMap(pod.metadata.namespace, name, signal);
      return deps.payloads.configMap(answer, { items, defaultMode, optional });
    },
    references: (pod, { name = '' }) => [{ kind: 'configMap', namespace: pod.metadata.namespace, name }],
  });
}
