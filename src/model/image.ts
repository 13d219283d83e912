/** Images as the parts that need one are told of them. */
export interface ReadyImage {
  /** What the runtime calls the image. */
  readonly imageRef: string;
  /** Whom the image says its processes run as. */
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
