/** The devices below volumes: attached to the node and mounted once for all pods that use them, let go of after the last one. */

import { CodedError, codeOf, describeError } from '../base/errors.ts';
import type { VolumeKind } from './kind.ts';
import { attachmentStep } from './rules/attachment.ts';
import type { VolumeStage } from './rules/messages.ts';
import { notAttached, type PrepareRequest } from './volume.ts';

/** What the node's status says, as the API server has it. */
export interface NodeAttachments {
  /** Device paths by unique name. */
  attached(): ReadonlyMap<string, string>;
  reportedInUse(): ReadonlySet<string>;
}

export interface Devices {
  /** Resolves when the volume's device is attached and staged. */
  ensure(request: PrepareRequest, signal: AbortSignal): Promise<string | undefined>;
  /** No one uses it any more. */
  release(kind: VolumeKind, uniqueName: string, signal: AbortSignal): Promise<void>;
}

export interface DevicesConfig {
  /** `enableControllerAttachDetach`. */
  readonly byController: boolean;
}

export function createDevices(node: NodeAttachments | undefined, { byController }: DevicesConfig): Devices {
  const attachedHere = new Map<string, string>();

  const attach = async (name: string, request: PrepareRequest, signal: AbortSignal): Promise<string> => {
    const step = attachmentStep(name, {
      byController,
      reportedInUse: node?.reportedInUse().has(name) ?? false,
      devicePath: node?.attached().get(name),
    });
    if (step.kind === 'wait') throw notAttached(step.message);
    if (step.kind === 'attached') return step.devicePath;
    const devicePath =
      attachedHere.get(name) ??
      (await during('attach', request.kind.attachment?.attach(name, request, signal), signal)) ??
      '';
    attachedHere.set(name, devicePath);
    return devicePath;
  };

  return {
    ensure: async (request, signal) => {
      const { attachment, staging } = request.kind;
      if (attachment === undefined) return undefined;
      const name = await attachment.uniqueName(request, signal);
      request.named(name);
      const devicePath = await attach(name, request, signal);
      await during('stage', staging?.stage(name, devicePath, request, signal), signal);
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

/** An error of this work says at which stage of the volume it came. */
async function during<T>(
  stage: VolumeStage,
  work: Promise<T> | undefined,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CodedError(codeOf(error), describeError(error), { data: { stage } });
  }
}

/** The stage at which a volume failed. */
export function stageOf(error: unknown): VolumeStage {
  const stage = error instanceof CodedError ? error.data['stage'] : undefined;
  return stage === 'attach' || stage === 'stage' ? stage : 'set-up';
}
