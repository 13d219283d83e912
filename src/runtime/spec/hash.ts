/** The hash that shows whether a running container still is the one that its pod describes. */
import type { Container } from '../../api/container.ts';
import { fnv32a } from '../../base/fnv.ts';
import { escapeJson } from '../../base/go-text.ts';

/**
 * FNV-32a, in hex without leading zeros. Hashed is the JSON of image and name, printed as Go prints a slice of bytes with
 * its type: so it stands in the annotations of containers that a reference kubelet made, and a changed form would restart
 * every one of them. Other fields do not count: no update of a pod may change them.
 */
export function hashContainer(container: Pick<Container, 'name' | 'image'>): string {
  const json = escapeJson(JSON.stringify({ image: container.image ?? '', name: container.name }));
  return fnv32a(`([]uint8)[${new TextEncoder().encode(json).join(' ')}]`).toString(16);
}
