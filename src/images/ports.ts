/** What images need of other parts. */
import type { Container } from '../api/container.ts';
import type { Pod } from '../api/pod.ts';
import type {
  AuthConfig,
  Image,
  ImageFsInfoResponse,
  ImageSpec,
  PodSandboxConfig,
} from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';

/** The image calls of CRI. */
export interface ImageRuntime {
  list(signal: AbortSignal): Promise<readonly Image[]>;
  status(
    image: Init<ImageSpec>,
    options: { readonly verbose?: boolean },
    signal: AbortSignal,
  ): Promise<{ readonly image: Image | undefined }>;
  pull(request: PullRequest, signal: AbortSignal): Promise<string>;
  remove(image: Init<ImageSpec>, signal: AbortSignal): Promise<void>;
  fsInfo(signal: AbortSignal): Promise<ImageFsInfoResponse>;
}

export interface PullRequest {
  readonly image: Init<ImageSpec>;
  readonly auth?: Init<AuthConfig> | undefined;
  readonly sandboxConfig?: Init<PodSandboxConfig> | undefined;
}

/** A secret of type `kubernetes.io/dockerconfigjson` or `kubernetes.io/dockercfg`. */
export interface PullSecret {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly data: ReadonlyMap<string, Uint8Array>;
}

export interface ServiceAccount {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Objects of the API server that credentials come from. A kubelet without one has none. */
export interface CredentialObjects {
  /** Undefined where there is no such secret. */
  secret(namespace: string, name: string, signal: AbortSignal): Promise<PullSecret | undefined>;
  serviceAccount(namespace: string, name: string, signal: AbortSignal): Promise<ServiceAccount>;
  /** A token for this audience, bound to the pod. */
  token(options: TokenOptions, signal: AbortSignal): Promise<string>;
}

export interface TokenOptions {
  readonly pod: { readonly uid: string; readonly name: string; readonly namespace: string };
  readonly serviceAccount: { readonly uid: string; readonly name: string };
  readonly audience: string;
}

export interface ImageRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly signal: AbortSignal;
}

/** What credential provider plugins inherit, and where Docker's files are searched. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly homeDirectory: string | undefined;
}

export interface Disk {
  readonly capacityBytes: number;
  readonly availableBytes: number;
}
