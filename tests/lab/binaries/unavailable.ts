/** Why a binary can't be had. Tests that need it must fail with this, loudly, unless they were told to skip (SKIP_CLUSTER=1). */
export type UnavailableReason =
  | 'toolchain' // no Go that is new enough, and none could be fetched
  | 'packages' // a Debian package is missing
  | 'build' // Go could not build it
  | 'assets'; // KUBEBUILDER_ASSETS names something that does not fit

export class BinariesUnavailable extends Error {
  readonly reason: UnavailableReason;

  constructor(reason: UnavailableReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'BinariesUnavailable';
    this.reason = reason;
  }
}
