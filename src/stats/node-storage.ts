/** The file systems of the node and of images as a whole, and its processes: what decisions about pressure look at every few seconds. */
import type { ImageDisk } from '../model/usage.ts';
import { orUndefined } from './complaints.ts';
import type { FsFacts, NodeStorage } from './rules/summary.ts';
import { type FileSystem, type StoragePorts, wholeFileSystem } from './storage.ts';

export interface NodeDisks {
  read(signal: AbortSignal): Promise<Omit<NodeStorage, 'pods'>>;
  /** Whether images are on a disk of their own, as far as is known. */
  imageDisk(): ImageDisk;
}

export function createNodeDisks(ports: StoragePorts, root: string): NodeDisks {
  // Where images are does not change while the runtime runs: it is asked once, so that looks at the disks cost no call.
  let imagePlace: string | undefined;
  let isSeparate = false;
  const findImagePlace = async (signal: AbortSignal): Promise<string | undefined> => {
    imagePlace ??= (await ports.images(signal))?.mountPoint;
    return imagePlace;
  };
  return {
    imageDisk: () => ({ isSeparate }),
    read: async (signal) => {
      const orNothing = <T>(what: string, work: () => Promise<T | undefined>) =>
        orUndefined({ complain: ports.complain, what, signal }, work);
      const node = await orNothing('node file system', () => ports.fileSystem(root));
      const place = await orNothing('images', () => findImagePlace(signal));
      const image = place === undefined ? undefined : await orNothing(place, () => ports.fileSystem(place));
      if (node !== undefined && image !== undefined) isSeparate = node.device !== image.device;
      const tasks = ports.tasks();
      return {
        node: facts(node, ports.now()),
        image: image && facts(image, ports.now()),
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
