import type { StringMap } from '../meta.ts';
import { labelKeyFault, labelValueFault } from '../names.ts';
import type { Pod } from '../pod.ts';
import { allContainers, CONFIG_MIRROR } from '../pod-traits.ts';
import type { Faults } from './faults.ts';
import { annotationKey, dnsLabel, dnsSubdomain, relativePath } from './text-rules.ts';

const MOST_ANNOTATION_BYTES = 256 * 1024;
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

export function checkMetadata(pod: Pod, faults: Faults): void {
  const { name, namespace, labels = {}, annotations = {}, ownerReferences = [], finalizers = [] } = pod.metadata;
  if (!name) faults.required('metadata.name', 'name or generateName is required');
  else faults.text('metadata.name', name, dnsSubdomain);
  faults.requiredText('metadata.namespace', namespace, dnsLabel);
  faults.notNegative('metadata.generation', pod.metadata.generation);
  checkLabels(labels, 'metadata.labels', faults);
  checkAnnotations(pod, annotations, faults);
  ownerReferences.forEach((owner, index) => {
    for (const field of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if (!owner[field]) faults.invalid(`metadata.ownerReferences[${index}].${field}`, '', 'must not be empty');
    }
  });
  finalizers.forEach((finalizer, index) => {
    faults.text(`metadata.finalizers[${index}]`, finalizer, labelKeyFault);
  });
}

/** Told at the map as a whole, with the key or value that is wrong, as the API server does. */
export function checkLabels(labels: StringMap, path: string, faults: Faults): void {
  for (const [key, value] of Object.entries(labels)) {
    faults.text(path, key, labelKeyFault);
    faults.text(path, value, labelValueFault);
  }
}

function checkAnnotations(pod: Pod, annotations: StringMap, faults: Faults): void {
  const path = 'metadata.annotations';
  let bytes = 0;
  const containers = new Set(allContainers(pod).map(({ name }) => name));
  for (const [key, value] of Object.entries(annotations)) {
    faults.text(path, key, annotationKey);
    bytes += byteLength(key) + byteLength(value);
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER)) checkSeccomp(`${path}[${key}]`, value, faults);
    if (key.startsWith(APPARMOR_CONTAINER)) checkAppArmor(containers, key, value, faults);
  }
  if (bytes > MOST_ANNOTATION_BYTES) faults.tooLong(path, MOST_ANNOTATION_BYTES);
  const mirror = annotations[CONFIG_MIRROR];
  if (mirror !== undefined && !pod.spec.nodeName) {
    faults.invalid(`${path}[${CONFIG_MIRROR}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set');
  }
  const cost = annotations[DELETION_COST];
  if (cost !== undefined && !isInt32(cost))
    faults.invalid(`${path}[${DELETION_COST}]`, cost, 'must be a 32bit integer');
}

function isInt32(text: string): boolean {
  return /^(?:0|-?[1-9][0-9]{0,9})$/.test(text) && Number(text) === (Number(text) | 0);
}

function checkSeccomp(path: string, profile: string, faults: Faults): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return;
  if (profile.startsWith('localhost/')) faults.text(path, profile.slice('localhost/'.length), relativePath);
  else faults.invalid(path, profile, 'must be a valid seccomp profile');
}

function checkAppArmor(containers: ReadonlySet<string>, key: string, profile: string, faults: Faults): void {
  const path = `metadata.annotations[${key}]`;
  const name = key.slice(APPARMOR_CONTAINER.length);
  if (!containers.has(name)) faults.invalid(path, name, 'container not found');
  if (profile === '' || profile === 'runtime/default' || profile === 'unconfined') return;
  if (!profile.startsWith('localhost/')) faults.invalid(path, profile, 'must be a valid AppArmor profile');
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length;
