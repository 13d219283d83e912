/** The configuration as /configz of the reference shows it: same names, same order, same omissions. */
import { formatDuration } from '../../api/duration.ts';
import { assertNever } from '../../base/assert-never.ts';
import type { Field, Kind, StructKind } from './kinds.ts';
import {
  KUBELET_CONFIGURATION_KIND,
  KUBELET_CONFIGURATION_VERSION,
  type KubeletConfiguration,
  kubeletConfiguration,
} from './kubelet-configuration.ts';

export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

/** The answer of /configz. */
export function renderConfigz(config: KubeletConfiguration): Json {
  return { kubeletconfig: renderKubeletConfiguration(config) };
}

/** The configuration as a file that would give the same configuration again. */
export function renderKubeletConfiguration(config: KubeletConfiguration): { readonly [key: string]: Json } {
  return {
    kind: KUBELET_CONFIGURATION_KIND,
    apiVersion: KUBELET_CONFIGURATION_VERSION,
    ...renderStruct(kubeletConfiguration, config),
  };
}

function renderStruct(type: StructKind, value: { readonly [name: string]: unknown }): { readonly [key: string]: Json } {
  const fields: [string, Json][] = [];
  for (const [name, field] of Object.entries(type.fields)) {
    if (isShown(field, value[name])) fields.push([name, render(field.type, value[name])]);
  }
  return Object.fromEntries(fields);
}

/** Structs, durations and quantities are never empty in the reference's JSON: it always shows them. */
function isShown(field: Field, value: unknown): boolean {
  if (value === undefined) return false;
  if (field.presence !== 'plain' || field.alwaysShown) return true;
  switch (field.type.kind) {
    case 'struct':
    case 'duration':
    case 'quantity':
      return true;
    case 'list':
    case 'map':
      return Object.keys(value as object).length > 0;
    default:
      return value !== false && value !== 0 && value !== '';
  }
}

// The casts below are safe: the value has the type of the same table.
function render(type: Kind, value: unknown): Json {
  switch (type.kind) {
    case 'bool':
    case 'int':
    case 'float':
    case 'string':
    case 'quantity':
      return value as string | number | boolean;
    case 'duration':
      return formatDuration(value as number);
    case 'list':
      return (value as readonly unknown[]).map((item) => render(type.item, item));
    case 'map':
      return renderMap(type.item, value as { readonly [key: string]: unknown });
    case 'struct':
      return renderStruct(type, value as { readonly [name: string]: unknown });
    default:
      return assertNever(type);
  }
}

/** Go sorts the keys of a map by their bytes. */
function renderMap(item: Kind, value: { readonly [key: string]: unknown }): Json {
  const entries = Object.entries(value).map(([key, entry]) => [key, render(item, entry)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
}
