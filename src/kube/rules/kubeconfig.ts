/** Parses a kubeconfig: gives the cluster and the user of its current context, or all its problems. */
import { type DecodeFinding, decodeObject, placeOfPath } from '../../api/object-decode.ts';
import type { Parsed } from '../../api/parsed.ts';
import { readTree, type Tree } from '../../base/yaml-tree.ts';
import { type Endpoint, type ProxyServer, parseProxy, parseServer } from './endpoint.ts';
import { KUBECONFIG, type RawCluster, type RawKubeconfig } from './kubeconfig-schema.ts';
import { readUser, type UserAccess } from './kubeconfig-user.ts';
import { type Complain, type PemSource, readPem } from './pem-source.ts';

export interface ClusterAccess {
  readonly endpoint: Endpoint;
  /** Undefined: the authorities that the machine trusts. */
  readonly authority: PemSource | undefined;
  readonly skipVerify: boolean;
  /** The name that the server's certificate must have instead of the host's. */
  readonly serverName: string | undefined;
  readonly proxy: ProxyServer | undefined;
  readonly proxyUrl: string;
  readonly disableCompression: boolean;
  /** The kubeconfig's information for exec plugins about this cluster. */
  readonly execConfig: unknown;
}

export interface Access {
  readonly cluster: ClusterAccess;
  readonly user: UserAccess;
}

export type ReadKubeconfig =
  | { readonly access: Access; readonly warnings: readonly string[] }
  | { readonly problems: readonly string[] };

/** The extension of a cluster that is meant for exec plugins. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';
const SECRET_FIELD = /\.(token|password|client-key-data)$/;

/** `path` names the file in every problem: `/etc/kubernetes/kubelet.conf:5:13: clusters[0].cluster.server: …`. */
export function readKubeconfig(text: string, path: string): ReadKubeconfig {
  const read = readTree(text);
  if ('problem' in read) return { problems: [complaint(path, { ...read.problem, path: '' })] };
  const { tree } = read;
  const { value, problems: mismatches, warnings } = decodeObject(KUBECONFIG, tree);
  const problems = mismatches.map((finding) => complaint(path, withoutSecret(finding)));
  if (problems.length > 0) return { problems };
  const complain: Complain = (field, what) => {
    problems.push(complaint(path, { place: placeOfPath(tree, field), path: field, text: what }));
    return undefined;
  };
  const access = readAccess(value as RawKubeconfig, tree, complain);
  if (access === undefined || problems.length > 0) return { problems };
  return { access, warnings: warnings.map((warning) => complaint(path, warning)) };
}

function complaint(file: string, { place, path, text }: DecodeFinding): string {
  return `${file}:${place.line}:${place.column}: ${path === '' ? '' : `${path}: `}${text}`;
}

/** The wrong value stays out of the log if it may be a secret. */
function withoutSecret(finding: DecodeFinding): DecodeFinding {
  return SECRET_FIELD.test(finding.path) ? { ...finding, text: finding.text.replace(/; found .*$/s, '') } : finding;
}

function readAccess(raw: RawKubeconfig, tree: Tree, complain: Complain): Access | undefined {
  if (tree.kind === 'map' && raw.kind !== undefined && raw.kind !== 'Config') {
    complain('kind', `must be "Config"; found ${JSON.stringify(raw.kind)}`);
  }
  if (raw.apiVersion !== undefined && raw.apiVersion !== 'v1') {
    complain('apiVersion', `must be "v1"; found ${JSON.stringify(raw.apiVersion)}`);
  }
  const contexts = raw.contexts ?? [];
  const name = raw['current-context'] ?? '';
  if (name === '') return complain('current-context', `must name a context; there ${listNames(contexts)}`);
  const at = findNamed(contexts, name);
  const context = contexts[at]?.context;
  if (context === undefined) {
    return complain('current-context', `no context is named ${JSON.stringify(name)}; there ${listNames(contexts)}`);
  }
  const cluster = pickCluster(raw, context.cluster ?? '', `contexts[${at}].context.cluster`, complain);
  const user = pickUser(raw, context.user ?? '', `contexts[${at}].context.user`, complain);
  return cluster === undefined || user === undefined ? undefined : { cluster, user };
}

function pickCluster(raw: RawKubeconfig, name: string, named: string, complain: Complain): ClusterAccess | undefined {
  const clusters = raw.clusters ?? [];
  const at = findNamed(clusters, name);
  const cluster = clusters[at]?.cluster;
  if (name === '') return complain(named, `must name a cluster; there ${listNames(clusters)}`);
  if (at >= 0 && cluster === undefined) return complain(`clusters[${at}].cluster`, 'must be given');
  if (cluster === undefined) {
    return complain(named, `no cluster is named ${JSON.stringify(name)}; there ${listNames(clusters)}`);
  }
  return readCluster(cluster, `clusters[${at}].cluster`, complain);
}

function pickUser(raw: RawKubeconfig, name: string, named: string, complain: Complain): UserAccess | undefined {
  const users = raw.users ?? [];
  // Without a user requests are anonymous.
  if (name === '') return readUser({}, named, complain);
  const at = findNamed(users, name);
  if (at < 0) return complain(named, `no user is named ${JSON.stringify(name)}; there ${listNames(users)}`);
  return readUser(users[at]?.user ?? {}, `users[${at}].user`, complain);
}

function readCluster(raw: RawCluster, path: string, complain: Complain): ClusterAccess | undefined {
  const skipVerify = raw['insecure-skip-tls-verify'] ?? false;
  const authority = readPem(raw, { data: 'certificate-authority-data', file: 'certificate-authority' }, path, complain);
  if (skipVerify && authority !== undefined) {
    complain(`${path}.insecure-skip-tls-verify`, 'must not be true where a certificate authority is given');
  }
  const server = raw.server ?? '';
  const hasTls = skipVerify || authority !== undefined;
  const endpoint = server === '' ? undefined : parseServer(server, hasTls);
  if (endpoint === undefined) complain(`${path}.server`, 'must be given');
  else if (!endpoint.ok) complain(`${path}.server`, endpoint.problem);
  const proxyUrl = raw['proxy-url'] ?? '';
  const proxy = proxyUrl === '' ? undefined : parseProxy(proxyUrl);
  if (proxy?.ok === false) complain(`${path}.proxy-url`, proxy.problem);
  if (endpoint?.ok !== true) return undefined;
  return {
    endpoint: endpoint.value,
    authority,
    skipVerify,
    serverName: raw['tls-server-name'] || undefined,
    proxy: valueIfOk(proxy),
    proxyUrl,
    disableCompression: raw['disable-compression'] ?? false,
    execConfig: raw.extensions?.find((extension) => extension.name === EXEC_EXTENSION)?.extension,
  };
}

const valueIfOk = <T>(answer: Parsed<T> | undefined): T | undefined => (answer?.ok ? answer.value : undefined);

function findNamed(entries: readonly { readonly name?: string }[], name: string): number {
  return entries.findIndex((entry) => entry.name === name);
}

function listNames(entries: readonly { readonly name?: string }[]): string {
  if (entries.length === 0) return 'are none';
  const names = entries.map(({ name = '' }) => JSON.stringify(name)).join(', ');
  return entries.length === 1 ? `is ${names}` : `are ${names}`;
}
