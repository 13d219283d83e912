/** The documents by which clients learn what there is. */

import { ELSEWHERE, groupVersion, RESOURCES, type Resource, VERBS } from './resources.ts';
import { METRICS_VERSION, USAGE_KINDS } from './usage.ts';

export interface VersionInfo {
  /** `v1.36.2`. */
  readonly version: string;
  readonly platform: string;
  readonly runtime: string;
}

export function versionDocument({ version, platform, runtime }: VersionInfo): object {
  const [major = '', minor = ''] = version.slice(1).split('.');
  return {
    major,
    minor,
    gitVersion: version,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: runtime,
    compiler: 'none',
    platform,
  };
}

const [METRICS_GROUP = '', METRICS] = METRICS_VERSION.split('/');
const ALL: readonly Pick<Resource, 'group' | 'version'>[] = [
  ...RESOURCES,
  ...ELSEWHERE,
  { group: METRICS_GROUP, version: METRICS ?? '' },
];
const NAMED_GROUPS = [...new Set(ALL.map(({ group }) => group))].filter((group) => group !== '').sort();

export function coreVersions(address: string): object {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
  };
}

export function groupList(): object {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: NAMED_GROUPS.map(groupOf) };
}

/** Undefined: there is no such group. */
export function groupDocument(group: string): object | undefined {
  return NAMED_GROUPS.includes(group) ? { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group) } : undefined;
}

function groupOf(group: string) {
  const versions = [...new Set(ALL.filter((one) => one.group === group).map(({ version }) => version))];
  const named = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: named, preferredVersion: named[0] };
}

/** Undefined: there is no such version. */
export function resourceList(version: string): object | undefined {
  const served = RESOURCES.filter((resource) => groupVersion(resource) === version).flatMap(entriesOf);
  const refused = ELSEWHERE.filter((resource) => groupVersion(resource) === version).map((resource) => ({
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.isNamespaced,
    kind: resource.kind,
    // Named so that the answer to it can say what is needed; nothing can be listed, so `kubectl get all` leaves it out.
    verbs: ['create'],
  }));
  const measured = version === METRICS_VERSION ? USAGE_KINDS.map(usageEntry) : [];
  const resources = [...served, ...refused, ...measured];
  return resources.length === 0
    ? undefined
    : { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: version, resources };
}

const usageEntry = ({ plural, kind, isNamespaced }: (typeof USAGE_KINDS)[number]) => ({
  ...{ name: plural, singularName: '', namespaced: isNamespaced, kind },
  verbs: ['get', 'list'],
});

function entriesOf(resource: Resource): readonly object[] {
  const { plural, singular, isNamespaced: namespaced, kind, shortNames, categories, subresources = [] } = resource;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs: VERBS,
      ...(shortNames && { shortNames }),
      ...(categories && { categories }),
    },
    ...subresources.map(({ name, kind: own, group, version, verbs }) => ({
      name: `${plural}/${name}`,
      singularName: '',
      namespaced,
      ...(group !== undefined && { group, version }),
      kind: own,
      verbs,
    })),
  ];
}
