/** The devices below volumes: attached to the node and mounted once for all pods that use them, let go of after the last one. */

import type { VolumeKind } from './kind.ts';
import { attachmentStep } from './rules/attachment.ts';
import { notAttached, type PrepareWish } from './volume.ts';

/** What the node's status says, as the API server has it. */
export interface NodeAttachments {
  /** Device paths by unique name. */
  attached(): ReadonlyMap<string, string>;
  reportedInUse(): ReadonlySet<string>;
}

export interface Devices {
  /** Resolves when the volume's device is attached and staged. */
  ensure(wish: PrepareWish, signal: AbortSignal): Promise<string | undefined>;
  /** Nobody uses it any more. */
  release(kind: VolumeKind, uniqueName: string, signal: AbortSignal): Promise<void>;
}

export interface DevicesConfig {
  /** `enableControllerAttachDetach`. */
  readonly byController: boolean;
}

export function createDevices(node: NodeAttachments | undefined, { byController }: DevicesConfig): Devices {
  const attachedHere = new Map<string, string>();

  const attach = async (name: string, wish: PrepareWish, signal: AbortSignal): Promise<string> => {
    const step = attachmentStep(name, {
      byController,
      reportedInUse: node?.reportedInUse().has(name) ?? false,
      devicePath: node?.attached().get(name),
    });
    if (step.kind === 'wait') throw notAttached(step.message);
    if (step.kind === 'attached') return step.devicePath;
    const devicePath = attachedHere.get(name) ?? (await wish.kind.attachment?.attach(name, wish, signal)) ?? '';
    attachedHere.set(name, devicePath);
    return devicePath;
  };

  return {
    ensure: async (wish, signal) => {
      const { attachment, staging } = wish.kind;
      if (attachment === undefined) return undefined;
      const name = await attachment.uniqueName(wish, signal);
      wish.named(name);
      const devicePath = await attach(name, wish, signal);
      await staging?.stage(name, devicePath, wish, signal);
      return name;
    },
    release: async (kind, name, signal) => {
      await kind.staging?.unstage(name, signal);
      if (byController) return;
      await kind.attachment?.detach(name, signal);
      attachedHere.delete(name);
    },
  };
}
