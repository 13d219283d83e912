/** Names of the files in the certificate directory, as the reference has them. */
export type PairKind = 'kubelet-client' | 'kubelet-server';

export const currentName = (kind: PairKind): string => `${kind}-current.pem`;
export const updatedName = (kind: PairKind): string => `${kind}-updated.pem`;
/** The key of a first certificate that has been requested and not issued yet. */
export const TEMPORARY_KEY = 'kubelet-client.key.tmp';

/** `local`: the time as the machine's clock shows it, `2026-11-16 10:20:30`. */
export const datedName = (kind: PairKind, local: string): string =>
  `${kind}-${local.replace(/[ :T]/g, '-').slice(0, 19)}.pem`;
