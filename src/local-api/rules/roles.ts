/** The two users of the local API, by the groups that their credentials give. */
import type { Caller } from './access.ts';

export const FULL_GROUP = 'system:masters';
export const READING_GROUP = 'kubelet-ts:readers';

export const FULL_USER = { name: 'local-administrator', groups: [FULL_GROUP] } as const;
export const READING_USER = { name: 'local-reader', groups: [READING_GROUP] } as const;

export const callerOf = ({ name, groups }: { readonly name: string; readonly groups: readonly string[] }): Caller => ({
  name,
  groups,
  role: groups.includes(FULL_GROUP) ? 'full' : 'read-only',
});
