/** The files that the kubelet writes into volumes: their names, modes and contents. */
import type { DownwardApiVolumeFile, KeyToPath } from '../volume.ts';
import { checkFieldRef, checkResourceRef } from './env.ts';
import type { Faults } from './faults.ts';
import { volumeFilePath } from './text-rules.ts';

const HIGHEST_MODE = 0o777;
const MODE_RULE = 'must be a number between 0 and 0777 (octal), both inclusive';
const VOLUME_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

export function checkMode(mode: number | undefined, path: string, faults: Faults): void {
  if (mode !== undefined && (mode < 0 || mode > HIGHEST_MODE)) faults.invalid(path, mode, MODE_RULE);
}

export function checkKeys(
  { items = [], defaultMode }: { readonly items?: readonly KeyToPath[]; readonly defaultMode?: number },
  path: string,
  faults: Faults,
): void {
  checkMode(defaultMode, `${path}.defaultMode`, faults);
  items.forEach((item, index) => {
    const at = `${path}.items[${index}]`;
    if (!item.key) faults.required(`${at}.key`);
    faults.requiredText(`${at}.path`, item.path, volumeFilePath);
    checkMode(item.mode, `${at}.mode`, faults);
  });
}

export function checkDownwardFiles(files: readonly DownwardApiVolumeFile[], path: string, faults: Faults): void {
  files.forEach((file, index) => {
    const at = `${path}[${index}]`;
    faults.requiredText(`${at}.path`, file.path, volumeFilePath);
    if (file.fieldRef !== undefined) checkFieldRef(file.fieldRef, `${at}.fieldRef`, VOLUME_FIELDS, faults);
    if (file.fieldRef !== undefined && file.resourceFieldRef !== undefined) {
      faults.invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    } else if (file.resourceFieldRef !== undefined) {
      if (!file.resourceFieldRef.containerName) faults.required(`${at}.resourceFieldRef.containerName`);
      checkResourceRef(file.resourceFieldRef, `${at}.resourceFieldRef`, faults);
    } else if (file.fieldRef === undefined) {
      faults.required(at, 'one of fieldRef and resourceFieldRef is required');
    }
    checkMode(file.mode, `${at}.mode`, faults);
  });
}
