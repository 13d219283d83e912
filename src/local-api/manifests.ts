/** The plain old form: manifests go in by one POST, alone or several at once, and a GET lists the pods that there are. */
import { describeError } from '../base/errors.ts';
import type { Api, ApiAnswer, ApiRequest } from './api.ts';
import type { Caller } from './rules/access.ts';
import { isMap, mapOf } from './rules/objects.ts';
import { badRequest } from './rules/refusal.ts';
import { RESOURCES } from './rules/resources.ts';

/** Where it is served. */
export const MANIFESTS = '/pods';

/** A manifest each; more are refused as a whole. */
const MOST = 500;

export interface AcceptedManifest {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly result: 'created' | 'unchanged' | 'refused';
  /** Where it was refused. */
  readonly message?: string;
}

/** `manifests`: what was in the body, one or more objects or lists of them. */
export async function takeManifests(api: Api, caller: Caller, manifests: readonly unknown[]): Promise<ApiAnswer> {
  const objects = manifests.flatMap(unlisted);
  if (objects.length === 0) throw badRequest('the body of the request has no manifest');
  if (objects.length > MOST) throw badRequest(`the body of the request has more than ${MOST} manifests`);
  const items: AcceptedManifest[] = [];
  for (const object of objects) items.push(await takeOne(api, caller, object));
  const isAll = items.every(({ result }) => result !== 'refused');
  return { kind: 'answer', status: isAll ? 200 : 422, body: { kind: 'ManifestResult', items }, warnings: [] };
}

/** A `List`, a `PodList`, a plain array, or one object. */
function unlisted(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value === null || value === undefined) return [];
  const { kind, items } = mapOf(value);
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
    ? items.map((item) =>
        isMap(item) && kind !== 'List' ? { apiVersion: 'v1', kind: kind.slice(0, -'List'.length), ...item } : item,
      )
    : [value];
}

async function takeOne(api: Api, caller: Caller, object: unknown): Promise<AcceptedManifest> {
  const { kind, metadata } = mapOf(object);
  const { name, namespace: given } = mapOf(metadata);
  const resource = RESOURCES.find((one) => one.kind === kind);
  const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 253) : '');
  const namespace = text(given) || 'default';
  const about = { kind: text(kind), ...(resource?.isNamespaced !== false && { namespace }), name: text(name) };
  if (resource === undefined) {
    const kinds = RESOURCES.map((one) => one.kind).join(', ');
    return { ...about, result: 'refused', message: `this node takes ${kinds}` };
  }
  const { group, version, plural, isNamespaced } = resource;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const request: ApiRequest = {
    method: 'POST',
    path: `${root}${isNamespaced ? `/namespaces/${namespace}` : ''}/${plural}`,
    query: new URLSearchParams({ fieldValidation: 'Strict' }),
    body: object,
    ...{ type: 'application/json', accept: 'application/json', caller },
  };
  const answer = await api.handle(request);
  if (answer.kind !== 'answer') return { ...about, result: 'refused', message: 'no answer' };
  const { message, reason, metadata: made } = mapOf(answer.body);
  if (answer.status < 300) return { ...about, name: text(mapOf(made)['name']), result: 'created' };
  // Sent again, as by a script that runs at every boot.
  if (reason === 'AlreadyExists') return { ...about, result: 'unchanged' };
  return { ...about, result: 'refused', message: typeof message === 'string' ? message : describeError(answer.body) };
}
