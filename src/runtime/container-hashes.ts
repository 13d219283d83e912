/** The hashes of a pod's containers, made once for each description of it. */
import type { Pod } from '../api/pod.ts';
import { allContainers } from '../api/pod-traits.ts';
import { hashContainer } from './spec/hash.ts';

export function createContainerHashes(): (pod: Pod) => ReadonlyMap<string, string> {
  const known = new WeakMap<Pod, ReadonlyMap<string, string>>();
  return (pod) => {
    const hashes = known.get(pod) ?? new Map(allContainers(pod).map((one) => [one.name, hashContainer(one)]));
    known.set(pod, hashes);
    return hashes;
  };
}
