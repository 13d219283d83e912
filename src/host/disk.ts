import { statfs } from 'node:fs/promises';

export interface DiskSpace {
  readonly capacityBytes: number;
  /** What programs without special rights may still write. */
  readonly availableBytes: number;
}

/** Of the file system that this path is on. Only for local ones: a hung network mount would hold a thread of the pool. */
export async function readDiskSpace(path: string): Promise<DiskSpace> {
  const { bsize, blocks, bavail } = await statfs(path);
  return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize };
}
