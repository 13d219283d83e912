/** What the API server has of this node's pods, from the watch and from the answers to our own writes. No pod is ever read. */
import type { Pod } from '../api/pod.ts';
import { isMirrorPod } from '../api/pod-traits.ts';
import { type ApiObject, podUidOf, slimObject } from './rules/api-object.ts';
import { isOlder } from './rules/resource-version.ts';

export interface ApiObjects {
  /** The object of a pod; for a static pod its mirror. */
  of(podUid: string): ApiObject | undefined;
  /** Whether this is still the newest version that is known. */
  isCurrent(object: ApiObject): boolean;
  keep(object: Pod): void;
  /** Keeps it unless a newer version is known; whether it was kept. */
  learn(object: Pod): boolean;
  remove(object: ApiObject): void;
  /** All that the API server has; returns what it has no longer. */
  replace(list: readonly Pod[]): readonly ApiObject[];
}

export function createApiObjects(): ApiObjects {
  const objects = new Map<string, ApiObject>();
  /** UID of a static pod to that of its mirror. */
  const mirrors = new Map<string, string>();

  const keep = (object: Pod): void => {
    const slim = slimObject(object);
    objects.set(object.metadata.uid, slim);
    if (isMirrorPod(slim)) mirrors.set(podUidOf(slim), object.metadata.uid);
  };

  return {
    of: (uid) => objects.get(uid) ?? objects.get(mirrors.get(uid) ?? ''),
    isCurrent: (object) => objects.get(object.metadata.uid) === object,
    keep,
    learn: (object) => {
      const known = objects.get(object.metadata.uid);
      if (known !== undefined && isOlder(object.metadata.resourceVersion, known.metadata.resourceVersion)) return false;
      keep(object);
      return true;
    },
    remove: (object) => {
      const { uid } = object.metadata;
      objects.delete(uid);
      if (mirrors.get(podUidOf(object)) === uid) mirrors.delete(podUidOf(object));
    },
    replace: (list) => {
      const before = [...objects.values()];
      objects.clear();
      mirrors.clear();
      for (const object of list) keep(object);
      return before.filter(({ metadata }) => !objects.has(metadata.uid));
    },
  };
}
