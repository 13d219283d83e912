/** What the local API serves, as data: discovery, paths, tables and the store all read it. */
import type { StructKind } from '../../api/object-schema.ts';
import { POD } from '../../api/pod-schema.ts';
import type { Keeping } from '../store.ts';
import { CONFIG_MAP, EVENT, LEASE, NAMESPACE, NODE, RUNTIME_CLASS, SECRET, SERVICE_ACCOUNT } from './schemas.ts';

export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly isNamespaced: boolean;
  readonly keeping: Keeping;
  readonly schema: StructKind;
  readonly subresources?: readonly Subresource[];
}

export interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

const STATUS = (kind: string): Subresource => ({ name: 'status', kind, verbs: ['get', 'patch', 'update'] });
const STREAM = (name: string, kind: string): Subresource => ({ name, kind, verbs: ['create', 'get'] });

const core = { group: '', version: 'v1', keeping: 'safe' } as const;

export const PODS: Resource = {
  ...core,
  plural: 'pods',
  singular: 'pod',
  kind: 'Pod',
  shortNames: ['po'],
  categories: ['all'],
  isNamespaced: true,
  schema: POD,
  subresources: [
    STREAM('attach', 'PodAttachOptions'),
    { name: 'ephemeralcontainers', kind: 'Pod', verbs: ['get', 'patch', 'update'] },
    { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
    STREAM('exec', 'PodExecOptions'),
    { name: 'log', kind: 'Pod', verbs: ['get'] },
    STREAM('portforward', 'PodPortForwardOptions'),
    { name: 'resize', kind: 'Pod', verbs: ['get', 'patch', 'update'] },
    STATUS('Pod'),
  ],
};

export const NAMESPACES: Resource = {
  ...core,
  plural: 'namespaces',
  singular: 'namespace',
  kind: 'Namespace',
  shortNames: ['ns'],
  isNamespaced: false,
  schema: NAMESPACE,
};

export const EVENTS: Resource = {
  ...core,
  plural: 'events',
  singular: 'event',
  kind: 'Event',
  shortNames: ['ev'],
  isNamespaced: true,
  keeping: 'lazy',
  schema: EVENT,
};

export const NODES: Resource = {
  ...core,
  plural: 'nodes',
  singular: 'node',
  kind: 'Node',
  shortNames: ['no'],
  isNamespaced: false,
  keeping: 'lazy',
  schema: NODE,
  subresources: [STATUS('Node')],
};

export const SECRETS: Resource = {
  ...core,
  plural: 'secrets',
  singular: 'secret',
  kind: 'Secret',
  isNamespaced: true,
  schema: SECRET,
};

export const SERVICE_ACCOUNTS: Resource = {
  ...core,
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  kind: 'ServiceAccount',
  shortNames: ['sa'],
  isNamespaced: true,
  schema: SERVICE_ACCOUNT,
  subresources: [
    { name: 'token', kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] },
  ],
};

export const RESOURCES: readonly Resource[] = [
  {
    ...core,
    plural: 'configmaps',
    singular: 'configmap',
    kind: 'ConfigMap',
    shortNames: ['cm'],
    isNamespaced: true,
    schema: CONFIG_MAP,
  },
  EVENTS,
  NAMESPACES,
  NODES,
  PODS,
  SECRETS,
  SERVICE_ACCOUNTS,
  // The kubelet renews its lease every ten seconds: too often for a disk.
  {
    group: 'coordination.k8s.io',
    version: 'v1',
    plural: 'leases',
    singular: 'lease',
    kind: 'Lease',
    isNamespaced: true,
    keeping: 'memory',
    schema: LEASE,
  },
  {
    group: 'node.k8s.io',
    version: 'v1',
    plural: 'runtimeclasses',
    singular: 'runtimeclass',
    kind: 'RuntimeClass',
    isNamespaced: false,
    keeping: 'safe',
    schema: RUNTIME_CLASS,
  },
];

export const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;

/** Kinds that people send to a node and that need a control plane: they are in the discovery so that their refusal can say so. */
export const ELSEWHERE: readonly (Pick<Resource, 'group' | 'version' | 'plural' | 'singular' | 'kind'> & {
  readonly isNamespaced: boolean;
})[] = [
  ['', 'v1', 'services', 'Service'],
  ['', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'],
  ['', 'v1', 'replicationcontrollers', 'ReplicationController'],
  ['apps', 'v1', 'deployments', 'Deployment'],
  ['apps', 'v1', 'daemonsets', 'DaemonSet'],
  ['apps', 'v1', 'replicasets', 'ReplicaSet'],
  ['apps', 'v1', 'statefulsets', 'StatefulSet'],
  ['batch', 'v1', 'cronjobs', 'CronJob'],
  ['batch', 'v1', 'jobs', 'Job'],
  ['networking.k8s.io', 'v1', 'ingresses', 'Ingress'],
  ['networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy'],
].map(([group = '', version = '', plural = '', kind = '']) => ({
  ...{ group, version, plural, kind, singular: kind.toLowerCase() },
  isNamespaced: true,
}));

/** `v1` or `apps/v1`. */
export const groupVersion = ({ group, version }: Pick<Resource, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

/** `pods` or `deployments.apps`, as messages name a resource. */
export const qualified = ({ group, plural }: Pick<Resource, 'group' | 'plural'>): string =>
  group === '' ? plural : `${plural}.${group}`;
