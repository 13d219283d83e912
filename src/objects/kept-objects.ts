/** What the strategies for secrets and config maps have in common. */
import { type ApiPath, apiPath } from '../api/api-path.ts';
import type { StoredMeta } from '../api/referenced-objects.ts';
import type { Part } from '../base/lifecycle.ts';
import type { ObjectAnswer } from './objects.ts';
import type { Referred } from './rules/gather.ts';

export interface KeepableObject {
  readonly metadata: StoredMeta;
  readonly immutable?: boolean;
}

export interface ObjectKind {
  readonly kind: 'configMap' | 'secret';
  /** In the API's paths. */
  readonly plural: string;
  /** In texts. */
  readonly singular: string;
}

export const CONFIG_MAPS: ObjectKind = { kind: 'configMap', plural: 'configmaps', singular: 'configmap' };
export const SECRETS: ObjectKind = { kind: 'secret', plural: 'secrets', singular: 'secret' };

export interface KeptObjects<T> extends Part {
  /** All objects that pods refer to, by `keyOf`; others are forgotten. */
  refer(referred: ReadonlyMap<string, Referred>): void;
  get(namespace: string, name: string, signal: AbortSignal): Promise<ObjectAnswer<T>>;
}

export type NotifyChange = (change: { readonly namespace: string; readonly name: string }) => void;

export const pathOf = ({ plural }: ObjectKind, namespace: string): ApiPath =>
  apiPath`/api/v1/namespaces/${namespace}/${plural}`;

export const notRegistered = (namespace: string, name: string): string =>
  `object ${JSON.stringify(namespace)}/${JSON.stringify(name)} not registered`;
