/** The devices below volumes: attached to the node and mounted once for all pods that use them, released after the last one. */

import { type NotReady, type VolumeKind, type VolumeRequest, waiting } from './kind.ts';
import type { Operations } from './operations.ts';
import { attachmentStep } from './rules/attachment.ts';
import type { ResolvedVolume } from './rules/volume-state.ts';

/** What the node's status in the API server says. */
export interface NodeAttachments {
  /** Device paths by unique name. */
  attached(): ReadonlyMap<string, string>;
  reportedInUse(): ReadonlySet<string>;
}

export type DeviceAnswer =
  /** The path is undefined for a volume without a device. */
  { readonly kind: 'attached'; readonly devicePath: string | undefined } | NotReady;

export interface Devices {
  attach(volume: ResolvedVolume, request: VolumeRequest, signal: AbortSignal): Promise<DeviceAnswer>;
  /** Mounts the device for all pods of the node; does nothing for a volume without one. */
  stage(
    volume: ResolvedVolume,
    devicePath: string | undefined,
    request: VolumeRequest,
    signal: AbortSignal,
  ): Promise<void>;
  /** No pod uses it any more. */
  release(kind: VolumeKind, uniqueName: string, signal: AbortSignal): Promise<void>;
}

export interface DevicesDeps {
  /** Undefined: a node without an API server. */
  readonly attachments?: NodeAttachments;
  readonly operations: Operations;
}

export interface DevicesConfig {
  /** `enableControllerAttachDetach`. */
  readonly attachedByController: boolean;
}

const NO_DEVICE: DeviceAnswer = { kind: 'attached', devicePath: undefined };

export function createDevices(
  { attachments: node, operations }: DevicesDeps,
  { attachedByController: byController }: DevicesConfig,
): Devices {
  const attachedHere = new Map<string, string>();

  const attach = async (
    { kind }: ResolvedVolume,
    name: string,
    request: VolumeRequest,
    signal: AbortSignal,
  ): Promise<DeviceAnswer> => {
    const step = attachmentStep(name, {
      byController,
      reportedInUse: node?.reportedInUse().has(name) ?? false,
      devicePath: node?.attached().get(name),
    });
    if (step.kind === 'wait') return waiting(step.message);
    if (step.kind === 'attached') return step;
    const devicePath = attachedHere.get(name) ?? (await kind.attachment?.attach(name, request, signal)) ?? '';
    attachedHere.set(name, devicePath);
    return { kind: 'attached', devicePath };
  };

  return {
    attach: async (volume, request, signal) => {
      const { uniqueName: name } = volume;
      if (name === undefined) return NO_DEVICE;
      request.enter('attach');
      return await operations.run(
        {
          plugin: volume.kind.plugin,
          operation: byController ? 'verify_controller_attached_volume' : 'volume_attach',
          work: () => attach(volume, name, request, signal),
          succeeded: ({ kind }) => kind === 'attached',
        },
        signal,
      );
    },
    stage: async ({ kind, uniqueName }, devicePath, request, signal) => {
      if (uniqueName === undefined || devicePath === undefined || kind.staging === undefined) return;
      request.enter('mount-device');
      await kind.staging.stage(uniqueName, devicePath, request, signal);
    },
    release: async (kind, name, signal) => {
      await kind.staging?.unstage(name, signal);
      if (byController) return;
      await kind.attachment?.detach(name, signal);
      attachedHere.delete(name);
    },
  };
}
