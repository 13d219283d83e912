/** Which namespaces a pod shares with the node. */
import type { Pod } from '../../api/pod.ts';
import { NamespaceMode, type NamespaceOption, type UserNamespace } from '../../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../wire/message.ts';

/** The range of host ids that a pod's own users are mapped to; `userNamespaceOf` says whether it needs one. */
export interface IdRange {
  readonly hostId: number;
  readonly length: number;
}

export function namespacesOf(pod: Pod, userNamespace: Init<UserNamespace> | undefined): Init<NamespaceOption> {
  const { hostIPC, hostNetwork, hostPID, shareProcessNamespace } = pod.spec;
  return {
    ipc: hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
    network: hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: hostPID ? NamespaceMode.NODE : shareProcessNamespace ? NamespaceMode.POD : NamespaceMode.CONTAINER,
    usernsOptions: userNamespace,
  };
}

export interface UserNamespaceInput {
  readonly pod: Pod;
  /** The gate UserNamespacesSupport. */
  readonly enabled: boolean;
  readonly runtimeHandler: string;
  readonly handlerSupports: boolean;
}

export type UserNamespaceNeed =
  | { readonly kind: 'none' }
  | { readonly kind: 'host' }
  | { readonly kind: 'own' }
  | { readonly kind: 'problem'; readonly message: string };

/** Asked before the sandbox is made: an own namespace needs a range of ids that is kept on disk first. */
export function userNamespaceNeed({
  pod,
  enabled,
  runtimeHandler,
  handlerSupports,
}: UserNamespaceInput): UserNamespaceNeed {
  const { hostUsers } = pod.spec;
  if (!enabled) {
    if (hostUsers === undefined) return { kind: 'none' };
    return {
      kind: 'problem',
      message: `the feature gate "UserNamespacesSupport" is disabled: can't set spec.HostUsers`,
    };
  }
  if (hostUsers !== false) return { kind: 'host' };
  if (handlerSupports) return { kind: 'own' };
  const who = runtimeHandler === '' ? 'runtime' : `RuntimeClass handler ${JSON.stringify(runtimeHandler)}`;
  return { kind: 'problem', message: `can't set \`spec.hostUsers: false\`, ${who} does not support user namespaces` };
}

export function hostUserNamespace(): Init<UserNamespace> {
  return { mode: NamespaceMode.NODE };
}

export function ownUserNamespace({ hostId, length }: IdRange): Init<UserNamespace> {
  const mapping = [{ hostId, containerId: 0, length }];
  return { mode: NamespaceMode.POD, uids: mapping, gids: mapping };
}
