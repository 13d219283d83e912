/** Codes of SOCKS5 (RFC 1928). */
import { parseIpAddress } from '../../api/ip-address.ts';

export const SOCKS_FAILURES: readonly (string | undefined)[] = [
  undefined,
  'general failure',
  'not allowed by its rules',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'time to live expired',
  'command not supported',
  'address type not supported',
];

/** The target in a SOCKS request: an address, or a name that the proxy resolves. */
export function addressBytes(host: string): Uint8Array {
  const address = parseIpAddress(host);
  if (address !== undefined) return Uint8Array.from([address.family === 4 ? 1 : 4, ...address.bytes]);
  const name = new TextEncoder().encode(host);
  return Uint8Array.from([3, name.length, ...name]);
}
