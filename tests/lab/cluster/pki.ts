/**
 * The keys and certificates of one lab cluster, made with openssl(1): EC P-256 throughout, one process for each certificate,
 * all leaves at once. Everything is written below one directory that belongs to the world and goes away with it.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { runCommand } from '../../../tools/machine/command.ts';
import { ensurePackages } from '../../../tools/machine/packages.ts';

/** Paths of a certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  /** Kubernetes reads these as the groups of the user. */
  readonly organizations?: readonly string[];
}

export interface IssueRequest extends Subject {
  /** File name without ending; unique within the PKI unless the old pair is meant to be replaced. */
  readonly file: string;
  readonly usage: 'client' | 'server' | 'both';
  /** DNS names and IP addresses of a server. */
  readonly names?: readonly string[];
}

export interface CertificateAuthority extends KeyPair {
  issue(request: IssueRequest): Promise<KeyPair>;
}

export interface ClusterPki {
  readonly dir: string;
  readonly ca: CertificateAuthority;
  /** Signs the client certificate with which the API server speaks to extension API servers. */
  readonly frontProxyCa: CertificateAuthority;
  readonly frontProxyClient: KeyPair;
  readonly apiServer: KeyPair;
  /** What the API server shows to kubelets. */
  readonly kubeletClient: KeyPair;
  readonly admin: KeyPair;
  readonly controllerManager: KeyPair;
  readonly scheduler: KeyPair;
  readonly serviceAccount: { readonly privateKey: string; readonly publicKey: string };
  /** Replaces the files of `apiServer`. */
  issueApiServer(): Promise<KeyPair>;
  /** The client certificate of a node: O=system:nodes, CN=system:node:NAME. */
  issueNode(nodeName: string): Promise<KeyPair>;
}

export interface ClusterPkiOptions {
  readonly dir: string;
  /** Names and addresses under which the API server is reached. */
  readonly serverNames: readonly string[];
}

const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const;

const DAYS_VALID = '30';

const EXTENDED_KEY_USAGE = {
  client: 'clientAuth',
  server: 'serverAuth',
  both: 'serverAuth,clientAuth',
} as const;

export async function createClusterPki(options: ClusterPkiOptions): Promise<ClusterPki> {
  const { dir } = options;
  await ensurePackages(['openssl'], console.error);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const [ca, frontProxyCa, serviceAccount] = await Promise.all([
    createAuthority(dir, 'ca', 'lab-cluster-ca'),
    createAuthority(dir, 'front-proxy-ca', 'lab-front-proxy-ca'),
    createServiceAccountKeys(dir),
  ]);
  const client = (file: string, commonName: string, ...organizations: string[]) =>
    ca.issue({ file, usage: 'client', commonName, organizations });
  const issueApiServer = () =>
    ca.issue({ file: 'apiserver', usage: 'server', commonName: 'kube-apiserver', names: options.serverNames });
  const [apiServer, kubeletClient, admin, controllerManager, scheduler, frontProxyClient] = await Promise.all([
    issueApiServer(),
    client('apiserver-kubelet-client', 'kube-apiserver-kubelet-client', 'system:masters'),
    client('admin', 'kubernetes-admin', 'system:masters'),
    client('controller-manager', 'system:kube-controller-manager'),
    client('scheduler', 'system:kube-scheduler'),
    frontProxyCa.issue({ file: 'front-proxy-client', usage: 'client', commonName: 'front-proxy-client' }),
  ]);
  return {
    dir,
    ca,
    frontProxyCa,
    frontProxyClient,
    apiServer,
    kubeletClient,
    admin,
    controllerManager,
    scheduler,
    serviceAccount,
    issueApiServer,
    issueNode: (nodeName) => client(`node-${nodeName}`, `system:node:${nodeName}`, 'system:nodes'),
  };
}

async function createAuthority(dir: string, file: string, commonName: string): Promise<CertificateAuthority> {
  const pair = pathsOf(dir, file);
  const subject = await subjectArgs(dir, file, { commonName });
  await openssl([
    ...['req', '-x509', ...EC_KEY, ...subject, '-days', DAYS_VALID],
    ...['-keyout', pair.key, '-out', pair.cert],
    ...['-addext', 'basicConstraints=critical,CA:true', '-addext', 'keyUsage=critical,digitalSignature,keyCertSign'],
    ...['-addext', 'subjectKeyIdentifier=hash'],
  ]);
  return { ...pair, issue: (request) => issue(dir, pair, request) };
}

async function issue(dir: string, ca: KeyPair, request: IssueRequest): Promise<KeyPair> {
  const pair = pathsOf(dir, request.file);
  const names = (request.names ?? []).map((name) => (isIP(name) === 0 ? `DNS:${name}` : `IP:${name}`));
  await openssl([
    ...['req', '-x509', ...EC_KEY, ...(await subjectArgs(dir, request.file, request))],
    ...['-CA', ca.cert, '-CAkey', ca.key, '-days', DAYS_VALID],
    ...['-keyout', pair.key, '-out', pair.cert],
    ...['-addext', 'basicConstraints=critical,CA:false', '-addext', 'keyUsage=critical,digitalSignature'],
    ...['-addext', `extendedKeyUsage=${EXTENDED_KEY_USAGE[request.usage]}`],
    ...['-addext', 'authorityKeyIdentifier=keyid'],
    ...(names.length === 0 ? [] : ['-addext', `subjectAltName=${names.join(',')}`]),
  ]);
  return pair;
}

/**
 * The subject goes through a configuration file and not through `-subj`: there a slash or a plus sign in a name would split it,
 * and the distribution's own file would make every certificate an authority.
 */
async function subjectArgs(dir: string, file: string, subject: Subject): Promise<readonly string[]> {
  const config = join(dir, `${file}.cnf`);
  const organizations = (subject.organizations ?? []).map((name, index) => `${index}.O = ${name}`);
  const lines = ['[req]', 'distinguished_name = subject', 'prompt = no', '[subject]', ...organizations];
  await writeFile(config, `${[...lines, `CN = ${subject.commonName}`].join('\n')}\n`);
  return ['-config', config];
}

async function createServiceAccountKeys(dir: string): Promise<ClusterPki['serviceAccount']> {
  const keys = { privateKey: join(dir, 'service-account.key'), publicKey: join(dir, 'service-account.pub') };
  await openssl(['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', keys.privateKey]);
  await openssl(['ec', '-in', keys.privateKey, '-pubout', '-out', keys.publicKey]);
  return keys;
}

function pathsOf(dir: string, file: string): KeyPair {
  return { cert: join(dir, `${file}.crt`), key: join(dir, `${file}.key`) };
}

async function openssl(args: readonly string[]): Promise<void> {
  const outcome = await runCommand({ argv: ['openssl', ...args], env: { PATH: process.env['PATH'], LC_ALL: 'C' } });
  if (outcome.code === 0) return;
  throw new Error(`openssl ${args.join(' ')} ended with ${outcome.code}:\n${outcome.lastLines.join('\n')}`);
}
