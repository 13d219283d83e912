import {
  type AuthConfig,
  type Image,
  type ImageFsInfoResponse,
  ImageService,
  type ImageSpec,
  type ImageStatusResponse,
  type PodSandboxConfig,
} from '../../wire/gen/cri-runtime-v1.ts';
import type { GrpcClient } from '../../wire/grpc-client.ts';
import type { Init } from '../../wire/message.ts';
import { undefinedIfGone } from './gone.ts';
import type { CriTimeouts } from './timeouts.ts';

export interface CriImages {
  list(signal: AbortSignal): Promise<readonly Image[]>;
  /** `image` is undefined in the answer if the image is not there. */
  status(
    image: Init<ImageSpec>,
    options: { readonly verbose?: boolean },
    signal: AbortSignal,
  ): Promise<ImageStatusResponse>;
  /** Returns the reference of what was pulled. No deadline: the runtime ends a pull that makes no progress, `signal` any. */
  pull(request: ImagePull, signal: AbortSignal): Promise<string>;
  /** One that is gone already is fine. */
  remove(image: Init<ImageSpec>, signal: AbortSignal): Promise<void>;
  fsInfo(signal: AbortSignal): Promise<ImageFsInfoResponse>;
}

export interface ImagePull {
  readonly image: Init<ImageSpec>;
  readonly auth?: Init<AuthConfig> | undefined;
  readonly sandboxConfig?: Init<PodSandboxConfig> | undefined;
}

export function createImageCalls(grpc: GrpcClient, timeouts: CriTimeouts): CriImages {
  const deadline = timeouts.request;
  return {
    list: async (signal) => (await grpc.unary(ImageService.listImages, {}, { signal, deadline })).images,
    status: (image, { verbose = false }, signal) =>
      grpc.unary(ImageService.imageStatus, { image, verbose }, { signal, deadline }),
    pull: async (request, signal) => (await grpc.unary(ImageService.pullImage, request, { signal })).imageRef,
    remove: async (image, signal) => {
      await undefinedIfGone(grpc.unary(ImageService.removeImage, { image }, { signal, deadline }));
    },
    fsInfo: (signal) => grpc.unary(ImageService.imageFsInfo, {}, { signal, deadline }),
  };
}
