/** Variables of a container, and what they and downward API volumes may refer to. */
import type {
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  KeySelector,
  ObjectFieldSelector,
  ResourceFieldSelector,
} from '../container.ts';
import { splitSubscript } from '../downward.ts';
import { parseQuantity } from '../quantity.ts';
import type { Faults } from './faults.ts';
import {
  annotationKey,
  dnsLabel,
  dnsSubdomain,
  envName,
  objectKey,
  qualifiedName,
  withoutBackSteps,
} from './text-rules.ts';

export const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Fields that the downward API knows at all, in whatever place. */
const KNOWN_FIELDS = [
  ...ENV_FIELDS,
  'metadata.labels',
  'metadata.annotations',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
];

const RESOURCE_FIELDS = ['cpu', 'ephemeral-storage', 'memory'].flatMap((name) => [
  `limits.${name}`,
  `requests.${name}`,
]);
const BYTE_DIVISORS = ['1', ...'kMGTPE'].flatMap((unit) =>
  unit === '1' ? ['1'] : [`1${unit}`, `1${unit === 'k' ? 'K' : unit}i`],
);

export function checkEnv(variable: EnvVar, path: string, faults: Faults): void {
  faults.requiredText(`${path}.name`, variable.name, envName);
  if (variable.valueFrom !== undefined) checkValueFrom(variable, variable.valueFrom, `${path}.valueFrom`, faults);
}

function checkValueFrom(variable: EnvVar, source: EnvVarSource, path: string, faults: Faults): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef !== undefined) checkFieldRef(fieldRef, `${path}.fieldRef`, ENV_FIELDS, faults);
  if (resourceFieldRef !== undefined) checkResourceRef(resourceFieldRef, `${path}.resourceFieldRef`, faults);
  if (configMapKeyRef !== undefined) checkKeyRef(configMapKeyRef, `${path}.configMapKeyRef`, faults);
  if (secretKeyRef !== undefined) checkKeyRef(secretKeyRef, `${path}.secretKeyRef`, faults);
  if (fileKeyRef !== undefined) checkFileRef(fileKeyRef, `${path}.fileKeyRef`, faults);
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  if (count === 0) {
    const kinds = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    faults.invalid(path, '', `must specify one of: ${kinds}`);
  } else if (variable.value) faults.invalid(path, '', 'may not be specified when `value` is not empty');
  else if (count > 1) faults.invalid(path, '', 'may not have more than one field specified at a time');
}

export function checkEnvFrom(source: EnvFromSource, path: string, faults: Faults): void {
  const { prefix, configMapRef, secretRef } = source;
  faults.optionalText(`${path}.prefix`, prefix, envName);
  if (configMapRef !== undefined) faults.requiredText(`${path}.configMapRef.name`, configMapRef.name, dnsSubdomain);
  if (secretRef !== undefined) faults.requiredText(`${path}.secretRef.name`, secretRef.name, dnsSubdomain);
  if (configMapRef === undefined && secretRef === undefined) {
    faults.invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`');
  } else if (configMapRef !== undefined && secretRef !== undefined) {
    faults.invalid(path, '', 'may not have more than one field specified at a time');
  }
}

export function checkFieldRef(
  { apiVersion, fieldPath }: ObjectFieldSelector,
  path: string,
  allowed: readonly string[],
  faults: Faults,
): void {
  if (!apiVersion) faults.required(`${path}.apiVersion`);
  else if (!fieldPath) faults.required(`${path}.fieldPath`);
  else if (apiVersion !== 'v1')
    faults.invalid(`${path}.fieldPath`, fieldPath, `unsupported pod version: ${apiVersion}`);
  else {
    const { owner: field, key } = splitSubscript(fieldPath) ?? { owner: fieldPath, key: undefined };
    if (!KNOWN_FIELDS.includes(field)) {
      faults.invalid(`${path}.fieldPath`, fieldPath, 'field label not supported');
    } else if (key === undefined) {
      if (!allowed.includes(field)) faults.unsupported(`${path}.fieldPath`, field, allowed);
    } else if (field === 'metadata.annotations') faults.text(path, key, annotationKey);
    else if (field === 'metadata.labels') faults.text(path, key, qualifiedName);
    else faults.invalid(`${path}.fieldPath`, fieldPath, 'field label does not support subscript');
  }
}

export function checkResourceRef(ref: ResourceFieldSelector, path: string, faults: Faults): void {
  const { resource, divisor } = ref;
  const isPages = /^(?:limits|requests)\.hugepages-/.test(resource ?? '');
  if (!resource) faults.required(`${path}.resource`);
  else if (!RESOURCE_FIELDS.includes(resource) && !isPages) {
    faults.unsupported(`${path}.resource`, resource, RESOURCE_FIELDS);
  }
  const size = parseQuantity(divisor ?? '0');
  if (!resource || divisor === undefined || (size.ok && size.value.nanos === 0n)) return;
  const allowed = resource.endsWith('.cpu') ? ['1m', '1'] : BYTE_DIVISORS;
  if (!allowed.includes(divisor) && (isPages || RESOURCE_FIELDS.includes(resource))) {
    faults.invalid(`${path}.divisor`, resource, `only divisor's values ${allowed.join(', ')} are supported`);
  }
}

function checkKeyRef({ name, key }: KeySelector, path: string, faults: Faults): void {
  faults.text(`${path}.name`, name ?? '', dnsSubdomain);
  faults.requiredText(`${path}.key`, key, objectKey);
}

function checkFileRef({ key, volumeName, path: file }: FileKeySelector, path: string, faults: Faults): void {
  faults.requiredText(`${path}.key`, key, envName);
  faults.requiredText(`${path}.volumeName`, volumeName, dnsLabel);
  faults.requiredText(`${path}.path`, file, withoutBackSteps);
}
