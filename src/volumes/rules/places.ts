/** Where volumes of a pod are below the pod's folder: names that other kubelets and tools know. */

/** `kubernetes.io/secret` is `kubernetes.io~secret` as the name of a folder. */
export function pluginFolder(plugin: string): string {
  return plugin.replaceAll('/', '~');
}

export function pluginOfFolder(folder: string): string {
  return folder.replaceAll('~', '/');
}

export function volumeDirectory(podDirectory: string, plugin: string, name: string): string {
  return `${podDirectory}/volumes/${pluginFolder(plugin)}/${name}`;
}

export const EMPTY_DIR_PLUGIN = 'kubernetes.io/empty-dir';

/** Where it is noted that a folder was made whole. Kinds that write into such a folder have it below another name. */
export function readyDirectory(volumePath: string): string {
  const [podDirectory = '', plugin = '', name = ''] = splitEnd(volumePath);
  const noted = pluginOfFolder(plugin) === EMPTY_DIR_PLUGIN ? name : `wrapped_${name}`;
  return `${podDirectory}/plugins/${pluginFolder(EMPTY_DIR_PLUGIN)}/${noted}`;
}

/** Of `POD/volumes/PLUGIN/NAME`: the pod's folder, the plugin's and the name. */
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

/** What an event calls a place: from the pod's UID on. */
export function placeFromUid(directory: string, uid: string): string {
  const at = directory.indexOf(uid);
  return at < 0 ? directory : directory.slice(at);
}
