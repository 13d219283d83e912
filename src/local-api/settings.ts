/** Whether and where the local API is served. */
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { KUBERNETES_VERSION } from '../config/version.ts';
import { parseLocalAddress } from '../model/local-address.ts';
import type { LocalApiConfig } from './local-api.ts';

/** `true`, `false`, or an address and port of loopback. No flag of the reference stands for it, so it is not one. */
export const LOCAL_API = 'KUBELET_TS_LOCAL_API';

const USUAL = { address: '127.0.0.1', port: 10260 };

export interface LocalApiSurroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly nodeName: string;
  readonly gates: LocalApiConfig['gates'];
  readonly platform: string;
  readonly runtime: string;
}

export type LocalApiSetting =
  | { readonly kind: 'off' }
  | { readonly kind: 'invalid'; readonly problem: string }
  | { readonly kind: 'on'; readonly config: LocalApiConfig };

/** Off in a cluster, where the API server has these pods, and with `--runonce`, which ends before anyone could ask. */
export function localApiSetting({ settings, kubelet }: Config, surroundings: LocalApiSurroundings): LocalApiSetting {
  const { environment, nodeName, gates, platform, runtime } = surroundings;
  const text = environment[LOCAL_API] || 'false';
  if (settings.api.kubeconfig !== '' || kubelet.runOnce || text === 'false') return { kind: 'off' };
  const address = parseLocalAddress(text, USUAL);
  if (!address.ok) return { kind: 'invalid', problem: `${LOCAL_API}: ${address.problem}` };
  const directory = join(settings.directories.root, 'local-api');
  const version = KUBERNETES_VERSION;
  return { kind: 'on', config: { ...address.value, directory, nodeName, gates, version, platform, runtime } };
}
