/** Completes the configuration of the files, before flags. */
import { applyDefaults, applyFileDefaults, type DefaultingGates, flagEraDefaults } from '../schema/defaults.ts';
import type { KubeletConfiguration } from '../schema/kubelet-configuration.ts';
import { mergePatch } from '../schema/merge.ts';
import type { DecodedConfiguration } from './decode.ts';

/**
 * As in the reference: the file is completed first, or the older defaults of the flags are used if there is
 * none, and the drop-ins are merged into that. So a default that depends on another field depends on the file alone, and
 * a hard eviction threshold in a drop-in joins the default ones. Flags override the result; unlike a file they can set
 * zeros. One difference is intended: `enforceNodeAllocatable: []` of the file survives the merge here, while the reference
 * loses it as soon as there is a drop-in directory, even an empty one.
 */
export function completeConfiguration(
  { file, dropins }: Pick<DecodedConfiguration, 'file' | 'dropins'>,
  gates?: DefaultingGates,
): KubeletConfiguration {
  const base = file === undefined ? applyDefaults(flagEraDefaults, gates) : applyFileDefaults(file, gates);
  if (dropins.length === 0) return base;
  return applyDefaults(dropins.reduce(mergePatch, base), gates);
}
