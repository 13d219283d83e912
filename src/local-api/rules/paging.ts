/** Lists in pages: a page says behind which object the next one begins, and all of them show the version of the first. */
import { type ApiObject, isMap } from './objects.ts';
import { badRequest } from './refusal.ts';

export interface PageMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface Page {
  readonly items: readonly ApiObject[];
  readonly meta: PageMeta;
}

const LONGEST_TOKEN = 1024;

const keyOf = ({ metadata: { namespace = '', name } }: ApiObject): string => `${namespace}/${name}`;

/** `objects`: what the selectors select, in the order of namespace and name. */
export function pageOf(objects: readonly ApiObject[], query: URLSearchParams, revision: number): Page {
  const limit = limitOf(query.get('limit'));
  const token = query.get('continue') ?? '';
  const from = token === '' ? { version: String(revision), after: '' } : readToken(token);
  const rest = from.after === '' ? objects : objects.filter((one) => keyOf(one) > from.after);
  const items = limit === 0 ? rest : rest.slice(0, limit);
  const last = items.at(-1);
  const resourceVersion = from.version;
  if (items.length === rest.length || last === undefined) return { items, meta: { resourceVersion } };
  const next = btoa(JSON.stringify({ version: from.version, after: keyOf(last) }));
  // A selector may select less of what is left: then the API server says no number, and neither does this one.
  const isPlain = !query.get('labelSelector') && !query.get('fieldSelector');
  const left = isPlain ? { remainingItemCount: rest.length - items.length } : {};
  return { items, meta: { resourceVersion, continue: next, ...left } };
}

function limitOf(text: string | null): number {
  if (text === null || text === '') return 0;
  if (!/^\d{1,9}$/.test(text))
    throw badRequest(`Invalid value: ${JSON.stringify(text.slice(0, 100))}: limit must be a number`);
  return Number(text);
}

function readToken(text: string): { readonly version: string; readonly after: string } {
  const invalid = badRequest('continue key is not valid');
  if (text.length > LONGEST_TOKEN) throw invalid;
  let read: unknown;
  try {
    read = JSON.parse(atob(text));
  } catch {
    throw invalid;
  }
  const { version, after } = isMap(read) ? read : {};
  if (typeof version !== 'string' || !/^\d{1,15}$/.test(version) || typeof after !== 'string') throw invalid;
  return { version, after };
}
