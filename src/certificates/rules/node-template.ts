/** What a node asks for: who it is, and under which names and addresses its server is reached. */
import { parseIpAddress } from '../../api/ip-address.ts';
import type { CertificateTemplate } from './certificate-request.ts';

export interface NodeAddress {
  readonly type: string;
  readonly address: string;
}

export const clientTemplate = (nodeName: string): CertificateTemplate => ({
  commonName: `system:node:${nodeName}`,
  organizations: ['system:nodes'],
  dnsNames: [],
  ips: [],
});

/** Undefined while the node has no address: a certificate for no name would be of no use. */
export function servingTemplate(nodeName: string, addresses: readonly NodeAddress[]): CertificateTemplate | undefined {
  const dnsNames = new Set<string>();
  const ips = new Set<string>();
  for (const { type, address } of addresses) {
    const isIp = parseIpAddress(address) !== undefined;
    if (type === 'Hostname' && address !== '') (isIp ? ips : dnsNames).add(address);
    if ((type === 'InternalIP' || type === 'ExternalIP') && isIp) ips.add(address);
    if ((type === 'InternalDNS' || type === 'ExternalDNS') && address !== '') dnsNames.add(address);
  }
  if (dnsNames.size + ips.size === 0) return undefined;
  return { ...clientTemplate(nodeName), dnsNames: [...dnsNames].sort(), ips: [...ips].sort() };
}
