/** Images: pulls, credentials, removal. */
import type { RequestsPort } from '../act/ports.ts';
import type { Config } from '../config/config.ts';
import { createImages, type Images, type ImagesDeps, imagesConfig } from '../images/images.ts';
import type { CredentialObjects } from '../images/ports.ts';
import type { RecordEvent } from '../model/event.ts';
import type { PodView } from '../model/pod-view.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { PartDeps } from './compose.ts';

export interface ImageTools {
  readonly cri: CriClient;
  readonly record: RecordEvent;
  readonly requests: Pick<RequestsPort, 'sandbox'>;
  /** Undefined for a kubelet without an API server. */
  readonly credentials: CredentialObjects | undefined;
  readonly onEnsured?: ImagesDeps['onEnsured'];
  /** Of the pods that are here. */
  readonly views: () => readonly PodView[];
}

const NO_SURROUNDINGS = { environment: {}, workingDirectory: '/', homeDirectory: undefined };

export function composeImages(config: Config, deps: PartDeps, tools: ImageTools): Images {
  const { cri, record, requests, credentials, views, onEnsured } = tools;
  return createImages(
    {
      clock: deps.clock,
      log: deps.log.named('images'),
      supervisor: deps.supervisor,
      runtime: cri.images,
      record,
      objects: credentials,
      listContainers: (signal) => cri.containers.list(undefined, signal),
      // One that is over needs its images no more.
      pods: () =>
        views()
          .filter(({ step }) => step !== 'terminated')
          .map(({ pod }) => pod),
      diskOf: deps.host.files.space,
      sandboxConfigOf: async (pod, signal) => {
        const request = await requests.sandbox(pod, 0, signal);
        return request.kind === 'ready' ? request.config : undefined;
      },
      surroundings: deps.surroundings ?? NO_SURROUNDINGS,
      downloadsOf: cri.downloads.of,
      onEnsured,
    },
    imagesConfig(config),
  );
}
