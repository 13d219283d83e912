/** What the path of a request means. */
import { unknownPath } from './refusal.ts';
import { ELSEWHERE, groupVersion, RESOURCES, type Resource } from './resources.ts';

export type Target =
  | { readonly kind: 'document'; readonly path: string }
  | {
      readonly kind: 'resource';
      readonly resource: Resource;
      /** Empty: all namespaces, or none. */
      readonly namespace: string;
      /** Empty: the collection. */
      readonly name: string;
      /** Empty: the object itself. */
      readonly subresource: string;
    }
  /** A kind that needs a control plane. */
  | {
      readonly kind: 'elsewhere';
      readonly group: string;
      readonly plural: string;
      readonly object: string;
      readonly name: string;
    };

/** `path`: decoded, and clean of `..` and doubled slashes. */
export function targetOf(path: string): Target {
  const [first, ...rest] = path.split('/').slice(1);
  if (first === 'api' && rest.length > 1) return inVersion(rest[0] ?? '', rest.slice(1));
  if (first === 'apis' && rest.length > 2) return inVersion(`${rest[0]}/${rest[1]}`, rest.slice(2));
  return { kind: 'document', path };
}

function inVersion(version: string, steps: readonly string[]): Target {
  const [root = '', namespace = '', plural] = steps;
  // `namespaces/x/pods/…`, but `namespaces/x` and `namespaces/x/status` are the namespace itself.
  const isInNamespace = root === 'namespaces' && plural !== undefined && !['status', 'finalize'].includes(plural);
  const [name0 = '', ...below] = isInNamespace ? steps.slice(2) : steps;
  const [name = '', subresource = '', ...more] = below;
  const isThis = (one: { group: string; version: string; plural: string }) =>
    groupVersion(one) === version && one.plural === name0;
  const elsewhere = ELSEWHERE.find(isThis);
  if (elsewhere !== undefined) {
    return { kind: 'elsewhere', group: elsewhere.group, plural: elsewhere.plural, object: elsewhere.kind, name };
  }
  const resource = RESOURCES.find(isThis);
  const isWrong =
    resource === undefined || more.length > 0 || isInNamespace !== (resource.isNamespaced && isInNamespace);
  if (isWrong) throw unknownPath();
  // An object of a namespace is reached through its namespace only.
  if (resource.isNamespaced && !isInNamespace && name !== '') throw unknownPath();
  if (steps.at(-1) === '') throw unknownPath();
  return { kind: 'resource', resource, namespace: isInNamespace ? namespace : '', name, subresource };
}
