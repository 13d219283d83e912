/** What objects take from the configuration of the whole kubelet, and from this node's own object. */
import { apiPath } from '../api/api-path.ts';
import type { StoredMeta } from '../api/referenced-objects.ts';
import { CodedError } from '../base/errors.ts';
import type { Config } from '../config/config.ts';
import type { KubeClient } from '../kube/kube.ts';
import type { ObjectsConfig, ObjectsDeps } from './objects.ts';

const STRATEGIES = ['Watch', 'Cache', 'Get'] as const;

export function objectsConfig({ kubelet, features }: Config, nodeName: string): ObjectsConfig {
  return {
    nodeName,
    strategy: strategyOf(kubelet.configMapAndSecretChangeDetectionStrategy),
    syncMs: kubelet.syncFrequency,
    trustBundles: features.enabled('ClusterTrustBundleProjection'),
    podCertificates: features.enabled('PodCertificateRequest'),
  };
}

function strategyOf(text: string): (typeof STRATEGIES)[number] {
  const strategy = STRATEGIES.find((one) => one === text);
  if (strategy !== undefined) return strategy;
  throw new CodedError(
    'invalid',
    `unknown configmap and secret manager mode: ${JSON.stringify(text)}: must be one of ${STRATEGIES.join(', ')}`,
  );
}

const TTL_ANNOTATION = 'node.alpha.kubernetes.io/ttl';

export interface OwnNode {
  readonly metadata: Pick<StoredMeta, 'uid' | 'annotations'>;
}

/** What objects need of this node: from its object where that is known, else by a request to the API server. */
export function ownNodeFacts(
  client: KubeClient,
  name: string,
  node: () => OwnNode | undefined,
): Pick<ObjectsDeps, 'nodeTtlSeconds' | 'nodeUid'> {
  return {
    nodeTtlSeconds: () => ttlOf(node()?.metadata.annotations?.[TTL_ANNOTATION]),
    nodeUid: async (signal) => {
      const known = node()?.metadata.uid;
      if (known !== undefined) return known;
      const path = apiPath`/api/v1/nodes/${name}`;
      return (await client.request<{ metadata: StoredMeta }>({ method: 'GET', path }, signal)).metadata.uid;
    },
  };
}

function ttlOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}
