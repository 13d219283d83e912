/** Can this node enforce the AppArmor profiles of a pod? */
import type { AppArmorProfile } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { allContainers } from '../../api/pod-traits.ts';

/** The older way to name a profile: this prefix and the name of the container. */
const ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/** Why it can't; undefined when it can, or when there is nothing to enforce. */
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
