/**
 * Directories that must be in a volume because something else is mounted there: the runtime can't make them in a volume that containers
 * may not write.
 */
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { cleanPath } from './payload-paths.ts';

/** Relative to the volume; of mount points below each other only the upper one. */
export function nestedMountPoints(pod: Pod, volumeName: string): readonly string[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  const all = [...initContainers, ...containers, ...ephemeralContainers];
  return [...new Set(all.flatMap((container) => nestedInContainer(container, volumeName)))];
}

function nestedInContainer({ volumeMounts = [] }: Container, volumeName: string): readonly string[] {
  const places = volumeMounts.map(({ name, mountPath }) => ({ name, path: withoutParents(mountPath) })).sort(byPath);
  const found: string[] = [];
  for (const { path: own } of places.filter(({ name }) => name === volumeName)) {
    const below = places.filter(({ path }) => path.startsWith(`${own}/`)).map(({ path }) => path.slice(own.length + 1));
    found.push(...below.filter((path) => !below.some((upper) => path.startsWith(`${upper}/`))));
  }
  return found;
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : Number(a.path > b.path);
}

/** As the container sees the path: from its root, beyond which `..` does not lead. */
function withoutParents(path: string): string {
  const names: string[] = [];
  for (const name of cleanPath(path).split('/')) {
    if (name === '..') names.pop();
    else names.push(name);
  }
  return names.join('/');
}
