/** The settings of the server, from the kubelet's configuration. */
import { join } from 'node:path';
import { type Config, renderConfigz, renderOrigins } from '../config/config.ts';
import { decideServing } from './rules/serving.ts';
import type { ServerConfig } from './server.ts';

/** The reference requires only `get` for a stream that is requested by GET, as every WebSocket is; this restores that rule. */
const STREAMS_BY_METHOD = 'KUBELET_TS_STREAMS_BY_METHOD';
/** A heap snapshot contains the secrets of every pod, so it needs more than the reference's setting for profiles. */
const HEAP_SNAPSHOTS = 'KUBELET_TS_HEAP_SNAPSHOTS';

/** With `false` the server has no certificate until the cluster has signed one, as in the reference. */
const SELF_SIGNED_UNTIL_SIGNED = 'KUBELET_TS_SELF_SIGNED_UNTIL_SIGNED';

export interface ServerSurroundings {
  readonly nodeName: string;
  /** There is no API server. */
  readonly isStandalone: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where the certificate that the cluster signs is; undefined: it signs none. */
  readonly signedCertificate?: string | undefined;
}

export function serverConfig(
  config: Config,
  { nodeName, isStandalone, environment, signedCertificate }: ServerSurroundings,
): ServerConfig {
  const { kubelet, settings, listen, origins } = config;
  const { authentication, authorization } = kubelet;
  const serving = decideServing({
    isStandalone,
    secure: listen.server,
    readOnly: listen.readOnly,
    anonymous: authentication.anonymous.enabled,
    isAddressGiven: listen.isAddressGiven,
    isAnonymousGiven: origins.of('authentication.anonymous.enabled') !== 'default',
  });
  const { cacheAuthorizedTTL, cacheUnauthorizedTTL } = authorization.webhook;
  return {
    secure: serving.secure,
    readOnly: serving.readOnly,
    nodeName,
    files: {
      certificate: kubelet.tlsCertFile,
      key: kubelet.tlsPrivateKeyFile,
      clientCa: authentication.x509.clientCAFile,
      signed: signedCertificate,
    },
    selfSigned: signedCertificate === undefined || environment[SELF_SIGNED_UNTIL_SIGNED] !== 'false',
    certificateDirectory: settings.directories.certificates,
    tls: {
      minVersion: kubelet.tlsMinVersion,
      cipherSuites: kubelet.tlsCipherSuites,
      curves: kubelet.tlsCurvePreferences,
    },
    anonymous: serving.anonymous,
    tokenReviews: authentication.webhook.enabled ? { cacheTtlMs: authentication.webhook.cacheTTL } : undefined,
    authorization:
      authorization.mode === 'AlwaysAllow'
        ? 'AlwaysAllow'
        : { authorizedTtlMs: cacheAuthorizedTTL, unauthorizedTtlMs: cacheUnauthorizedTTL },
    streamsByMethod: environment[STREAMS_BY_METHOD] === 'true',
    streamIdleMs: kubelet.streamingConnectionIdleTimeout,
    switches: {
      debugging: kubelet.enableDebuggingHandlers,
      systemLogs: kubelet.enableSystemLogHandler,
      profiling: kubelet.enableProfilingHandler,
      debugFlags: kubelet.enableDebugFlagsHandler,
      heapSnapshots: kubelet.enableProfilingHandler && environment[HEAP_SNAPSHOTS] === 'true',
    },
    nodeTokenFile: serving.nodeToken ? join(settings.directories.root, 'server-token') : undefined,
  };
}

/** Without a configured certificate and key, the self-signed pair is used, as in the reference. */
export function shownConfigz(config: Config, withOrigins: boolean): unknown {
  return { ...configzOf(config), ...(withOrigins ? { origins: renderOrigins(config) } : {}) };
}

function configzOf(config: Config): { readonly kubeletconfig: object } {
  const shown = renderConfigz(config) as { readonly kubeletconfig: object };
  if (config.kubelet.tlsCertFile !== '') return shown;
  const { certificates } = config.settings.directories;
  const pair = { tlsCertFile: join(certificates, 'kubelet.crt'), tlsPrivateKeyFile: join(certificates, 'kubelet.key') };
  return { kubeletconfig: { ...shown.kubeletconfig, ...pair } };
}
