/**
 * Fields of older kubelets that the reference has dropped. Those with a successor are read as that one; the others
 * are set only by flags today.
 */

import type { Entry, Place, Tree } from '../../base/yaml-tree.ts';
import { bool, duration, int32, map, optional, type PartialValue, string, struct } from '../schema/kinds.ts';
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
  certDirectory: optional(string),
  rootDirectory: optional(string),
  hostnameOverride: optional(string),
  nodeIP: optional(string),
  nodeLabels: optional(map(string)),
  runtimeCgroups: optional(string),
  lockFilePath: optional(string),
  exitOnLockContention: optional(bool),
  cniConfDir: optional(string),
  cniBinDir: optional(string),
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
  certDirectory: '--cert-dir',
  rootDirectory: '--root-dir',
  hostnameOverride: '--hostname-override',
  nodeIP: '--node-ip',
  nodeLabels: '--node-labels',
  runtimeCgroups: '--runtime-cgroups',
  lockFilePath: '--lock-file',
  exitOnLockContention: '--exit-on-lock-contention',
  cniConfDir: '--cni-conf-dir',
  cniBinDir: '--cni-bin-dir',
};

/** Old name, and the name it has today. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['podManifestPath', 'staticPodPath'],
  ['manifestURL', 'staticPodURL'],
  ['manifestURLHeader', 'staticPodURLHeader'],
  ['remoteRuntimeEndpoint', 'containerRuntimeEndpoint'],
  ['remoteImageEndpoint', 'imageServiceEndpoint'],
  ['experimentalCgroupsPerQOS', 'cgroupsPerQOS'],
  ['experimentalQOSReserved', 'qosReserved'],
]);

/** Fields of the oldest kind for which there is nothing today. */
const GONE: ReadonlySet<string> = new Set([
  ...['podInfraContainerImage', 'dockerEndpoint', 'dockerExecHandlerName', 'seccompProfileRoot', 'allowPrivileged'],
  ...['hostNetworkSources', 'hostPIDSources', 'hostIPCSources', 'lowDiskSpaceThresholdMB', 'networkPluginMTU'],
  ...['imagePullProgressDeadline', 'rktAPIEndpoint', 'rktPath', 'rktStage1Image', 'babysitDaemons', 'nvidiaGPUs'],
  ...['containerized', 'reconcileCIDR', 'registerSchedulable', 'outOfDiskTransitionFrequency', 'nonMasqueradeCIDR'],
  ...['enableCustomMetrics', 'keepTerminatedPodVolumes', 'experimentalCheckNodeCapabilitiesBeforeMount'],
  ...['containerRuntime', 'experimentalMounterPath', 'experimentalKernelMemcgNotification'],
]);

export interface Sorted {
  /** With today's names and formats. */
  readonly entries: readonly Entry[];
  readonly old: readonly Entry[];
}

/** `isOldKind`: the file says that it is of the oldest kind, whose other fields are known as well. */
export function sortOutOldFields(written: readonly Entry[], report: FileReport, isOldKind = false): Sorted {
  const names = new Set(written.map((entry) => entry.key));
  const entries: Entry[] = [];
  const old: Entry[] = [];
  for (const entry of written) {
    const renamed = RENAMED.get(entry.key);
    if (isOldSetting(entry.key)) {
      report.warn(entry.place, entry.key, `old field, read as the flag ${FLAG_OF[entry.key]}`);
      old.push(entry);
    } else if (isOldKind && GONE.has(entry.key)) {
      report.warn(entry.place, entry.key, 'has no effect: there is no such setting any more');
    } else if (renamed === undefined) {
      entries.push(modernForm(entry, report));
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

/** Fields that were one string, as on the command line. */
const PAIR_OF: Readonly<Record<string, RegExp>> = {
  evictionHard: /^([^<]*)<(.*)$/s,
  evictionSoft: /^([^<]*)<(.*)$/s,
  evictionSoftGracePeriod: /^([^=]*)=(.*)$/s,
  evictionMinimumReclaim: /^([^=]*)=(.*)$/s,
  featureGates: /^([^=]*)=(.*)$/s,
};

function modernForm(entry: Entry, report: FileReport): Entry {
  const { key, place, value } = entry;
  if (value.kind !== 'string') return entry;
  if (key === 'clusterDNS') {
    report.warn(place, key, 'one string is the old form, read as a list of one');
    return { ...entry, value: listOf(value) };
  }
  const pair = Object.hasOwn(PAIR_OF, key) ? PAIR_OF[key] : undefined;
  const pairs = pair && pairsOf(value, pair, key === 'featureGates');
  if (pairs === undefined) return entry;
  report.warn(place, key, 'one string is the old form, read as a map');
  return { ...entry, value: pairs };
}

/** Undefined where a part is no pair: the decoder refuses the whole. */
function pairsOf(
  { value, place }: Tree & { readonly kind: 'string' },
  pair: RegExp,
  isBool: boolean,
): Tree | undefined {
  const entries: Entry[] = [];
  for (const part of value.split(',').filter((text) => text.trim() !== '')) {
    const [, key = '', text] = pair.exec(part.trim()) ?? [];
    if (text === undefined) return undefined;
    const item: Tree =
      isBool && /^(?:true|false)$/i.test(text) ? boolAt(place, /t/i.test(text)) : stringAt(place, text.trim());
    entries.push({ key: key.trim(), place, value: item });
  }
  return { kind: 'map', place, entries };
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

const boolAt = (place: Place, value: boolean): Tree => ({ kind: 'bool', place, value });

function stringAt(place: Place, value: string): Tree {
  return { kind: 'string', place, value };
}

function listOf(item: Tree): Tree {
  return { kind: 'list', place: item.place, items: [item] };
}
