/**
 * What a pod means where it says nothing: the values that the API server fills in when a pod is created. Pods from the API
 * server have them already, and filling in twice changes nothing.
 */

import type { Container, ResourceRequirements } from './container.ts';
import { defaultContainer, defaultFieldRef, defaultResourceRef } from './container-defaults.ts';
import { pullPolicyOf } from './image-name.ts';
import type { ResourceList } from './meta.ts';
import type { Pod, PodSpec } from './pod.ts';
import { containerLimits, containerRequests, isPodLevelResource } from './pod-resources.ts';
import { formatQuantity } from './quantity.ts';
import { roundUpResources } from './resource-list.ts';
import type { DownwardApiVolumeFile, Volume, VolumeProjection } from './volume.ts';

const DEFAULT_GRACE_SECONDS = 30;
/** Read by everybody, written by the owner. */
const DEFAULT_FILE_MODE = 0o644;
const DEFAULT_TOKEN_SECONDS = 3600;

export function applyPodDefaults(pod: Pod): Pod {
  const { spec } = pod;
  const containers = (spec.containers ?? []).map((container) => defaultPodContainer(container, spec));
  const initContainers = spec.initContainers?.map((container) => defaultPodContainer(container, spec));
  const withContainers: Pod = {
    ...pod,
    spec: { ...spec, containers, ...(initContainers === undefined ? {} : { initContainers }) },
  };
  return { ...withContainers, spec: defaultSpec(withContainers) };
}

function defaultSpec(pod: Pod): PodSpec {
  const { spec } = pod;
  const account = spec.serviceAccountName || spec.serviceAccount;
  return {
    ...spec,
    ...(spec.volumes === undefined ? {} : { volumes: spec.volumes.map(defaultVolume) }),
    ...(spec.ephemeralContainers === undefined
      ? {}
      : { ephemeralContainers: spec.ephemeralContainers.map(defaultContainer) }),
    restartPolicy: spec.restartPolicy || 'Always',
    terminationGracePeriodSeconds: gracePeriod(spec),
    dnsPolicy: spec.dnsPolicy || 'ClusterFirst',
    ...(account ? { serviceAccountName: account, serviceAccount: account } : {}),
    securityContext: spec.securityContext ?? {},
    schedulerName: spec.schedulerName || 'default-scheduler',
    enableServiceLinks: spec.enableServiceLinks ?? true,
    ...(spec.overhead === undefined ? {} : { overhead: roundUpResources(spec.overhead) }),
    ...(spec.resources === undefined ? {} : { resources: defaultPodResources(pod, spec.resources) }),
  };
}

/** Less than nothing is as little as can be. */
function gracePeriod({ terminationGracePeriodSeconds: seconds = DEFAULT_GRACE_SECONDS }: PodSpec): number {
  return seconds < 0 ? 1 : seconds;
}

/** A container that says how much it may use asks for as much, unless it says otherwise. */
function defaultPodContainer(container: Container, spec: PodSpec): Container {
  const defaulted = defaultContainer(container);
  const { limits, requests } = defaulted.resources ?? {};
  return {
    ...defaulted,
    resources: { ...defaulted.resources, ...(limits === undefined ? {} : { requests: { ...limits, ...requests } }) },
    ...(spec.hostNetwork && defaulted.ports !== undefined
      ? { ports: defaulted.ports.map((port) => ({ ...port, hostPort: port.hostPort || port.containerPort })) }
      : {}),
  };
}

/**
 * Resources of the pod as a whole, where it has some: huge page limits of the containers count for the pod too, and what the
 * pod does not ask for is what its containers ask for, or failing that its limit.
 */
function defaultPodResources(pod: Pod, own: ResourceRequirements): ResourceRequirements {
  const limits = own.limits === undefined ? {} : roundUpResources(own.limits);
  const requests = own.requests === undefined ? {} : roundUpResources(own.requests);
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return own;
  const allLimits = { ...hugePageLimits(pod, requests), ...limits };
  const allRequests = Object.keys(allLimits).length === 0 ? requests : defaultPodRequests(pod, allLimits, requests);
  return {
    ...own,
    ...(Object.keys(allLimits).length === 0 ? {} : { limits: allLimits }),
    ...(Object.keys(allRequests).length === 0 ? {} : { requests: allRequests }),
  };
}

function hugePageLimits(pod: Pod, requests: ResourceList): ResourceList {
  const wanted = [...containerLimits(pod)].filter(([name]) => name.startsWith('hugepages-') && !(name in requests));
  return Object.fromEntries(wanted.map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

function defaultPodRequests(pod: Pod, limits: ResourceList, requests: ResourceList): ResourceList {
  // Huge pages can't be overcommitted: their request is their limit.
  const ofContainers = [...containerRequests(pod)].filter(([name]) => name === 'cpu' || name === 'memory');
  const ofLimits = Object.entries(limits).filter(([name]) => isPodLevelResource(name));
  return {
    ...Object.fromEntries(ofLimits),
    ...Object.fromEntries(ofContainers.map(([name, quantity]) => [name, formatQuantity(quantity)])),
    ...requests,
  };
}

function defaultVolume(volume: Volume): Volume {
  const { name, ...sources } = volume;
  if (Object.keys(sources).length === 0) return { name, emptyDir: {} };
  const { hostPath, secret, configMap, downwardAPI, projected, image } = volume;
  return {
    ...volume,
    ...(hostPath === undefined ? {} : { hostPath: { ...hostPath, type: hostPath.type ?? '' } }),
    ...(secret === undefined ? {} : { secret: withMode(secret) }),
    ...(configMap === undefined ? {} : { configMap: withMode(configMap) }),
    ...(downwardAPI === undefined ? {} : { downwardAPI: withMode(withItems(downwardAPI)) }),
    ...(projected === undefined ? {} : { projected: withMode(withSources(projected)) }),
    ...(image === undefined
      ? {}
      : { image: { ...image, pullPolicy: image.pullPolicy || pullPolicyOf(image.reference ?? '') } }),
    ...driverDefaults(volume),
  };
}

/** Volumes that drivers outside the kubelet mount. */
const DRIVER_DEFAULTS: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['iscsi', { iscsiInterface: 'default' }],
  ['rbd', { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }],
  ['azureDisk', { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' }],
  ['scaleIO', { storageMode: 'ThinProvisioned', fsType: 'xfs' }],
];

function driverDefaults(volume: Volume): Partial<Volume> {
  const present = DRIVER_DEFAULTS.filter(([kind]) => volume[kind] !== undefined);
  return Object.fromEntries(present.map(([kind, defaults]) => [kind, { ...defaults, ...withoutEmpty(volume[kind]) }]));
}

function withoutEmpty(source: unknown): object {
  return Object.fromEntries(Object.entries(source as object).filter(([, value]) => value !== ''));
}

function withMode<T extends { readonly defaultMode?: number }>(source: T): T {
  return { ...source, defaultMode: source.defaultMode ?? DEFAULT_FILE_MODE };
}

function withItems<T extends { readonly items?: readonly DownwardApiVolumeFile[] }>(source: T): T {
  if (source.items === undefined) return source;
  return { ...source, items: source.items.map(defaultDownwardFile) };
}

function defaultDownwardFile(file: DownwardApiVolumeFile): DownwardApiVolumeFile {
  const { fieldRef, resourceFieldRef } = file;
  return {
    ...file,
    ...(fieldRef === undefined ? {} : { fieldRef: defaultFieldRef(fieldRef) }),
    ...(resourceFieldRef === undefined ? {} : { resourceFieldRef: defaultResourceRef(resourceFieldRef) }),
  };
}

function withSources<T extends { readonly sources?: readonly VolumeProjection[] }>(source: T): T {
  return source.sources === undefined ? source : { ...source, sources: source.sources.map(defaultProjection) };
}

function defaultProjection(projection: VolumeProjection): VolumeProjection {
  const { downwardAPI, serviceAccountToken: token } = projection;
  return {
    ...projection,
    ...(downwardAPI === undefined ? {} : { downwardAPI: withItems(downwardAPI) }),
    ...(token === undefined
      ? {}
      : { serviceAccountToken: { ...token, expirationSeconds: token.expirationSeconds ?? DEFAULT_TOKEN_SECONDS } }),
  };
}
