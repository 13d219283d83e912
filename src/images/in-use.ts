/** Which images are in use: by containers, running or not, and by the pods of this node, started or not. */
import type { Pod } from '../api/pod.ts';
import { parseImageName } from './rules/image-name.ts';

export interface InUseDeps {
  readonly listContainers: (
    signal: AbortSignal,
  ) => Promise<readonly { readonly imageId: string; readonly imageRef: string }[]>;
  /** The pods of this node. */
  readonly pods: () => readonly Pod[];
}

/** Ids and names of the images, as the runtime lists them. A pod that has not started yet needs its images too: they may be here already. */
export async function imagesInUse(
  { listContainers, pods }: InUseDeps,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const containers = await listContainers(signal);
  const used = new Set(containers.flatMap(({ imageId, imageRef }) => [imageId, imageRef]));
  for (const image of pods().flatMap(imagesOf)) for (const name of listedNames(image)) used.add(name);
  used.delete('');
  return used;
}

function imagesOf({ spec }: Pod): readonly string[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  const mounted = (spec.volumes ?? []).map(({ image }) => image?.reference);
  return [...containers.map(({ image }) => image), ...mounted].filter((image) => image !== undefined);
}

/** As it was written, and with registry and tag filled in; an id may lack its algorithm. */
function listedNames(image: string): readonly string[] {
  const parsed = parseImageName(image);
  if (!parsed.ok) return [image, `sha256:${image}`];
  const { repository, tag, digest } = parsed.value;
  return [
    image,
    ...(tag === '' ? [] : [`${repository}:${tag}`]),
    ...(digest === '' ? [] : [`${repository}@${digest}`]),
  ];
}
