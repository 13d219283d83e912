/** Who a container runs as when its pod doesn't say, and whether that may be. */
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { podTitle } from '../../api/pod-traits.ts';
import { quoteText } from '../../base/go-text.ts';
import { effectiveSecurity } from './effective-security.ts';

/** The user that an image names; only a number can be compared with root. */
export type ImageUser =
  | { readonly kind: 'uid'; readonly uid: number }
  | { readonly kind: 'name'; readonly name: string };

const LARGEST_UID = 2_147_483_647;

/** An image that says nothing runs as root. */
export function imageUserOf(image: { readonly uid: number | undefined; readonly username: string }): ImageUser {
  if (image.uid !== undefined) return { kind: 'uid', uid: image.uid };
  return image.username === '' ? { kind: 'uid', uid: 0 } : { kind: 'name', name: image.username };
}

/** What breaks `runAsNonRoot`, in the words that users search for; undefined where nothing does. */
export function nonRootFault(pod: Pod, container: Container, user: ImageUser): string | undefined {
  const { runAsNonRoot, runAsUser } = effectiveSecurity(pod, container);
  if (!runAsNonRoot) return undefined;
  const where = `(pod: ${quoteText(podTitle(pod))}, container: ${container.name})`;
  if (runAsUser !== undefined) {
    return runAsUser === 0 ? `container's runAsUser breaks non-root policy ${where}` : undefined;
  }
  if (user.kind === 'name') {
    return `container has runAsNonRoot and image has non-numeric user (${user.name}), cannot verify user is non-root ${where}`;
  }
  if (user.uid === 0) return `container has runAsNonRoot and image will run as root ${where}`;
  if (user.uid < 0 || user.uid > LARGEST_UID) {
    const range = `must be between 0 and ${LARGEST_UID}, inclusive`;
    return `container has runAsNonRoot and image has an invalid user id (${user.uid}). (Must be 1-(${LARGEST_UID})): ${range} ${where}`;
  }
  return undefined;
}
