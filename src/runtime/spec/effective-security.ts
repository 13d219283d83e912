import type { Container, SecurityContext } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';

type Shared = Pick<SecurityContext, 'seLinuxOptions' | 'runAsUser' | 'runAsGroup' | 'runAsNonRoot'>;

/** The container's own settings over those that a pod can have for all its containers. */
export function effectiveSecurity(pod: Pod, container: Container): SecurityContext {
  const { seLinuxOptions, runAsUser, runAsGroup, runAsNonRoot } = pod.spec.securityContext ?? {};
  const shared = given<Shared>({ seLinuxOptions, runAsUser, runAsGroup, runAsNonRoot });
  return { ...shared, ...given<SecurityContext>(container.securityContext ?? {}) };
}

/** Without the keys that hold nothing: they must not hide what the pod says. */
function given<T extends object>(settings: { readonly [Key in keyof T]?: T[Key] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Partial<T>;
}
