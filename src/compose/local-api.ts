/** The local API of a standalone node: its store, the kubelet's own access to it, and its port. */
import { join } from 'node:path';
import type { Part } from '../base/lifecycle.ts';
import type { Config } from '../config/config.ts';
import { KUBERNETES_VERSION } from '../config/version.ts';
import { type HttpDeps, localApiRoutes } from '../local-api/http.ts';
import { createLocalApi, type LocalApi } from '../local-api/local-api.ts';
import { localApiSetting } from '../local-api/settings.ts';
import { ensureNodeToken } from '../server/auth/node-token.ts';
import { readBytes } from '../server/body.ts';
import { createServer } from '../server/server.ts';
import { serverConfig } from '../server/settings.ts';
import { ensureSelfSigned, readTlsMaterial } from '../server/tls/key-pairs.ts';
import { podGatesOf } from '../sources/settings.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import type { PartDeps } from './compose.ts';

export interface LocalApiParts extends LocalApi {
  /** The port, with the endpoints of streams and logs that the kubelet has. */
  readonly port: (tools: PortDeps) => Part;
}

type PortDeps = Pick<HttpDeps, 'endpoints' | 'explain' | 'summary'>;

/** Undefined: it is off, or there is an API server. */
export type ComposeLocalApi = (config: Config, deps: PartDeps) => LocalApiParts | undefined;

export const composeLocalApi: ComposeLocalApi = (config, deps) => {
  const { clock, supervisor, nodeName, surroundings, process } = deps;
  const log = deps.log.named('local-api');
  const setting = localApiSetting(config, {
    environment: surroundings?.environment ?? {},
    nodeName,
    gates: podGatesOf(config),
    platform: process?.platform ?? 'linux',
    runtime: process?.runtime ?? 'node',
  });
  if (setting.kind === 'invalid') log.error('The local API is not served', { problem: setting.problem });
  if (setting.kind !== 'on') return undefined;
  const { directory } = setting.config;
  const certificates = join(directory, 'pki');
  const certificate = async (host: string) => {
    const files = await ensureSelfSigned(certificates, host, clock.now(), log, RENEW_BEFORE_MS);
    return (await readTlsMaterial({ ...files, clientCa: '' })).certificate;
  };
  const local = createLocalApi({ clock, log, supervisor, certificate, ensureToken: ensureNodeToken }, setting.config);
  const port: LocalApiParts['port'] = (tools) =>
    local.whenOpen(
      'port of the local API',
      composePort(config, deps, { ...tools, local, certificates, ...setting.config }),
    );
  return { ...local, port };
};

interface PortTools extends PortDeps {
  readonly local: LocalApi;
  readonly certificates: string;
  readonly address: string;
  readonly port: number;
}

/** The certificate is for a year: who has copied the kubeconfig has a month to do it again. */
const RENEW_BEFORE_MS = 30 * 24 * 3_600_000;
/** Another kubelet of this machine may have the port for as long as it lives. */
const LISTEN_AGAIN_MS = 60_000;

function composePort(config: Config, deps: PartDeps, tools: PortTools): Part {
  const { clock, supervisor, host } = deps;
  const { local, endpoints, explain, summary, certificates, address, port } = tools;
  const own = serverConfig(config, { nodeName: address, isStandalone: true, environment: {} });
  // Those of the kubelet's ports are not mixed with these: this port has a page of its own for them.
  const metrics = createMetrics({ version: KUBERNETES_VERSION, showHiddenFor: '' });
  return createServer(
    {
      clock,
      log: deps.log.named('local-api'),
      supervisor,
      metrics,
      routes: localApiRoutes({ clock, readBytes, endpoints, explain, summary, metrics, ...local }),
      request: undefined,
      users: local.reviewToken,
      inotify: host.files.inotify,
      giveBackMemory: host.own.giveBackMemory,
    },
    {
      ...own,
      secure: { address, port },
      longestRetryMs: LISTEN_AGAIN_MS,
      readOnly: undefined,
      files: { certificate: '', key: '', clientCa: '' },
      certificateDirectory: certificates,
      anonymous: false,
      tokenReviews: undefined,
      nodeTokenFile: undefined,
    },
  );
}
