/** Can this node keep a pod to its AppArmor profiles? */
import type { AppArmorProfile } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { allContainers } from '../../api/pod-traits.ts';

/** The older way to name a profile: this and the container's name. */
const ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/** Why not; undefined when it can, or has nothing to do. */
export function appArmorFault(pod: Pod, enabled: boolean): string | undefined {
  if (!isWanted(pod)) return undefined;
  if (!enabled) return 'AppArmor is not enabled on the host';
  const nameless = profilesOf(pod).find(
    ({ type, localhostProfile = '' }) => type === 'Localhost' && localhostProfile.trim() === '',
  );
  return nameless === undefined ? undefined : 'invalid empty AppArmor profile name';
}

function isWanted(pod: Pod): boolean {
  const annotations = Object.entries(pod.metadata.annotations ?? {}).filter(([key]) => key.startsWith(ANNOTATION));
  return (
    profilesOf(pod).some(({ type }) => type !== 'Unconfined') || annotations.some(([, value]) => value !== 'unconfined')
  );
}

function profilesOf(pod: Pod): readonly AppArmorProfile[] {
  const own = allContainers(pod).map(({ securityContext }) => securityContext?.appArmorProfile);
  return [pod.spec.securityContext?.appArmorProfile, ...own].filter((profile) => profile !== undefined);
}
