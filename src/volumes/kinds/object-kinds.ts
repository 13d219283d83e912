/** The kinds of volumes that are made from objects of the API server and from the pod itself. */
import type { ResourceList } from '../../api/meta.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Objects } from '../../objects/objects.ts';
import { createAtomicWriter } from '../atomic-writer.ts';
import type { VolumeDirectories, VolumeKind } from '../kind.ts';
import { createConfigMapKind } from './config-map.ts';
import { createDownwardApiKind } from './downward-api.ts';
import { createPayloads } from './payloads.ts';
import { createProjectedKind } from './projected.ts';
import { createSecretKind } from './secret.ts';

export type VolumeObjects = Pick<Objects, 'configMap' | 'secret' | 'token' | 'clusterTrustBundles' | 'podCertificate'>;

export interface ObjectKindsDeps {
  readonly clock: Clock;
  /** An integer that is not negative, another one each time. */
  readonly random: () => number;
  readonly directories: VolumeDirectories;
  readonly objects: VolumeObjects;
  readonly nodeAllocatable: () => ResourceList;
  /** The most that a volume in memory of this pod may take; undefined: what the kernel allows. */
  readonly memoryBytes: (pod: Pod) => number | undefined;
}

export interface ObjectKindsConfig {
  /** The gate PodLevelResources. */
  readonly podLevel: boolean;
}

export function createObjectKinds(deps: ObjectKindsDeps, { podLevel }: ObjectKindsConfig): readonly VolumeKind[] {
  const { clock, random, directories, objects, nodeAllocatable, memoryBytes } = deps;
  const shared = {
    directories,
    memoryBytes,
    writer: createAtomicWriter({ clock, random }),
    payloads: createPayloads(),
  };
  const { configMap, secret, token, clusterTrustBundles, podCertificate } = objects;
  const references = { configMap, secret, token, clusterTrustBundles, podCertificate };
  return [
    createConfigMapKind({ ...shared, configMap }),
    createSecretKind({ ...shared, secret }),
    createDownwardApiKind({ ...shared, nodeAllocatable, podLevel }),
    createProjectedKind({ ...shared, ...references, nodeAllocatable, podLevel }),
  ];
}
