/** Who may do what: full access, or reading without secrets and without entering containers. */
import { quoteText } from '../../base/go-text.ts';
import { forbidden } from './refusal.ts';
import type { Target } from './target.ts';

export interface Caller {
  readonly name: string;
  readonly groups: readonly string[];
  /** `node`: the kubelet itself. */
  readonly role: 'full' | 'read-only' | 'node';
}

/** Subresources that start or enter a process, or reach one: a GET of them is no reading. */
export const ENTERING: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward']);

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

export function checkAccess(caller: Caller, method: string, target: Extract<Target, { kind: 'resource' }>): void {
  if (caller.role !== 'read-only') return;
  const { resource, namespace, name, subresource } = target;
  const isReading = method === 'GET' && !ENTERING.has(subresource);
  if (isReading && resource.plural !== 'secrets') return;
  const what = subresource === '' ? resource.plural : `${resource.plural}/${subresource}`;
  const verb = ENTERING.has(subresource)
    ? 'create'
    : method === 'GET' && name === ''
      ? 'list'
      : (VERBS[method] ?? method);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quoteText(namespace)}`;
  const subject = name === '' ? what : `${what} ${quoteText(name)}`;
  throw forbidden(
    `${subject} is forbidden: User ${quoteText(caller.name)} cannot ${verb} resource ${quoteText(what)} in API group ${quoteText(resource.group)} ${where}`,
    { ...(name !== '' && { name }), kind: resource.plural },
  );
}
