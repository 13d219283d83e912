/** The hash that tells whether a running container still is the one that its pod describes. */
import type { Container } from '../../api/container.ts';
import { escapeJson } from '../../base/go-text.ts';

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * FNV-32a, in hex without leading zeros. Hashed is the JSON of image and name, printed as Go prints a slice of bytes with
 * its type: so it stands in the annotations of containers that a reference kubelet made, and a changed form would restart
 * every one of them. Other fields do not count: no update of a pod may change them.
 */
export function hashContainer(container: Pick<Container, 'name' | 'image'>): string {
  const json = escapeJson(JSON.stringify({ image: container.image ?? '', name: container.name }));
  const printed = `([]uint8)[${new TextEncoder().encode(json).join(' ')}]`;
  let hash = OFFSET_BASIS;
  for (const byte of new TextEncoder().encode(printed)) hash = Math.imul(hash ^ byte, PRIME) >>> 0;
  return hash.toString(16);
}
