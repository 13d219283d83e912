/** The volumes of a pod: one kind each, and what each kind needs. */
import type { Pod } from '../pod.ts';
import { parseQuantity } from '../quantity.ts';
import type { Volume } from '../volume.ts';
import { VOLUME_SOURCES } from '../volume-schema.ts';
import { PULL_POLICIES } from './container.ts';
import { checkDriverVolume } from './driver-volumes.ts';
import type { Faults } from './faults.ts';
import { checkProjections } from './projections.ts';
import { dnsLabel, dnsSubdomain, withoutBackSteps } from './text-rules.ts';
import { checkDownwardFiles, checkKeys, checkMode } from './volume-files.ts';

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

/** Answers those that are in order, by name: only they can be mounted. */
export function checkVolumes(pod: Pod, faults: Faults): ReadonlyMap<string, Volume> {
  const usable = new Map<string, Volume>();
  (pod.spec.volumes ?? []).forEach((volume, index) => {
    const path = `spec.volumes[${index}]`;
    const before = faults.found.length;
    checkSource(pod, volume, path, faults);
    faults.requiredText(`${path}.name`, volume.name, dnsLabel);
    if (usable.has(volume.name)) faults.duplicate(`${path}.name`, volume.name);
    if (faults.found.length === before) usable.set(volume.name, volume);
  });
  return usable;
}

function checkSource(pod: Pod, volume: Volume, path: string, faults: Faults): void {
  const kinds = Object.keys(VOLUME_SOURCES).filter((kind) => volume[kind] !== undefined);
  const [first, ...others] = kinds;
  if (first === undefined) faults.required(path, 'must specify a volume type');
  for (const kind of others) faults.forbidden(`${path}.${kind}`, 'may not specify more than 1 volume type');
  if (first === undefined || others.length > 0) return;
  const at = `${path}.${first}`;
  checkOwnKinds(volume, at, faults);
  checkDriverVolume(first, volume[first], at, faults);
  if (first === 'ephemeral' && pod.metadata.name && volume.name) {
    faults.text(`${path}.name`, `${pod.metadata.name}-${volume.name}`, dnsSubdomain);
  }
}

/** The kinds that the kubelet makes itself. */
function checkOwnKinds(volume: Volume, path: string, faults: Faults): void {
  const { emptyDir, hostPath, secret, configMap, downwardAPI, projected, image, persistentVolumeClaim } = volume;
  if (emptyDir?.sizeLimit !== undefined) {
    const size = parseQuantity(emptyDir.sizeLimit);
    if (!size.ok || size.value.nanos < 0n) {
      faults.forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity');
    }
  }
  if (hostPath !== undefined) {
    faults.requiredText(`${path}.path`, hostPath.path, withoutBackSteps);
    if (hostPath.path && hostPath.type !== undefined && !HOST_PATH_TYPES.includes(hostPath.type)) {
      faults.unsupported(`${path}.type`, hostPath.type, HOST_PATH_TYPES);
    }
  }
  if (secret !== undefined) {
    if (!secret.secretName) faults.required(`${path}.secretName`);
    checkKeys(secret, path, faults);
  }
  if (configMap !== undefined) {
    if (!configMap.name) faults.required(`${path}.name`);
    checkKeys(configMap, path, faults);
  }
  if (downwardAPI !== undefined) {
    checkMode(downwardAPI.defaultMode, `${path}.defaultMode`, faults);
    checkDownwardFiles(downwardAPI.items ?? [], `${path}.items`, faults);
  }
  if (projected !== undefined) {
    checkMode(projected.defaultMode, `${path}.defaultMode`, faults);
    checkProjections(projected.sources ?? [], path, faults);
  }
  if (image !== undefined) {
    if (!image.reference) faults.required(`${path}.reference`);
    faults.oneOf(`${path}.pullPolicy`, image.pullPolicy, PULL_POLICIES, 'required');
  }
  if (persistentVolumeClaim !== undefined && !persistentVolumeClaim.claimName) faults.required(`${path}.claimName`);
}
