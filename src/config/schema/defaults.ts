/** Completes a configuration with defaults. */
import type { Field, FieldTable, Kind, PartialValue, StructKind, Value } from './kinds.ts';
import {
  type KubeletConfiguration,
  kubeletConfiguration,
  type PartialKubeletConfiguration,
} from './kubelet-configuration.ts';

/** The feature gates on which a default depends. */
export interface DefaultingGates {
  readonly KubeletCrashLoopBackOffMax: boolean;
  readonly KubeletEnsureSecretPulledImages: boolean;
}

export const defaultGatesOfDefaulting: DefaultingGates = {
  KubeletCrashLoopBackOffMax: true,
  KubeletEnsureSecretPulledImages: true,
};

export const defaultEvictionHard: KubeletConfiguration['evictionHard'] = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/** The older defaults of the flags, which apply without a configuration file. */
export const flagEraDefaults: PartialKubeletConfiguration = {
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  readOnlyPort: 10255,
};

/**
 * Fills in every field that was not set. A written zero counts as "not set" for plain fields, as it does in the API.
 * Hard eviction thresholds get no default here: `applyFileDefaults` does that.
 */
export function applyDefaults(
  partial: PartialKubeletConfiguration,
  gates: DefaultingGates = defaultGatesOfDefaulting,
): KubeletConfiguration {
  const complete = completeStruct(kubeletConfiguration, partial);
  const restartPeriod = complete.crashLoopBackOff.maxContainerRestartPeriod;
  return {
    ...complete,
    nodeStatusReportFrequency: complete.nodeStatusReportFrequency || partial.nodeStatusUpdateFrequency || 5 * 60_000,
    podPidsLimit: Math.max(complete.podPidsLimit, -1),
    serializeImagePulls: partial.serializeImagePulls ?? (partial.maxParallelImagePulls ?? 0) < 2,
    crashLoopBackOff: {
      maxContainerRestartPeriod: restartPeriod ?? (gates.KubeletCrashLoopBackOffMax ? 5 * 60_000 : undefined),
    },
    imagePullCredentialsVerificationPolicy:
      complete.imagePullCredentialsVerificationPolicy ||
      (gates.KubeletEnsureSecretPulledImages ? 'NeverVerifyPreloadedImages' : ''),
  };
}

/** The defaults of a configuration that came from a file: hard eviction thresholds included. */
export function applyFileDefaults(
  partial: PartialKubeletConfiguration,
  gates: DefaultingGates = defaultGatesOfDefaulting,
): KubeletConfiguration {
  const complete = applyDefaults(partial, gates);
  if (partial.evictionHard === undefined) return { ...complete, evictionHard: defaultEvictionHard };
  if (!complete.mergeDefaultEvictionSettings) return complete;
  return { ...complete, evictionHard: { ...defaultEvictionHard, ...partial.evictionHard } };
}

/** Every field that is not set gets its default, or the zero of its kind. */
export function completeStruct<Fields extends FieldTable>(
  type: StructKind<Fields>,
  partial: PartialValue<StructKind<Fields>>,
): Value<StructKind<Fields>> {
  const set: { readonly [name: string]: unknown } = partial;
  const complete = Object.entries(type.fields).map(([name, field]) => [name, completeField(field, set[name])]);
  // Built field by field from the same table that gives the type.
  return Object.fromEntries(complete) as Value<StructKind<Fields>>;
}

function completeField(field: Field, set: unknown): unknown {
  const { type } = field;
  if (set === undefined) {
    if (field.presence === 'optional') return undefined;
    if (field.fallback !== undefined) return field.fallback;
    return type.kind === 'struct' ? completeStruct(type, {}) : zeroOf(type);
  }
  if (type.kind === 'struct') return completeStruct(type, set as PartialValue<StructKind>);
  return field.presence === 'plain' && isZero(type, set) ? (field.fallback ?? zeroOf(type)) : set;
}

/** A written empty list or map is not the same as none: it turns a default off. */
function isZero(type: Kind, value: unknown): boolean {
  return type.kind !== 'list' && type.kind !== 'map' && value === zeroOf(type);
}

/** The value of an unset field of this kind without a default. */
export function zeroOf(type: Kind): unknown {
  switch (type.kind) {
    case 'bool':
      return false;
    case 'int':
    case 'float':
    case 'duration':
      return 0;
    case 'string':
      return '';
    case 'quantity':
      return '0';
    case 'list':
      return [];
    case 'map':
      return {};
    case 'struct':
      return completeStruct(type, {});
  }
}
