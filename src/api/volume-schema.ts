/** The fields of a pod's volumes, the retired kinds included: they are read, and refused by name later. */
import {
  ANYTHING,
  BOOL,
  each,
  type FieldKind,
  INT32,
  INT64,
  list,
  map,
  QUANTITY,
  STRING,
  type StructKind,
  struct,
} from './object-schema.ts';

export const OBJECT_NAME = struct({ name: STRING });

export const LABEL_SELECTOR = struct({
  matchLabels: map(STRING),
  matchExpressions: list(struct({ ...each(STRING, 'key operator'), values: list(STRING) })),
});

export const FIELD_REF = struct(each(STRING, 'apiVersion fieldPath'));
export const RESOURCE_FIELD_REF = struct({ ...each(STRING, 'containerName resource'), divisor: QUANTITY });

const KEYS = list(struct({ ...each(STRING, 'key path'), mode: INT32 }));
const DOWNWARD_FILES = list(
  struct({ path: STRING, fieldRef: FIELD_REF, resourceFieldRef: RESOURCE_FIELD_REF, mode: INT32 }),
);
const OBJECT_KEYS = struct({ name: STRING, items: KEYS, optional: BOOL });

const PROJECTION = struct({
  secret: OBJECT_KEYS,
  downwardAPI: struct({ items: DOWNWARD_FILES }),
  configMap: OBJECT_KEYS,
  serviceAccountToken: struct({ ...each(STRING, 'audience path'), expirationSeconds: INT64 }),
  clusterTrustBundle: struct({
    ...each(STRING, 'name signerName path'),
    labelSelector: LABEL_SELECTOR,
    optional: BOOL,
  }),
  podCertificate: struct({
    ...each(STRING, 'signerName keyType credentialBundlePath keyPath certificateChainPath'),
    maxExpirationSeconds: INT32,
    userAnnotations: map(STRING),
  }),
});

const CLAIM_TEMPLATE = struct({
  metadata: ANYTHING,
  spec: struct({
    accessModes: list(STRING),
    selector: LABEL_SELECTOR,
    resources: struct(each(map(QUANTITY), 'limits requests')),
    ...each(STRING, 'volumeName storageClassName volumeMode volumeAttributesClassName'),
    dataSource: struct(each(STRING, 'apiGroup kind name')),
    dataSourceRef: struct(each(STRING, 'apiGroup kind name namespace')),
  }),
});

const disk = (texts: string, more: StructKind['fields'] = {}): StructKind =>
  struct({ ...each(STRING, texts), readOnly: BOOL, ...more });

const withSecret = { secretRef: OBJECT_NAME };

/** The kinds of volume, by their field. A volume has exactly one of them. */
export const VOLUME_SOURCES: Readonly<Record<string, FieldKind>> = {
  emptyDir: struct({ medium: STRING, sizeLimit: QUANTITY }),
  hostPath: struct(each(STRING, 'path type')),
  gcePersistentDisk: disk('pdName fsType', { partition: INT32 }),
  awsElasticBlockStore: disk('volumeID fsType', { partition: INT32 }),
  gitRepo: struct(each(STRING, 'repository revision directory')),
  secret: struct({ secretName: STRING, items: KEYS, defaultMode: INT32, optional: BOOL }),
  nfs: disk('server path'),
  iscsi: disk('targetPortal iqn iscsiInterface fsType initiatorName', {
    lun: INT32,
    portals: list(STRING),
    ...each(BOOL, 'chapAuthDiscovery chapAuthSession'),
    ...withSecret,
  }),
  glusterfs: disk('endpoints path'),
  persistentVolumeClaim: disk('claimName'),
  rbd: disk('image fsType pool user keyring', { monitors: list(STRING), ...withSecret }),
  flexVolume: disk('driver fsType', { options: map(STRING), ...withSecret }),
  cinder: disk('volumeID fsType', withSecret),
  cephfs: disk('path user secretFile', { monitors: list(STRING), ...withSecret }),
  flocker: struct(each(STRING, 'datasetName datasetUUID')),
  downwardAPI: struct({ items: DOWNWARD_FILES, defaultMode: INT32 }),
  fc: disk('fsType', { ...each(list(STRING), 'targetWWNs wwids'), lun: INT32 }),
  azureFile: disk('secretName shareName'),
  configMap: struct({ name: STRING, items: KEYS, defaultMode: INT32, optional: BOOL }),
  vsphereVolume: struct(each(STRING, 'volumePath fsType storagePolicyName storagePolicyID')),
  quobyte: disk('registry volume user group tenant'),
  azureDisk: disk('diskName diskURI cachingMode fsType kind'),
  photonPersistentDisk: struct(each(STRING, 'pdID fsType')),
  projected: struct({ sources: list(PROJECTION), defaultMode: INT32 }),
  portworxVolume: disk('volumeID fsType'),
  scaleIO: disk('gateway system protectionDomain storagePool storageMode volumeName fsType', {
    sslEnabled: BOOL,
    ...withSecret,
  }),
  storageos: disk('volumeName volumeNamespace fsType', withSecret),
  csi: disk('driver fsType', { volumeAttributes: map(STRING), nodePublishSecretRef: OBJECT_NAME }),
  ephemeral: struct({ volumeClaimTemplate: CLAIM_TEMPLATE }),
  image: struct(each(STRING, 'reference pullPolicy')),
};

export const VOLUME = struct({ name: STRING, ...VOLUME_SOURCES });
