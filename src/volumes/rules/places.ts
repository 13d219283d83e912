/** Where volumes of a pod are below the pod's directory: names that other kubelets and tools know. */

/** `kubernetes.io/secret` is `kubernetes.io~secret` as the name of a directory. */
export function pluginDirectory(plugin: string): string {
  return plugin.replaceAll('/', '~');
}

export function pluginOfDirectory(dir: string): string {
  return dir.replaceAll('~', '/');
}

export function volumeDirectory(podDirectory: string, plugin: string, name: string): string {
  return `${podDirectory}/volumes/${pluginDirectory(plugin)}/${name}`;
}

export const EMPTY_DIR_PLUGIN = 'kubernetes.io/empty-dir';

/** Where a file marks that a directory is complete. Kinds that write files into such a directory use another name. */
export function readyDirectory(volumePath: string): string {
  const [podDirectory = '', plugin = '', name = ''] = splitEnd(volumePath);
  const mark = pluginOfDirectory(plugin) === EMPTY_DIR_PLUGIN ? name : `wrapped_${name}`;
  return `${podDirectory}/plugins/${pluginDirectory(EMPTY_DIR_PLUGIN)}/${mark}`;
}

/** Of `POD/volumes/PLUGIN/NAME`: the pod's directory, the plugin's and the name. */
function splitEnd(volumePath: string): readonly string[] {
  const names = volumePath.split('/');
  return [names.slice(0, -3).join('/'), names.at(-2) ?? '', names.at(-1) ?? ''];
}

export function subPathPlace(
  podDirectory: string,
  place: { volume: string; container: string; index: number },
): string {
  return `${podDirectory}/volume-subpaths/${place.volume}/${place.container}/${place.index}`;
}

/** A path as events show it: from the pod's UID on. */
export function placeFromUid(directory: string, uid: string): string {
  const at = directory.indexOf(uid);
  return at < 0 ? directory : directory.slice(at);
}
