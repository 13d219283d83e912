/** Which files of a directory are manifests, and whose pods count where two files have one of the same name. */
import type { Pod } from '../../api/pod.ts';

/** What editors and copies leave behind. */
const LEFTOVER = /(?:~|\.bak|\.orig|\.tmp|\.swp)$/;

/** Every visible file counts, whatever its ending, except what is surely a leftover. */
export function isManifestName(name: string): boolean {
  return !name.startsWith('.') && !LEFTOVER.test(name);
}

export interface ReadFile {
  readonly path: string;
  readonly pods: readonly Pod[];
}

/** Namespace and name to the path of the file that has it. */
export type NameOwners = ReadonlyMap<string, string>;

export interface SettledFiles {
  readonly pods: readonly Pod[];
  readonly owners: NameOwners;
  /** Pods that are left out because another file, or an earlier place in the same one, has their name. */
  readonly refused: readonly { readonly path: string; readonly pod: Pod; readonly keeper: string }[];
}

export const podKey = (pod: Pod): string => `${pod.metadata.namespace}/${pod.metadata.name}`;

/** A file keeps the names it has; a name that no one has goes to the first file in order. */
export function settleNames(files: readonly ReadFile[], before: NameOwners): SettledFiles {
  const has = new Map(files.map(({ path, pods }) => [path, new Set(pods.map(podKey))]));
  const owners = new Map([...before].filter(([key, path]) => has.get(path)?.has(key)));
  const taken = new Set<string>();
  const pods: Pod[] = [];
  const refused: SettledFiles['refused'][number][] = [];
  for (const { path, pods: own } of files) {
    for (const pod of own) {
      const key = podKey(pod);
      const keeper = owners.get(key) ?? path;
      owners.set(key, keeper);
      if (keeper !== path || taken.has(key)) {
        refused.push({ path, pod, keeper });
        continue;
      }
      taken.add(key);
      pods.push(pod);
    }
  }
  return { pods, owners, refused };
}

/**
 * What a file stands for after it was read again. Where something in it is wrong, only its good documents count: that a pod
 * is missing from a broken file does not mean that it should end.
 */
export function podsAfterReading(
  before: readonly Pod[],
  reading: { readonly pods: readonly Pod[]; readonly problems: readonly unknown[] },
): { readonly pods: readonly Pod[]; readonly kept: readonly Pod[] } {
  if (reading.problems.length === 0) return { pods: reading.pods, kept: [] };
  const described = new Set(reading.pods.map(podKey));
  const kept = before.filter((pod) => !described.has(podKey(pod)));
  return { pods: [...reading.pods, ...kept], kept };
}
