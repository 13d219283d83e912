import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** All of it or nothing; a durable one also when the power goes. */
export async function writeWhole(path: string, text: string, durable: boolean): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  const half = `${path}.new`;
  const file = await open(half, 'w', 0o640);
  try {
    await file.writeFile(text);
    if (durable) await file.sync();
  } finally {
    await file.close();
  }
  await rename(half, path);
}
