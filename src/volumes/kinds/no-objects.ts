/** A kubelet without an API server: every object is missing, and each answer names it. */
import { CodedError } from '../../base/errors.ts';
import type { VolumeObjects } from './object-kinds.ts';

const ALONE = 'this kubelet runs without an API server';

export const NO_OBJECTS: VolumeObjects = {
  configMap: (_, name) => Promise.resolve({ kind: 'missing', message: `configmap "${name}" not found: ${ALONE}` }),
  secret: (_, name) => Promise.resolve({ kind: 'missing', message: `secret "${name}" not found: ${ALONE}` }),
  token: ({ serviceAccountName }) =>
    Promise.reject(
      new CodedError('unsupported', `failed to fetch token of service account "${serviceAccountName}": ${ALONE}`),
    ),
  clusterTrustBundles: () =>
    Promise.reject(new CodedError('unsupported', `failed to read ClusterTrustBundles: ${ALONE}`)),
  podCertificate: () => Promise.reject(new CodedError('unsupported', `failed to request pod certificate: ${ALONE}`)),
};
