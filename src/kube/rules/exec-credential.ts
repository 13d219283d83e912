/** The input and the output of an exec credential plugin (client.authentication.k8s.io). */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import { parseTimestamp } from '../../api/timestamp.ts';
import type { ClusterAccess } from './kubeconfig.ts';

export interface ExecCredential {
  readonly token: string | undefined;
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
  /** Wall-clock milliseconds; undefined: valid until the server refuses it. */
  readonly expiresAt: number | undefined;
}

/** The value of KUBERNETES_EXEC_INFO. `ca` is the PEM text of the cluster's authority. */
export function formatExecInfo(apiVersion: string, cluster?: ClusterAccess, ca?: string): string {
  const spec = {
    ...(cluster === undefined ? {} : { cluster: clusterInfo(cluster, ca) }),
    interactive: false,
  };
  return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
}

function clusterInfo(cluster: ClusterAccess, ca: string | undefined): object {
  return {
    server: cluster.endpoint.text,
    ...(cluster.serverName === undefined ? {} : { 'tls-server-name': cluster.serverName }),
    ...(cluster.skipVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca, 'latin1').toString('base64') }),
    ...(cluster.proxyUrl === '' ? {} : { 'proxy-url': cluster.proxyUrl }),
    ...(cluster.disableCompression ? { 'disable-compression': true } : {}),
    ...(cluster.execConfig === undefined ? {} : { config: cluster.execConfig }),
  };
}

interface RawAnswer {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly status?: Readonly<Record<string, unknown>> | null;
}

/** Never shows what the plugin wrote: it may be a secret. */
export function parseExecCredential(output: string, apiVersion: string): Parsed<ExecCredential> {
  const answer = parseJsonObject(output);
  if (answer === undefined) return unparsable('its output is not a JSON object');
  if (answer.kind !== 'ExecCredential') return unparsable('its output must have the kind ExecCredential');
  if (answer.apiVersion !== apiVersion) {
    return unparsable(`its output must have the apiVersion ${apiVersion}, as in the kubeconfig`);
  }
  const { status } = answer;
  if (typeof status !== 'object' || status === null) return unparsable('its output has no status');
  const fields = ['token', 'clientCertificateData', 'clientKeyData', 'expirationTimestamp'];
  const wrong = fields.find((name) => status[name] != null && typeof status[name] !== 'string');
  if (wrong !== undefined) return unparsable(`status.${wrong} of its output must be a string`);
  const [token, cert, key, expiry] = fields.map((name) => (status[name] as string | null | undefined) || undefined);
  if ((cert === undefined) !== (key === undefined)) {
    return unparsable('its output must have both clientCertificateData and clientKeyData, or none of them');
  }
  if (token === undefined && cert === undefined) return unparsable('its output has neither a token nor a certificate');
  const expiresAt = expiry === undefined ? undefined : parseTimestamp(expiry);
  if (expiry !== undefined && expiresAt === undefined) {
    return unparsable('status.expirationTimestamp of its output must be a time as in RFC 3339');
  }
  return parsed({
    token,
    certificate: cert === undefined || key === undefined ? undefined : { cert, key },
    expiresAt,
  });
}

function parseJsonObject(text: string): RawAnswer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
