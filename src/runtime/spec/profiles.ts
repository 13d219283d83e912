/** Seccomp and AppArmor profiles. */
import type { AppArmorProfile, Container, SeccompProfile } from '../../api/container.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { Pod } from '../../api/pod.ts';
import { SecurityProfileProfileType as ProfileType, type SecurityProfile } from '../../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../wire/message.ts';
import type { SecuritySettings } from './settings.ts';

const APP_ARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';
const OLD_DEFAULT = 'runtime/default';
const OLD_UNCONFINED = 'unconfined';
const OLD_LOCALHOST = 'localhost/';

export function seccompProfile(
  pod: Pod,
  container: Container,
  { seccompDefault, seccompProfileRoot }: Pick<SecuritySettings, 'seccompDefault' | 'seccompProfileRoot'>,
): Parsed<Init<SecurityProfile>> {
  const unset: SeccompProfile = { type: seccompDefault ? 'RuntimeDefault' : 'Unconfined' };
  const profile = container.securityContext?.seccompProfile ?? pod.spec.securityContext?.seccompProfile ?? unset;
  if (profile.type === 'RuntimeDefault') return parsed({ profileType: ProfileType.RuntimeDefault });
  if (profile.type !== 'Localhost') return parsed({ profileType: ProfileType.Unconfined });
  if (!profile.localhostProfile) return unparsable('localhostProfile must be set if seccompProfile type is Localhost.');
  const localhostRef = joinPath(seccompProfileRoot, profile.localhostProfile);
  return parsed({ profileType: ProfileType.Localhost, localhostRef });
}

/** `.` and `..` are resolved as the reference does: runtimes compare the path with what is loaded. */
function joinPath(root: string, relative: string): string {
  const parts: string[] = [];
  for (const part of `${root}/${relative}`.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

export interface AppArmor {
  readonly profile: Init<SecurityProfile> | undefined;
  /** For runtimes from before the structured field. */
  readonly oldForm: string;
}

export function appArmorProfile(pod: Pod, container: Container): Parsed<AppArmor> {
  const profile =
    container.securityContext?.appArmorProfile ??
    // A static pod may still say it the old way.
    profileOfAnnotation(pod.metadata.annotations?.[`${APP_ARMOR_ANNOTATION}${container.name}`]) ??
    pod.spec.securityContext?.appArmorProfile;
  if (profile === undefined) return parsed({ profile: undefined, oldForm: '' });
  switch (profile.type) {
    case 'RuntimeDefault':
      return parsed({ profile: { profileType: ProfileType.RuntimeDefault }, oldForm: OLD_DEFAULT });
    case 'Unconfined':
      return parsed({ profile: { profileType: ProfileType.Unconfined }, oldForm: OLD_UNCONFINED });
    case 'Localhost': {
      const name = profile.localhostProfile;
      if (name === undefined) return unparsable('missing localhost apparmor profile name');
      const localhost = { profileType: ProfileType.Localhost, localhostRef: name };
      return parsed({ profile: localhost, oldForm: `${OLD_LOCALHOST}${name}` });
    }
    default:
      return unparsable(`unknown apparmor profile type: ${JSON.stringify(profile.type)}`);
  }
}

function profileOfAnnotation(value: string | undefined): AppArmorProfile | undefined {
  if (value === OLD_DEFAULT) return { type: 'RuntimeDefault' };
  if (value === OLD_UNCONFINED) return { type: 'Unconfined' };
  if (value?.startsWith(OLD_LOCALHOST))
    return { type: 'Localhost', localhostProfile: value.slice(OLD_LOCALHOST.length) };
  return undefined;
}
