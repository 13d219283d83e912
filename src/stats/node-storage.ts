/** The file systems of the node and of images as a whole, and its processes: what decisions about pressure look at every few seconds. */
import type { ImageDisk } from '../model/usage.ts';
import { orUndefined } from './complaints.ts';
import type { FsFacts, NodeStorage } from './rules/summary.ts';
import { type FileSystem, type ImagePlaces, type StoragePorts, wholeFileSystem } from './storage.ts';

export interface NodeDisks {
  read(signal: AbortSignal): Promise<Omit<NodeStorage, 'pods'> & { readonly layers: FsFacts | undefined }>;
  /** Whether images are on a disk of their own, and writable layers apart from them, as far as is known. */
  imageDisk(): ImageDisk;
}

export function createNodeDisks(ports: StoragePorts, root: string): NodeDisks {
  // Where images are does not change while the runtime runs: it is asked once, so that looks at the disks cost no call.
  let places: ImagePlaces | undefined;
  let imageDisk: ImageDisk = { isSeparate: false, isSplit: false };
  const findPlaces = async (signal: AbortSignal): Promise<ImagePlaces | undefined> => {
    if (places !== undefined) return places;
    const found = await ports.imagePlaces(signal);
    if (found.images !== undefined) places = found;
    return found;
  };
  return {
    imageDisk: () => imageDisk,
    read: async (signal) => {
      const orNothing = <T>(what: string, work: () => Promise<T | undefined>) =>
        orUndefined({ complain: ports.complain, what, signal }, work);
      const fileSystem = async (path: string | undefined) =>
        path === undefined ? undefined : await orNothing(path, () => ports.fileSystem(path));
      const node = await orNothing('node file system', () => ports.fileSystem(root));
      const found = await orNothing('images', () => findPlaces(signal));
      const image = await fileSystem(found?.images);
      // A runtime that keeps both together, or does not know of the difference, names one place.
      const layers =
        found?.layers === undefined || found.layers === found.images ? image : await fileSystem(found.layers);
      if (node !== undefined && image !== undefined) {
        const isSplit = layers !== undefined && layers.device !== image.device;
        imageDisk = { isSeparate: isSplit || node.device !== image.device, isSplit };
      }
      const tasks = ports.tasks();
      return {
        node: facts(node, ports.now()),
        image: image && facts(image, ports.now()),
        layers: layers && facts(layers, ports.now()),
        rlimit: { time: ports.now(), maxPid: tasks.limit, processes: tasks.current },
      };
    },
  };
}

const facts = (found: FileSystem | undefined, time: number): FsFacts => ({
  ...wholeFileSystem(found),
  time,
  usedBytes: found && found.capacityBytes - found.freeBytes,
  inodesUsed: found && found.inodes - found.inodesFree,
});
