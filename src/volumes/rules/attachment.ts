/** Volumes on devices: who attaches them to this node, and which ones the node's status reports as in use. */

export interface AttachmentState {
  /** `enableControllerAttachDetach`: the control plane attaches, and the node's status says what is attached. */
  readonly byController: boolean;
  /** The node's status has it in `volumesInUse`: from then on the controller does not detach it. */
  readonly reportedInUse: boolean;
  /** Of `volumesAttached` in the node's status. */
  readonly devicePath: string | undefined;
}

export type AttachmentStep =
  | { readonly kind: 'attached'; readonly devicePath: string }
  | { readonly kind: 'attach-here' }
  | { readonly kind: 'wait'; readonly message: string };

export function attachmentStep(uniqueName: string, state: AttachmentState): AttachmentStep {
  if (!state.byController) return { kind: 'attach-here' };
  if (!state.reportedInUse) {
    return {
      kind: 'wait',
      message: `Volume ${uniqueName} has not been added to the list of VolumesInUse in the node's volume status`,
    };
  }
  if (state.devicePath === undefined) {
    return { kind: 'wait', message: `Volume ${uniqueName} is not attached according to node status` };
  }
  return { kind: 'attached', devicePath: state.devicePath };
}

/** In order and once each, however many pods use it: the status must not change without a reason. */
export function volumesInUse(names: Iterable<string | undefined>): readonly string[] {
  return [...new Set([...names].filter((name) => name !== undefined))].sort();
}
