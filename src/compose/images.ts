/** Images: what they need of the rest. */
import type { RequestsPort } from '../act/ports.ts';
import type { Pod } from '../api/pod.ts';
import type { Config } from '../config/config.ts';
import { readDiskSpace } from '../host/disk.ts';
import { createImages, type Images, type ImagesDeps, imagesConfig } from '../images/images.ts';
import type { CredentialObjects } from '../images/ports.ts';
import type { RecordEvent } from '../model/event.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { PartDeps } from './compose.ts';

export interface ImageTools {
  readonly cri: CriClient;
  readonly record: RecordEvent;
  readonly requests: Pick<RequestsPort, 'sandbox'>;
  /** Undefined for a kubelet without an API server. */
  readonly credentials: CredentialObjects | undefined;
  readonly onEnsured?: ImagesDeps['onEnsured'];
  /** The pods that are here. */
  readonly pods: () => readonly Pod[];
}

export function composeImages(config: Config, deps: PartDeps, tools: ImageTools): Images {
  const { cri, record, requests, credentials: objects } = tools;
  const nowhere = { environment: {}, workingDirectory: '/', homeDirectory: undefined };
  return createImages(
    {
      clock: deps.clock,
      log: deps.log.named('images'),
      supervisor: deps.supervisor,
      runtime: cri.images,
      record,
      objects,
      imagesInUse: (signal) => imagesInUse(tools, signal),
      diskOf: readDiskSpace,
      sandboxConfigOf: async (pod, signal) => {
        const request = await requests.sandbox(pod, 0, signal);
        return request.kind === 'ready' ? request.config : undefined;
      },
      surroundings: deps.surroundings ?? nowhere,
      downloadsOf: cri.downloads.of,
      onEnsured: tools.onEnsured,
    },
    imagesConfig(config),
  );
}

/** By containers, running or not, and by pods that mount one as a volume. */
async function imagesInUse({ cri, pods }: ImageTools, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const containers = await cri.containers.list(undefined, signal);
  const used = new Set(containers.flatMap(({ imageId, imageRef }) => [imageId, imageRef]));
  const mounted = pods().flatMap(({ spec }) => (spec.volumes ?? []).map(({ image }) => image?.reference ?? ''));
  for (const image of new Set(mounted.filter((reference) => reference !== ''))) {
    used.add((await cri.images.status({ image }, {}, signal)).image?.id ?? '');
  }
  used.delete('');
  return used;
}
