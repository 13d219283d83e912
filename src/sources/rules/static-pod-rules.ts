/** What a pod from a file or a URL may not contain, although a pod from the API server may. */

import type { Container } from '../../api/container.ts';
import { type FieldError, forbidden, invalid, required } from '../../api/field-error.ts';
import { isPodUid, POD_UID_RULE } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import type { Volume, VolumeProjection } from '../../api/volume.ts';

export function staticPodFaults(pod: Pod, rules: { readonly preventApiReferences: boolean }): readonly FieldError[] {
  const { name, uid } = pod.metadata;
  const faults: FieldError[] = [];
  if (name === '') faults.push(required('metadata.name', 'name is needed for the pod'));
  if (uid !== '' && !isPodUid(uid)) faults.push(invalid('metadata.uid', uid, POD_UID_RULE));
  const found = rules.preventApiReferences ? apiReferences(pod) : essentialReferences(pod);
  return [...faults, ...found.map(({ path, what }) => forbidden(path, `static pods may not reference ${what}`))];
}

interface Reference {
  readonly path: string;
  readonly what: string;
}

/** Things that live in the API server. A static pod must be able to run without one. */
function apiReferences(pod: Pod): readonly Reference[] {
  const { spec } = pod;
  const found: Reference[] = [];
  if (spec.serviceAccountName) found.push({ path: 'spec.serviceAccountName', what: 'serviceaccounts' });
  else if (spec.serviceAccount) found.push({ path: 'spec.serviceAccount', what: 'serviceaccounts' });
  (spec.imagePullSecrets ?? []).forEach(({ name }, index) => {
    if (name) found.push({ path: `spec.imagePullSecrets[${index}].name`, what: 'secrets' });
  });
  if ((spec.resourceClaims ?? []).length > 0) found.push({ path: 'spec.resourceClaims', what: 'resourceclaims' });
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    (spec[list] ?? []).forEach((container, index) => {
      found.push(...containerReferences(container, `spec.${list}[${index}]`));
    });
  }
  (spec.volumes ?? []).forEach((volume, index) => {
    found.push(...volumeReferences(volume, `spec.volumes[${index}]`));
  });
  return found;
}

/** What is refused even where the gate is off: there is no way to serve it. */
function essentialReferences(pod: Pod): readonly Reference[] {
  return apiReferences(pod).filter(({ what }) => what === 'resourceclaims' || what === 'clustertrustbundles');
}

function containerReferences(container: Container, path: string): readonly Reference[] {
  const found: Reference[] = [];
  (container.envFrom ?? []).forEach((source, index) => {
    const at = `${path}.envFrom[${index}]`;
    if (source.secretRef?.name) found.push({ path: `${at}.secretRef`, what: 'secrets' });
    if (source.configMapRef?.name) found.push({ path: `${at}.configMapRef`, what: 'configmaps' });
  });
  (container.env ?? []).forEach(({ valueFrom }, index) => {
    const at = `${path}.env[${index}].valueFrom`;
    if (valueFrom?.secretKeyRef?.name) found.push({ path: `${at}.secretKeyRef`, what: 'secrets' });
    if (valueFrom?.configMapKeyRef?.name) found.push({ path: `${at}.configMapKeyRef`, what: 'configmaps' });
  });
  return found;
}

const VOLUMES_OF_THE_API: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
};

const PROJECTIONS_OF_THE_API: Readonly<Record<keyof Omit<VolumeProjection, 'downwardAPI'>, string>> = {
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
};

/** Drivers that fetch their password from a secret of the pod's namespace. */
const DRIVERS_WITH_SECRETS = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'];

function volumeReferences(volume: Volume, path: string): readonly Reference[] {
  const found: Reference[] = [];
  for (const [kind, what] of Object.entries(VOLUMES_OF_THE_API)) {
    if (volume[kind] !== undefined) found.push({ path: `${path}.${kind}`, what });
  }
  for (const kind of DRIVERS_WITH_SECRETS) {
    const source = volume[kind] as { readonly secretRef?: { readonly name?: string } } | undefined;
    if (source?.secretRef?.name) found.push({ path: `${path}.${kind}.secretRef`, what: 'secrets' });
  }
  (volume.projected?.sources ?? []).forEach((projection, index) => {
    for (const [kind, what] of Object.entries(PROJECTIONS_OF_THE_API)) {
      if (projection[kind as keyof VolumeProjection] !== undefined) {
        found.push({ path: `${path}.projected.sources[${index}].${kind}`, what });
      }
    }
  });
  return found;
}
