/** A kubelet without an API server: nothing of it is there, and each thing says so by its name. */
import { CodedError } from '../../base/errors.ts';
import type { VolumeObjects } from './object-kinds.ts';

const ALONE = 'this kubelet runs without an API server';

export const NO_OBJECTS: VolumeObjects = {
  configMap: (_, name) => Promise.resolve({ kind: 'missing', message: `configmap "${name}" not found: ${ALONE}` }),
  secret: (_, name) => Promise.resolve({ kind: 'missing', message: `secret "${name}" not found: ${ALONE}` }),
  token: ({ serviceAccountName }) =>
    Promise.reject(
      new CodedError('unsupported', `no token for service account "${serviceAccountName}" can be had: ${ALONE}`),
    ),
  clusterTrustBundles: () =>
    Promise.reject(new CodedError('unsupported', `ClusterTrustBundles can't be had: ${ALONE}`)),
  podCertificate: () => Promise.reject(new CodedError('unsupported', `pod certificates can't be had: ${ALONE}`)),
};
