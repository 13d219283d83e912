/** All sources together: which pods should run here, each marked with where it comes from and when it was first seen. */
import type { Pod } from '../../api/pod.ts';
import { CONFIG_SEEN, CONFIG_SOURCE } from '../../api/pod-traits.ts';
import { podKey } from './manifest-files.ts';

export type SourceName = 'file' | 'http' | 'api';

/** The order in which sources win a name that two of them have. */
const ORDER: readonly SourceName[] = ['file', 'http', 'api'];

export interface SourceState {
  readonly pods: readonly Pod[];
  /** Everything that the source had when the kubelet started is among them. */
  readonly heard: boolean;
}

export interface Merged {
  readonly pods: readonly Pod[];
  readonly everySourceHeard: boolean;
  readonly heard: ReadonlySet<SourceName>;
  readonly refused: readonly { readonly path: string; readonly pod: Pod; readonly keeper: string }[];
}

/** A source that has not reported yet is undefined. */
export type SourceStates = ReadonlyMap<SourceName, SourceState | undefined>;

export function mergeSources(states: SourceStates, mark: (pod: Pod, source: SourceName) => Pod): Merged {
  const owners = new Map<string, SourceName>();
  const pods: Pod[] = [];
  const refused: Merged['refused'][number][] = [];
  for (const source of ORDER) {
    for (const pod of states.get(source)?.pods ?? []) {
      // The API server has a mirror of each static pod under its name: it is another pod and takes no name.
      const keeper = source === 'api' ? undefined : owners.get(podKey(pod));
      if (keeper !== undefined) {
        refused.push({ path: source, pod, keeper });
        continue;
      }
      owners.set(podKey(pod), source);
      pods.push(mark(pod, source));
    }
  }
  const heard = new Set([...states.keys()].filter((source) => states.get(source)?.heard));
  return { pods, everySourceHeard: heard.size === states.size, heard, refused };
}

export function markPod(pod: Pod, source: SourceName, seen: string): Pod {
  const annotations = { ...pod.metadata.annotations, [CONFIG_SOURCE]: source, [CONFIG_SEEN]: seen };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}
