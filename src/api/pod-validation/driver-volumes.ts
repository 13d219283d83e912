/** Volumes that drivers mount: what each of them can't do without. */
import type { Faults } from './faults.ts';
import { dnsSubdomain, relativePath } from './text-rules.ts';

const CSI_DRIVER = /^[a-zA-Z0-9](?:[-a-zA-Z0-9.]{0,61}[a-zA-Z0-9])?$/;
const ISCSI_NAME =
  /^(?:iqn\.\d{4}-\d{2}\.[a-z0-9]+(?:[-.][a-z0-9]+)*(?::.+)?|eui\.[0-9a-fA-F]{16}|naa\.[0-9a-fA-F]{32})$/;

/** The fields that must not be empty, by kind. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  gitRepo: ['repository'],
  nfs: ['server', 'path'],
  iscsi: ['targetPortal', 'iqn'],
  glusterfs: ['endpoints', 'path'],
  rbd: ['monitors', 'image'],
  flexVolume: ['driver'],
  cinder: ['volumeID'],
  cephfs: ['monitors'],
  azureFile: ['secretName', 'shareName'],
  vsphereVolume: ['volumePath'],
  quobyte: ['registry', 'volume'],
  azureDisk: ['diskName', 'diskURI'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  storageos: ['volumeName'],
  csi: ['driver'],
  ephemeral: ['volumeClaimTemplate'],
};

type Source = Readonly<Record<string, unknown>>;
type Check = (source: Source, path: string, faults: Faults) => void;

const textOf = (source: Source, field: string): string => {
  const value = source[field];
  return typeof value === 'string' ? value : '';
};

const CHECKS: Readonly<Record<string, Check>> = {
  gitRepo: (source, path, faults) =>
    faults.optionalText(`${path}.directory`, textOf(source, 'directory'), relativePath),
  nfs: (source, path, faults) => {
    const directory = textOf(source, 'path');
    if (directory && !directory.startsWith('/')) faults.invalid(`${path}.path`, directory, 'must be an absolute path');
  },
  iscsi: (source, path, faults) => {
    faults.optionalText(`${path}.iqn`, textOf(source, 'iqn'), iscsiName);
    faults.optionalText(`${path}.initiatorName`, textOf(source, 'initiatorName'), iscsiName);
    faults.range(`${path}.lun`, source['lun'] as number | undefined, 0, 255);
    const chap = source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true;
    if (chap && source['secretRef'] === undefined) faults.required(`${path}.secretRef`);
  },
  fc: (source, path, faults) => {
    const names = ['targetWWNs', 'wwids'].filter((field) => !isEmpty(source[field]));
    if (names.length === 0)
      faults.required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both');
    if (names.length === 2) {
      faults.invalid(
        `${path}.targetWWNs`,
        source['targetWWNs'],
        'targetWWNs and wwids can not be specified simultaneously',
      );
    }
    if (!names.includes('targetWWNs')) return;
    if (source['lun'] === undefined) faults.required(`${path}.lun`, 'lun is required if targetWWNs is specified');
    else faults.range(`${path}.lun`, source['lun'] as number, 0, 255);
  },
  flexVolume: (source, path, faults) => {
    for (const key of Object.keys((source['options'] ?? {}) as object)) {
      const namespace = `.${(key.includes('/') ? key.split('/')[0] : key)?.toLowerCase()}`;
      if (!namespace.endsWith('.kubernetes.io') && !namespace.endsWith('.k8s.io')) continue;
      faults.invalid(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved');
    }
  },
  flocker: (source, path, faults) => {
    const names = ['datasetName', 'datasetUUID'].filter((field) => !isEmpty(source[field]));
    if (names.length === 0) faults.required(path, 'one of datasetName and datasetUUID is required');
    if (names.length === 2)
      faults.invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
    const name = textOf(source, 'datasetName');
    if (name.includes('/')) faults.invalid(`${path}.datasetName`, name, "must not contain '/'");
  },
  csi: (source, path, faults) => {
    const driver = textOf(source, 'driver');
    if (driver.length > 63) faults.tooLong(`${path}.driver`, 63);
    if (driver && !CSI_DRIVER.test(driver) && driver.length <= 63) {
      faults.invalid(
        `${path}.driver`,
        driver,
        "must consist of letters, digits, '-' and '.', and begin and end with a letter or digit",
      );
    }
    const secret = source['nodePublishSecretRef'] as Source | undefined;
    if (secret !== undefined) {
      faults.requiredText(`${path}.nodePublishSecretRef.name`, textOf(secret, 'name'), dnsSubdomain);
    }
  },
  gcePersistentDisk: (source, path, faults) => faults.range(`${path}.partition`, source['partition'] as number, 0, 255),
  awsElasticBlockStore: (source, path, faults) =>
    faults.range(`${path}.partition`, source['partition'] as number, 0, 255),
};

const iscsiName = (text: string): string | undefined =>
  ISCSI_NAME.test(text) ? undefined : 'must be valid format starting with iqn, eui, or naa';

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

export function checkDriverVolume(kind: string, source: unknown, path: string, faults: Faults): void {
  const fields = source as Source;
  for (const field of NEEDED[kind] ?? []) if (isEmpty(fields[field])) faults.required(`${path}.${field}`);
  CHECKS[kind]?.(fields, path, faults);
}
