/** Identifiers that must not be mixed up: paths and maps are keyed by UID, never by name. */
declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

export type PodUid = Branded<string, 'PodUid'>;
/** The runtime's id of a container, without the `containerd://` that statuses carry. */
export type ContainerId = Branded<string, 'ContainerId'>;
export type SandboxId = Branded<string, 'SandboxId'>;

export const podUid = (text: string): PodUid => text as PodUid;
export const containerId = (text: string): ContainerId => text as ContainerId;
export const sandboxId = (text: string): SandboxId => text as SandboxId;

const POD_UID = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/;

/** A UID becomes part of paths and cgroup names: only these forms get past the sources, and nothing else is looked for on disk. */
export const isPodUid = (text: string): text is PodUid => POD_UID.test(text);

/** For messages: a UID … */
export const POD_UID_RULE = 'must consist of letters, digits and hyphens, at most 63 of them';
