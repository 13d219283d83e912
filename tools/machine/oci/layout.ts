/** Images in a directory as the OCI image layout describes it: `blobs/sha256/…` and an `index.json` with their names. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeBlob, type Image, MEDIA } from './image.ts';

const NAME = 'org.opencontainers.image.ref.name';

interface LayoutIndex {
  readonly manifests: readonly {
    readonly digest: string;
    readonly mediaType: string;
    readonly annotations: Readonly<Record<string, string>>;
  }[];
}

export const blobPath = (directory: string, digest: string): string =>
  join(directory, 'blobs', digest.replace(':', '/'));

/** Blobs are named by their content, so one that is there is the right one. */
export async function writeLayout(directory: string, images: readonly Image[]): Promise<void> {
  await mkdir(join(directory, 'blobs', 'sha256'), { recursive: true });
  for (const blob of images.flatMap((image) => [...image.layers, image.config, image.manifest])) {
    const path = blobPath(directory, blob.digest);
    if (existsSync(path)) continue;
    await writeFile(`${path}.${process.pid}`, blob.content);
    await rename(`${path}.${process.pid}`, path);
  }
  const manifests = images.flatMap((image) =>
    image.names.map((name) => ({ ...describeBlob(image.manifest), annotations: { [NAME]: name } })),
  );
  await writeFile(join(directory, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await writeFile(
    join(directory, 'index.json'),
    JSON.stringify({ schemaVersion: 2, mediaType: MEDIA.index, manifests }),
  );
}

/** The manifests of a layout by the full names of the images. */
export async function readLayout(directory: string): Promise<ReadonlyMap<string, string>> {
  const index = JSON.parse(await readFile(join(directory, 'index.json'), 'utf8')) as LayoutIndex;
  return new Map(index.manifests.map(({ digest, annotations }) => [annotations[NAME] ?? '', digest]));
}
