/** The content of a compressed log, piece by piece. */
import { createGunzip } from 'node:zlib';
import type { OpenLog } from './log-files.ts';

const PIECE = 64 * 1024;

/** Fails in the middle if the file is damaged. The file stays open. */
export async function* unpack({ handle }: OpenLog, signal: AbortSignal): AsyncGenerator<Buffer> {
  const packed = handle.createReadStream({ autoClose: false, start: 0, highWaterMark: PIECE, signal });
  const plain = createGunzip({ chunkSize: PIECE });
  packed.on('error', (error) => plain.destroy(error));
  packed.pipe(plain);
  try {
    yield* plain as AsyncIterable<Buffer>;
  } finally {
    packed.destroy();
    plain.destroy();
  }
}
