import type { ResourceList } from '../../api/meta.ts';
import { invalid, type VolumeKind } from '../kind.ts';
import { downwardPayload } from '../rules/downward-payload.ts';
import { DEFAULT_MODE } from '../rules/payload.ts';
import { createObjectVolumeKind, type ObjectVolumeDeps } from './object-volume.ts';

export interface DownwardApiKindDeps extends ObjectVolumeDeps {
  readonly nodeAllocatable: () => ResourceList;
  /** The gate PodLevelResources. */
  readonly podLevel: boolean;
}

export function createDownwardApiKind(deps: DownwardApiKindDeps): VolumeKind {
  return createObjectVolumeKind(deps, {
    plugin: 'kubernetes.io/downward-api',
    medium: 'memory',
    dependsOnPod: true,
    source: ({ downwardAPI }) => downwardAPI,
    content: ({ pod }, { items, defaultMode = DEFAULT_MODE }) => {
      const { podLevel } = deps;
      const made = downwardPayload({ pod, items, defaultMode, podLevel, nodeAllocatable: deps.nodeAllocatable() });
      return Promise.resolve(made.ok ? { kind: 'content', payload: made.value } : invalid(made.problem));
    },
  });
}
