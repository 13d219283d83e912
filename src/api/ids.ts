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
