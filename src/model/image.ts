/** The answer to a part that needs an image. */
export interface ReadyImage {
  /** The runtime's name of the image. */
  readonly imageRef: string;
  /** The user of its processes, by the image's own config. */
  readonly user: { readonly uid: number | undefined; readonly username: string };
}

export interface ImageWait {
  readonly kind: 'waiting';
  /** The container's waiting reason, such as `ErrImagePull`. */
  readonly reason: string;
  readonly message: string;
  /** Wall clock, ms. */
  readonly retryAt: number;
}

export type ImageAnswer = ({ readonly kind: 'ready' } & ReadyImage) | ImageWait;
export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';
