/** Container images from a list of files, with digests that depend on their content only. */
import { createHash } from 'node:crypto';
import { type TarEntry, writeTar } from './tar.ts';

export interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
  readonly Volumes?: Readonly<Record<string, Record<string, never>>>;
  readonly ExposedPorts?: Readonly<Record<string, Record<string, never>>>;
  readonly Labels?: Readonly<Record<string, string>>;
  readonly StopSignal?: string;
}

export interface ImageSpec {
  /** Full names with registry and tag; the content is the same under each of them. */
  readonly names: readonly string[];
  /** Bottom layer first. */
  readonly layers: readonly (readonly TarEntry[])[];
  readonly config: ImageConfig;
}

export interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly content: Buffer;
}

export interface Image {
  readonly names: readonly string[];
  readonly manifest: Blob;
  readonly config: Blob;
  readonly layers: readonly Blob[];
}

export const MEDIA = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const;

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

export function makeImage(spec: ImageSpec): Image {
  const layers = spec.layers.map((entries) => makeBlob(MEDIA.layer, writeTar(entries)));
  const config = makeBlob(
    MEDIA.config,
    encode({
      architecture: ARCHITECTURES[process.arch] ?? process.arch,
      os: 'linux',
      config: spec.config,
      // The layers are not compressed, so what is hashed here is what is stored.
      rootfs: { type: 'layers', diff_ids: layers.map((layer) => layer.digest) },
    }),
  );
  const manifest = makeBlob(
    MEDIA.manifest,
    encode({
      schemaVersion: 2,
      mediaType: MEDIA.manifest,
      config: describeBlob(config),
      layers: layers.map(describeBlob),
    }),
  );
  return { names: spec.names, manifest, config, layers };
}

/** One OCI layout with all the images in it, as `ctr images import` takes it. */
export function writeArchive(images: readonly Image[]): Buffer {
  const manifests = images.flatMap((image) =>
    image.names.map((name) => ({
      ...describeBlob(image.manifest),
      annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name },
    })),
  );
  const blobs = new Map<string, Blob>();
  for (const image of images) {
    for (const blob of [...image.layers, image.config, image.manifest]) blobs.set(blob.digest, blob);
  }
  const entries: TarEntry[] = [
    { kind: 'file', path: 'oci-layout', content: encode({ imageLayoutVersion: '1.0.0' }) },
    { kind: 'file', path: 'index.json', content: encode({ schemaVersion: 2, mediaType: MEDIA.index, manifests }) },
    { kind: 'directory', path: 'blobs' },
    { kind: 'directory', path: 'blobs/sha256' },
  ];
  for (const blob of blobs.values()) {
    entries.push({ kind: 'file', path: `blobs/${blob.digest.replace(':', '/')}`, content: blob.content });
  }
  return writeTar(entries);
}

/** Changes when the content or a name of any of the images does: the key under which an archive may be kept. */
export function archiveKey(images: readonly Image[]): string {
  const hash = createHash('sha256');
  for (const image of images) hash.update(`${image.manifest.digest} ${image.names.join(' ')}\n`);
  return hash.digest('hex').slice(0, 24);
}

export function makeBlob(mediaType: string, content: Buffer): Blob {
  return { mediaType, digest: `sha256:${createHash('sha256').update(content).digest('hex')}`, content };
}

export function describeBlob(blob: Blob): { mediaType: string; digest: string; size: number } {
  return { mediaType: blob.mediaType, digest: blob.digest, size: blob.content.length };
}

const encode = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
