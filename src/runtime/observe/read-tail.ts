import { open } from 'node:fs/promises';

export interface Tail {
  readonly text: string;
  /** The text is the whole file. */
  readonly whole: boolean;
}

/** The last bytes of a file, as text. */
export async function readTail(path: string, maxBytes: number): Promise<Tail> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const from = Math.max(size - maxBytes, 0);
    const bytes = Buffer.alloc(size - from);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
    return { text: bytes.toString('utf8', 0, bytesRead), whole: from === 0 };
  } finally {
    await file.close();
  }
}
