/**
 * Names of cgroups as a list of parts, and the two forms they take on the machine: directories named like the parts (driver
 * cgroupfs), or slices of systemd, each of which carries the names of all above it.
 */
import { isPodUid, POD_UID_RULE } from '../../api/ids.ts';
import type { QosClass } from '../../api/pod-status.ts';

/** From the root down; the root itself is the empty list. */
export type CgroupName = readonly string[];
export type CgroupDriver = 'cgroupfs' | 'systemd';

const NODE_CGROUP = 'kubepods';
const POD_PREFIX = 'pod';
const SLICE = '.slice';

/** From a path such as `/` or `/batch/kubelet`. */
export function parseCgroupName(path: string): CgroupName {
  return path.split('/').filter((part) => part !== '');
}

/** From a path as the driver forms it: of a slice, the last part says it all. */
export function parseDriverPath(path: string, driver: CgroupDriver): CgroupName {
  if (driver === 'cgroupfs') return parseCgroupName(path);
  const slice = parseCgroupName(path).at(-1) ?? '';
  const text = slice.endsWith(SLICE) ? slice.slice(0, -SLICE.length) : slice;
  return text === '' || text === '-' ? [] : text.split('-').map((part) => part.replaceAll('_', '-'));
}

/** The slice of this cgroup, and the one that it hangs below. */
export function sliceOf(name: CgroupName): { readonly unit: string; readonly parent: string } {
  const unit = (parts: CgroupName) => {
    const text = parts.map((part) => part.replaceAll('-', '_')).join('-');
    return `${text === '' ? '-' : text}${SLICE}`;
  };
  return { unit: unit(name), parent: unit(name.slice(0, -1)) };
}

/** Above all pods. */
export function nodeCgroup(cgroupRoot: string): CgroupName {
  return [...parseCgroupName(cgroupRoot), NODE_CGROUP];
}

/** Guaranteed pods hang directly below the node's cgroup. */
export function qosCgroup(node: CgroupName, qosClass: QosClass): CgroupName {
  return qosClass === 'Guaranteed' ? node : [...node, qosClass.toLowerCase()];
}

export function podCgroup(node: CgroupName, qosClass: QosClass, uid: string): CgroupName {
  return [...qosCgroup(node, qosClass), `${POD_PREFIX}${uid}`];
}

/** Why this UID can't be part of a cgroup's name; undefined when it can. A path must not lead out of its directory. */
export function uidFault(uid: string): string | undefined {
  return isPodUid(uid) ? undefined : `pod UID ${JSON.stringify(uid)} can't name a cgroup: it ${POD_UID_RULE}`;
}

/** The path below the mount point of a hierarchy. */
export function cgroupPath(name: CgroupName, driver: CgroupDriver): string {
  if (driver === 'cgroupfs') return `/${name.join('/')}`;
  const parts = name.map((part) => part.replaceAll('-', '_'));
  return `/${parts.map((_, index) => `${parts.slice(0, index + 1).join('-')}${SLICE}`).join('/')}`;
}

/** The paths of those above pods: of all of them, and below that of the lower QoS classes. */
export function groupCgroups(node: CgroupName, driver: CgroupDriver) {
  const path = (qosClass: QosClass) => cgroupPath(qosCgroup(node, qosClass), driver);
  return { pods: path('Guaranteed'), classes: [path('Burstable'), path('BestEffort')] };
}

/** Below its pod's cgroup: where a runtime puts a container or sandbox. Scopes of systemd are named after the runtime, too. */
export function containerDirectory(id: string, driver: CgroupDriver): string {
  return driver === 'cgroupfs' ? id : `cri-containerd-${id}.scope`;
}

/** The UID of the pod whose cgroup this directory is, undefined where it is something else. */
export function podUidOfDirectory(directory: string, driver: CgroupDriver): string | undefined {
  const last = driver === 'cgroupfs' ? directory : lastPartOfSlice(directory);
  const uid = last?.startsWith(POD_PREFIX) ? last.slice(POD_PREFIX.length) : '';
  return uid === '' || uidFault(uid) !== undefined ? undefined : uid;
}

function lastPartOfSlice(directory: string): string | undefined {
  if (!directory.endsWith(SLICE)) return undefined;
  return directory.slice(0, -SLICE.length).split('-').at(-1)?.replaceAll('_', '-');
}
