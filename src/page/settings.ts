/** Whether and where the page is served. */
import type { Config } from '../config/config.ts';
import { type LocalAddress, parseLocalAddress } from '../model/local-address.ts';

/** `true`, `false`, or an address and port of loopback. No flag of the reference stands for it, so it is not one. */
export const PAGE = 'KUBELET_TS_PAGE';
/** The port of cAdvisor's page in the first kubelets. */
const USUAL: LocalAddress = { address: '127.0.0.1', port: 4194 };

export type PageSetting =
  | { readonly kind: 'off' }
  | { readonly kind: 'invalid'; readonly problem: string }
  | { readonly kind: 'on'; readonly listen: LocalAddress };

/**
 * By default on where there is no control plane to ask, and off in a cluster, inside another program (which has no environment of its own),
 * with `--runonce`, and where the kubelet's server is off.
 */
export function pageSetting(
  { settings, kubelet }: Pick<Config, 'settings' | 'kubelet'>,
  environment: Readonly<Record<string, string | undefined>> | undefined,
): PageSetting {
  const isAlone = settings.api.kubeconfig === '' && !kubelet.runOnce && kubelet.enableServer;
  const text = environment?.[PAGE] || String(isAlone && environment !== undefined);
  if (text === 'false') return { kind: 'off' };
  const address = parseLocalAddress(text, USUAL);
  if (!address.ok) return { kind: 'invalid', problem: `${PAGE}: ${address.problem}` };
  return { kind: 'on', listen: address.value };
}
