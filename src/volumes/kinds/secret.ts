import type { Secret } from '../../api/referenced-objects.ts';
import type { VolumeKind } from '../kind.ts';
import { DEFAULT_MODE } from '../rules/payload.ts';
import { createObjectVolumeKind, type ObjectVolumeDeps } from './object-volume.ts';
import type { ObjectAnswer, Payloads } from './payloads.ts';

export interface SecretKindDeps extends ObjectVolumeDeps {
  readonly payloads: Payloads;
  readonly secret: (namespace: string, name: string, signal: AbortSignal) => Promise<ObjectAnswer<Secret>>;
}

/** In memory: a secret never reaches the disk. */
export function createSecretKind(deps: SecretKindDeps): VolumeKind {
  return createObjectVolumeKind(deps, {
    plugin: 'kubernetes.io/secret',
    medium: 'memory',
    source: ({ secret }) => secret,
    content: async ({ pod }, { secretName = '', items, defaultMode = DEFAULT_MODE, optional = false }, signal) => {
      const answer = await deps.secret(pod.metadata.namespace, secretName, signal);
      return deps.payloads.secret(answer, { items, defaultMode, optional });
    },
    references: (pod, { secretName = '' }) => [{ kind: 'secret', namespace: pod.metadata.namespace, name: secretName }],
  });
}
