/**
 * Merges a drop-in into the fields that were set before (RFC 7386): structs and maps key by key, lists and scalars as a
 * whole, and `null` removes a value.
 */
import type { Kind } from './kinds.ts';
import { kubeletConfiguration, type PartialKubeletConfiguration } from './kubelet-configuration.ts';

type Tree = { readonly [key: string]: unknown };

/** `patch` comes from the decoder, so its values have the kinds of the table. */
export function mergePatch(base: PartialKubeletConfiguration, patch: Tree): PartialKubeletConfiguration {
  return mergeValue(kubeletConfiguration, base, patch) as PartialKubeletConfiguration;
}

function mergeValue(type: Kind, base: unknown, patch: unknown): unknown {
  if (type.kind === 'struct') {
    return mergeKeys(base, patch, (name) => type.fields[name]?.type);
  }
  return type.kind === 'map' ? mergeKeys(base, patch, () => type.item) : patch;
}

function mergeKeys(base: unknown, patch: unknown, typeOf: (key: string) => Kind | undefined): Tree {
  const merged = new Map(Object.entries((base ?? {}) as Tree));
  for (const [key, value] of Object.entries(patch as Tree)) {
    const type = typeOf(key);
    if (value === null) merged.delete(key);
    else if (type !== undefined) merged.set(key, mergeValue(type, merged.get(key), value));
  }
  return Object.fromEntries(merged);
}
