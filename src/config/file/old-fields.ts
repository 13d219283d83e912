/**
 * Fields of older kubelets that the reference has dropped. Those with a successor are read as that one; the others
 * are set only by flags today.
 */

import type { Entry, Place, Tree } from '../../base/yaml-tree.ts';
import { bool, duration, int32, optional, type PartialValue, string, struct } from '../schema/kinds.ts';
import type { FileReport } from './report.ts';

export const oldSettings = struct({
  cAdvisorPort: optional(int32),
  masterServiceNamespace: optional(string),
  networkPluginName: optional(string),
  networkPluginDir: optional(string),
  maxPerPodContainerCount: optional(int32),
  maxContainerCount: optional(int32),
  minimumGCAge: optional(duration),
  cloudProvider: optional(string),
  cloudConfigFile: optional(string),
  authPath: optional(string),
  requireKubeConfig: optional(bool),
});

/** The values of the old fields, under their old names; flags override them. */
export type OldSettings = PartialValue<typeof oldSettings>;

const FLAG_OF: Readonly<Record<keyof OldSettings, string>> = {
  cAdvisorPort: '--cadvisor-port',
  masterServiceNamespace: '--master-service-namespace',
  networkPluginName: '--network-plugin',
  networkPluginDir: '--cni-conf-dir and --cni-bin-dir',
  maxPerPodContainerCount: '--maximum-dead-containers-per-container',
  maxContainerCount: '--maximum-dead-containers',
  minimumGCAge: '--minimum-container-ttl-duration',
  cloudProvider: '--cloud-provider',
  cloudConfigFile: '--cloud-config',
  authPath: '--auth-path',
  requireKubeConfig: '--require-kubeconfig',
};

/** Old name, and the name it has today. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['podManifestPath', 'staticPodPath'],
  ['manifestURL', 'staticPodURL'],
  ['manifestURLHeader', 'staticPodURLHeader'],
]);

export interface Sorted {
  /** With today's names and formats. */
  readonly entries: readonly Entry[];
  readonly old: readonly Entry[];
}

export function sortOutOldFields(written: readonly Entry[], report: FileReport): Sorted {
  const names = new Set(written.map((entry) => entry.key));
  const entries: Entry[] = [];
  const old: Entry[] = [];
  for (const entry of written) {
    const renamed = RENAMED.get(entry.key);
    if (isOldSetting(entry.key)) {
      report.warn(entry.place, entry.key, `old field, read as the flag ${FLAG_OF[entry.key]}`);
      old.push(entry);
    } else if (renamed === undefined) {
      entries.push(modernDns(entry, report));
    } else if (names.has(renamed)) {
      report.warn(entry.place, entry.key, `old name of ${renamed}, not used because that is set too`);
    } else {
      report.warn(entry.place, entry.key, `old name of ${renamed}, read as that`);
      entries.push({ ...entry, key: renamed, value: modernHeader(renamed, entry.value) });
    }
  }
  return { entries, old };
}

function isOldSetting(name: string): name is keyof OldSettings {
  return Object.hasOwn(FLAG_OF, name);
}

function modernDns(entry: Entry, report: FileReport): Entry {
  const { key, place, value } = entry;
  if (key !== 'clusterDNS' || value.kind !== 'string') return entry;
  report.warn(place, key, 'one string is the old form, read as a list of one');
  return { ...entry, value: listOf(value) };
}

/** The old field held one string; a map, as in later versions, stays as it is. */
function modernHeader(name: string, value: Tree): Tree {
  return name === 'staticPodURLHeader' && value.kind === 'string' ? headerMap(value) : value;
}

/** `key:value`, all that the old header field could hold. Without a colon it stays as it is, for the decoder to refuse. */
function headerMap(header: Tree & { readonly kind: 'string' }): Tree {
  const [, name = '', value] = /^([^:]*):(.*)$/s.exec(header.value) ?? [];
  if (value === undefined || name.trim() === '') return header;
  const { place } = header;
  const list = listOf(stringAt(place, value.trim()));
  return { kind: 'map', place, entries: [{ key: name.trim(), place, value: list }] };
}

function stringAt(place: Place, value: string): Tree {
  return { kind: 'string', place, value };
}

function listOf(item: Tree): Tree {
  return { kind: 'list', place: item.place, items: [item] };
}
