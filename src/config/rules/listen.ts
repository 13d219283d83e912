import { isUnspecified, parseIpAddress } from '../../api/ip-address.ts';
import type { KubeletConfiguration } from '../schema/kubelet-configuration.ts';
import type { CadvisorSettings } from '../settings.ts';

export type Endpoint = { readonly address: string; readonly port: number };

/** Where to listen; absent means not at all. */
export type ListenDecision = {
  readonly server: Endpoint | undefined;
  readonly readOnly: Endpoint | undefined;
  readonly healthz: Endpoint | undefined;
  readonly cadvisor: Endpoint | undefined;
  /** Whether an address was chosen; otherwise it is the default. */
  readonly isAddressGiven: boolean;
};

export type ListenInput = {
  readonly kubelet: KubeletConfiguration;
  readonly cadvisor: CadvisorSettings;
  /** Whether an address was chosen, by `--address`, in the configuration file or in a drop-in. */
  readonly isAddressGiven: boolean;
  /** Without an API server and without explicit anonymous access, unauthenticated callers are refused (server/rules/serving.ts). */
  readonly isClosedByItself: boolean;
};

/**
 * A port that is open to unauthenticated callers listens on loopback only, unless an address is configured explicitly: that decides who
 * can reach it.
 */
export function decideListening(input: ListenInput): { decision: ListenDecision; warnings: string[] } {
  const { kubelet, cadvisor, isAddressGiven, isClosedByItself } = input;
  const isReachable = !isAddressGiven && !isLoopback(kubelet.address);
  const isOpenForAll = kubelet.authentication.anonymous.enabled && kubelet.authorization.mode === 'AlwaysAllow';
  const isServerOpen = isOpenForAll && !isClosedByItself;
  const server = kubelet.enableServer ? { address: kubelet.address, port: kubelet.port } : undefined;
  const readOnly = endpoint(kubelet.address, kubelet.readOnlyPort);
  const held: string[] = [];
  if (isReachable && isServerOpen && server) held.push(`port ${server.port} (anybody may do anything)`);
  if (isReachable && readOnly) held.push(`port ${readOnly.port} (anybody may read)`);
  const loopback = loopbackLike(kubelet.address);
  const isHeld = (isOpen: boolean) => isReachable && isOpen;
  return {
    decision: {
      server: server && (isHeld(isServerOpen) ? { ...server, address: loopback } : server),
      readOnly: readOnly && (isHeld(true) ? { ...readOnly, address: loopback } : readOnly),
      healthz: endpoint(kubelet.healthzBindAddress, kubelet.healthzPort),
      cadvisor: endpoint(cadvisor.bindAddress, cadvisor.port),
      isAddressGiven,
    },
    warnings:
      held.length === 0
        ? []
        : [`listening on ${loopback} only: ${held.join(' and ')}; set address (--address) to serve other addresses`],
  };
}

function endpoint(address: string, port: number): Endpoint | undefined {
  return port > 0 ? { address, port } : undefined;
}

function isLoopback(address: string): boolean {
  const parsed = parseIpAddress(address);
  if (parsed === undefined) return false;
  if (parsed.family === 4) return parsed.bytes[0] === 127;
  return !isUnspecified(parsed) && parsed.bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
}

function loopbackLike(address: string): string {
  return parseIpAddress(address)?.family === 6 ? '::1' : '127.0.0.1';
}
