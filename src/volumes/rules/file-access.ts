/** Who may read the files of a volume: modes and owners by the pod's users and its fsGroup. */
import type { Pod } from '../../api/pod.ts';

const SET_GROUP = 0o2000;
const GROUP_READS = 0o440;
const GROUP_ENTERS = 0o110;
const OWNER_ONLY = 0o600;

/**
 * The user that all containers of the pod run as, the ephemeral ones included; undefined where one does not say, or where they
 * differ. Credentials are then this user's alone.
 */
export function commonUser(pod: Pod): number | undefined {
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  const users = [...initContainers, ...containers, ...ephemeralContainers].map(
    (container) => container.securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser,
  );
  return users.every((user) => user === users[0]) ? users[0] : undefined;
}

export interface CredentialAccess {
  readonly mode: number;
  readonly owner?: number;
}

/** Tokens, trust bundles and keys: only their owner's where there is one; a group then reads them by `withGroup`. */
export function credentialAccess(pod: Pod, fsGroup: number | undefined, defaultMode: number): CredentialAccess {
  const owner = commonUser(pod);
  if (owner !== undefined) return { mode: OWNER_ONLY, owner };
  return { mode: fsGroup === undefined ? defaultMode : OWNER_ONLY };
}

/** These volumes are read-only: the group of the pod gets to read what is in them, and what is made in a directory is its too. */
export function fileMode(mode: number, fsGroup: number | undefined): number {
  return fsGroup === undefined ? mode : mode | GROUP_READS;
}

export function directoryMode(mode: number, fsGroup: number | undefined): number {
  return fsGroup === undefined ? mode : mode | GROUP_READS | GROUP_ENTERS | SET_GROUP;
}

/** The directory of the volume itself was writable once, when it was an empty one: its group may write it. */
export function rootMode(mode: number, fsGroup: number | undefined): number {
  return fsGroup === undefined ? mode : mode | 0o770 | SET_GROUP;
}
