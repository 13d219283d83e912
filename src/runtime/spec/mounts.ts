/** What is mounted into a container, in order: devices' mounts, volumes as declared, the hosts file, the termination log. */

import type { Container, VolumeMount } from '../../api/container.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { Pod } from '../../api/pod.ts';
import type { Volume } from '../../api/volume.ts';
import { quoteText } from '../../base/go-text.ts';
import type { MountedVolume } from '../../model/mounted-volume.ts';
import { type ImageSpec, type Mount, MountPropagation, type UserNamespace } from '../../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../wire/message.ts';
import { createLookup, type EnvEntry, type Lookup } from './environment.ts';
import { byteLength, expand } from './expand.ts';

const HOSTS_FILE = '/etc/hosts';
/** PATH_MAX, the final zero byte included. */
const LONGEST_PATH = 4096;
const MISSING_SHOWN = 10;

export interface MountsInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly env: readonly EnvEntry[];
  /** By name of the volume. */
  readonly volumes: ReadonlyMap<string, MountedVolume>;
  /** By name of the volume: the runtime mounts images itself. */
  readonly imageVolumes: ReadonlyMap<string, Init<ImageSpec>>;
  /** Prepared places of sub-paths, by index in `volumeMounts`; see `subPathsOf`. */
  readonly subPaths: ReadonlyMap<number, string>;
  /** The pod's own directory. */
  readonly podDirectory: string;
  readonly podIps: readonly string[];
  /** Host path of the file that takes the container's last words; undefined where none could be made. */
  readonly terminationLog: string | undefined;
  readonly userNamespace: Init<UserNamespace> | undefined;
  readonly selinux: boolean;
  /** The runtime can make mounts below a read-only one read-only too, and the gate is on. */
  readonly recursiveReadOnly: boolean;
  /** From device plugins. */
  readonly extra: readonly Init<Mount>[];
}

export function containerMounts(input: MountsInput): Parsed<readonly Init<Mount>[]> {
  const { container, podDirectory, selinux, userNamespace } = input;
  const mounts: Init<Mount>[] = [...input.extra];
  const known = { declared: volumesByName(input.pod), lookup: createLookup(input.env) };
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const made = volumeMount(mount, index, input, known);
    if (!made.ok) return made;
    mounts.push(made.value);
  }
  if (needsHostsFile(input)) {
    mounts.push({ containerPath: HOSTS_FILE, hostPath: hostsFilePath(podDirectory), selinuxRelabel: selinux });
  }
  if (input.terminationLog !== undefined && container.terminationMessagePath) {
    const containerPath = absolute(container.terminationMessagePath);
    mounts.push({ containerPath, hostPath: input.terminationLog, selinuxRelabel: selinux });
  }
  const { uids = [], gids = [] } = userNamespace ?? {};
  return parsed(mounts.map((mount) => ({ ...mount, uidMappings: uids, gidMappings: gids })));
}

export function hostsFilePath(podDirectory: string): string {
  return `${podDirectory}/etc-hosts`;
}

/** Containers that bring a file of their own there keep it; before the pod has an address there is nothing to write. */
function needsHostsFile({ pod, container, podIps }: Pick<MountsInput, 'pod' | 'container' | 'podIps'>): boolean {
  const own = (container.volumeMounts ?? []).some((mount) => mount.mountPath === HOSTS_FILE);
  return !own && (podIps.length > 0 || pod.spec.hostNetwork === true);
}

export interface RequestedSubPath {
  /** Index in `volumeMounts`; it is part of the place's name on disk. */
  readonly index: number;
  readonly volumeName: string;
  readonly subPath: string;
}

/** The sub-paths that must be prepared, made safe against links that lead out of the volume. Image volumes need none. */
export function subPathsOf(
  pod: Pod,
  container: Container,
  env: readonly EnvEntry[],
): Parsed<readonly RequestedSubPath[]> {
  const requested: RequestedSubPath[] = [];
  const declared = volumesByName(pod);
  const lookup = createLookup(env);
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const subPath = subPathOf(mount, lookup);
    if (!subPath.ok) return subPath;
    const isImage = declared.get(mount.name)?.image !== undefined;
    if (subPath.value !== '' && !isImage) requested.push({ index, volumeName: mount.name, subPath: subPath.value });
  }
  return parsed(requested);
}

/** Made once for all mounts of a container. */
interface Known {
  readonly declared: ReadonlyMap<string, Volume>;
  readonly lookup: Lookup;
}

function volumeMount(
  mount: VolumeMount,
  index: number,
  input: MountsInput,
  { declared, lookup }: Known,
): Parsed<Init<Mount>> {
  const { container } = input;
  const image = input.imageVolumes.get(mount.name);
  const volume = input.volumes.get(mount.name);
  if (image === undefined && volume === undefined) {
    return unparsable(
      `cannot find volume ${quoteText(mount.name)} to mount into container ${quoteText(container.name)}`,
    );
  }
  const subPath = subPathOf(mount, lookup);
  if (!subPath.ok) return subPath;
  const hostPath = subPath.value === '' ? volume?.hostPath : input.subPaths.get(index);
  if (image === undefined && hostPath === undefined) {
    const where = `volumeMount ${quoteText(mount.name)} of container ${quoteText(container.name)}`;
    return unparsable(`failed to prepare subPath for ${where}`);
  }
  const propagation = propagationOf(mount);
  if (!propagation.ok) return propagation;
  const recursive = recursiveReadOnly(mount, input.recursiveReadOnly);
  if (!recursive.ok) return recursive;
  return parsed({
    containerPath: absolute(mount.mountPath),
    ...(image === undefined ? { hostPath } : { image, imageSubPath: subPath.value }),
    readonly: mount.readOnly === true || volume?.readOnly === true || isReadOnlyKind(declared.get(mount.name)),
    recursiveReadOnly: recursive.value,
    selinuxRelabel: input.selinux && volume?.selinuxRelabel === true,
    propagation: propagation.value,
  });
}

function volumesByName({ spec }: Pod): ReadonlyMap<string, Volume> {
  return new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
}

/** Volumes whose files the kubelet or the runtime writes: a container must not. */
function isReadOnlyKind(volume: Volume | undefined): boolean {
  return [volume?.secret, volume?.configMap, volume?.downwardAPI, volume?.projected, volume?.image].some(Boolean);
}

function subPathOf(mount: VolumeMount, lookup: Lookup): Parsed<string> {
  const expanded = mount.subPathExpr ? expandSubPath(mount, lookup) : parsed(mount.subPath ?? '');
  if (!expanded.ok) return expanded;
  const subPath = expanded.value;
  if (byteLength(subPath) >= LONGEST_PATH) return unparsable(longSubPath(mount));
  if (subPath.startsWith('/')) return unparsable(`error SubPath \`${subPath}\` must not be an absolute path`);
  if (subPath.split('/').includes('..')) {
    return unparsable(`unable to provision SubPath \`${subPath}\`: must not contain '..'`);
  }
  return expanded;
}

function expandSubPath(mount: VolumeMount, lookup: Lookup): Parsed<string> {
  const missing = new Set<string>();
  const expanded = expand(
    mount.subPathExpr ?? '',
    (name) => {
      const value = lookup(name) ?? '';
      if (value === '') missing.add(name);
      return value;
    },
    LONGEST_PATH - 1,
  );
  if (missing.size === 0) return expanded.ok ? expanded : unparsable(longSubPath(mount));
  const shown = [...missing].sort().slice(0, MISSING_SHOWN).join(', ');
  return unparsable(`missing value for ${shown}${missing.size > MISSING_SHOWN ? ' and others' : ''}`);
}

function longSubPath({ name }: VolumeMount): string {
  return `the sub-path of volume mount ${quoteText(name)} is longer than ${LONGEST_PATH - 1} bytes`;
}

function propagationOf({ mountPropagation }: VolumeMount): Parsed<MountPropagation> {
  switch (mountPropagation) {
    case undefined:
    case 'None':
      return parsed(MountPropagation.PROPAGATION_PRIVATE);
    case 'HostToContainer':
      return parsed(MountPropagation.PROPAGATION_HOST_TO_CONTAINER);
    case 'Bidirectional':
      return parsed(MountPropagation.PROPAGATION_BIDIRECTIONAL);
    default:
      return unparsable(`invalid MountPropagation mode: ${JSON.stringify(mountPropagation)}`);
  }
}

function recursiveReadOnly(mount: VolumeMount, supported: boolean): Parsed<boolean> {
  const mode = mount.recursiveReadOnly ?? 'Disabled';
  if (mode === 'Disabled') return parsed(false);
  const request = `failed to resolve recursive read-only mode: volume ${quoteText(mount.name)} requested recursive read-only mode, but it is`;
  if (!mount.readOnly) return unparsable(`${request} not read-only`);
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    return unparsable(`${request} not compatible with propagation ${quoteText(mount.mountPropagation)}`);
  }
  if (mode === 'IfPossible') return parsed(supported);
  if (mode === 'Enabled') return supported ? parsed(true) : unparsable(`${request} not supported by the runtime`);
  return unparsable(
    `failed to resolve recursive read-only mode: unknown recursive read-only mode ${JSON.stringify(mode)}`,
  );
}

function absolute(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
