import { parseIpAddress } from '../../api/ip-address.ts';

/** What is known of a certificate that the node has. */
export interface CertificateFacts {
  readonly notBefore: number;
  readonly notAfter: number;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** In canonical form. */
  readonly ips: readonly string[];
}

/** One spelling for each address: OpenSSL, Node and people write IPv6 in different ways. */
export const canonicalIp = (text: string): string => parseIpAddress(text)?.bytes.join('.') ?? text;
